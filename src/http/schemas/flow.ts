/** Flows and jobs on the wire (WIRE 3). */
import { Type } from 'typebox';
import { jobStatuses } from '../../domain/job.ts';
import type { Params } from '../../domain/params.ts';
import { strictObject } from './common.ts';

/** One shape for all operations, so that an error names its field; `routes/flow` checks what each of them needs. */
export const operationSchema = strictObject(
  {
    operation: Type.Enum(['init', 'finalize', 'upload']),
    storageId: Type.Optional(Type.String({ maxLength: 64 })),
    uploadId: Type.Optional(Type.String({ maxLength: 64 })),
    metadata: Type.Optional(
      Type.Object(
        {
          originalName: Type.Optional(Type.String({ maxLength: 1024 })),
          mimeType: Type.Optional(Type.String({ maxLength: 255 })),
          size: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
        },
        { additionalProperties: true },
      ),
    ),
  },
  {
    description:
      'init creates an upload and waits for it, upload uses one that is complete, finalize says that its bytes have all come',
  },
);

const idempotencyKey = Type.Optional(
  Type.String({
    pattern: '^[!-~]{1,255}$',
    description: 'Requests with the same key and content start one job; kept for a day. In the header or in the body',
  }),
);

export const executeHeaders = Type.Object({ 'idempotency-key': idempotencyKey });

export const executeSchema = strictObject({
  idempotencyKey,
  inputs: Type.Optional(
    Type.Record(Type.String(), Type.Union([operationSchema, Type.Array(operationSchema, { minItems: 1 })]), {
      description: 'By node id; an input that is left out gets an upload of deferred length',
    }),
  ),
  params: Type.Optional(
    Type.Unsafe<Params>(
      Type.Object(
        {},
        { description: "The start parameters, as the flow's params describe them; nothing is converted" },
      ),
    ),
  ),
});

export const resumeSchema = strictObject({ newData: Type.Optional(operationSchema) });

export const flowListSchema = Type.Object({
  flows: Type.Array(
    Type.Object({ flowId: Type.String(), name: Type.String(), description: Type.Optional(Type.String()) }),
  ),
});

export const flowSchema = Type.Object(
  {
    flowId: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    params: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'JSON Schema of the start parameters' }),
    ),
    nodes: Type.Record(
      Type.String(),
      Type.Object({ type: Type.String(), name: Type.String() }, { additionalProperties: true }),
    ),
    edges: Type.Array(Type.Object({ source: Type.String(), target: Type.String() }, { additionalProperties: true })),
  },
  { additionalProperties: true, description: 'A flow' },
);

const outputSchema = Type.Object(
  {
    url: Type.String(),
    size: Type.Integer(),
    mimeType: Type.String(),
    fileName: Type.String(),
    nodeId: Type.String(),
    meta: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { description: 'A final output' },
);

const jobErrorSchema = Type.Object(
  { nodeId: Type.Optional(Type.String()), message: Type.String(), code: Type.String() },
  { additionalProperties: true },
);

const taskSchema = Type.Object(
  {
    nodeId: Type.String(),
    status: Type.String(),
    attempt: Type.Integer(),
    result: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    results: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    error: Type.Optional(jobErrorSchema),
    startedAt: Type.Optional(Type.String({ format: 'date-time' })),
    endedAt: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { description: 'What has become of one node' },
);

export const jobSchema = Type.Object(
  {
    id: Type.String(),
    jobId: Type.String(),
    flowId: Type.String(),
    storageId: Type.String(),
    clientId: Type.Optional(Type.String()),
    status: Type.Enum([...jobStatuses]),
    pauseReason: Type.Optional(Type.String()),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
    startedAt: Type.Optional(Type.String({ format: 'date-time' })),
    endedAt: Type.Optional(Type.String({ format: 'date-time' })),
    duration: Type.Optional(Type.Number({ description: 'Milliseconds in running' })),
    tasks: Type.Array(taskSchema),
    outputs: Type.Optional(Type.Record(Type.String(), outputSchema)),
    result: Type.Optional(Type.Array(outputSchema)),
    error: Type.Optional(jobErrorSchema),
    warnings: Type.Optional(Type.Array(Type.String())),
  },
  { description: 'One run of a flow' },
);

const anyStatus = `(${jobStatuses.join('|')})`;

/** Text with patterns; `http/query` makes values of it. */
export const jobListQuery = strictObject({
  status: Type.Optional(
    Type.String({
      pattern: `^${anyStatus}(,${anyStatus})*$`,
      description: 'One status, or several with commas between',
    }),
  ),
  flowId: Type.Optional(Type.String({ description: 'Jobs of this flow' })),
  limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; default 20' })),
  cursor: Type.Optional(Type.String({ maxLength: 100, description: 'The nextCursor of the page before' })),
});

export const jobListSchema = Type.Object({
  items: Type.Array(jobSchema),
  nextCursor: Type.Optional(Type.String({ description: 'Absent on the last page' })),
});
