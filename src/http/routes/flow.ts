/** Flows and jobs (WIRE 3). */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { StartRequest } from '../../engine/start.ts';
import type { HttpContext } from '../context.ts';
import { idempotencyKey } from '../headers.ts';
import { toOperation } from '../operations.ts';
import { answers, jobParams, strictObject } from '../schemas/common.ts';
import { executeHeaders, executeSchema, flowListSchema, flowSchema, jobSchema } from '../schemas/flow.ts';
import { viewFlow, viewJob } from '../views.ts';

const tags = ['flows'];
const flowParams = strictObject({ flowId: Type.String() });

const execute = async (
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  target: { readonly flowId: string; readonly storageId: string },
) => {
  const body = (request.body ?? {}) as Static<typeof executeSchema>;
  const inputs = Object.entries(body.inputs ?? {}).map(([nodeId, input]) => {
    const field = `body.inputs.${nodeId}`;
    const list = Array.isArray(input) ? input : [input];
    return [nodeId, list.map((one) => toOperation(one, field))] as const;
  });
  const key = idempotencyKey(request.headers, body.idempotencyKey);
  const start = { ...target, clientId: request.clientId, inputs: Object.fromEntries(inputs), params: body.params };
  const { job, replayed } = await startFlow(context, start, key);
  reply.code(201).header('location', context.links.job(job.id));
  if (replayed) reply.header('idempotent-replayed', 'true');
  return viewJob(context, job);
};

const startFlow = async ({ engine }: HttpContext, start: StartRequest, key: string | undefined) =>
  key === undefined
    ? { job: await engine.start(start), replayed: false }
    : engine.startOnce({ ...start, idempotencyKey: key });

export const flowRoutes: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  const { engine } = context;
  const jobAnswer = answers({ 200: jobSchema });

  app.get(
    '/api/flow',
    { schema: { tags, summary: 'List the flows', response: answers({ 200: flowListSchema }) } },
    () => ({
      flows: engine.listFlows().map(({ flowId, name, description }) => ({
        flowId,
        name,
        ...(description === undefined ? {} : { description }),
      })),
    }),
  );

  app.get(
    '/api/flow/:flowId',
    { schema: { tags, summary: 'Read a flow', params: flowParams, response: answers({ 200: flowSchema }) } },
    (request) => viewFlow(engine.getFlow(request.params.flowId), engine.kindName),
  );

  const start = {
    tags,
    description: 'Idempotent-Replayed: true tells that an earlier request with the same key has started the job.',
    headers: executeHeaders,
    body: executeSchema,
    response: answers({ 201: jobSchema }),
  };
  app.post(
    '/api/flow/:flowId/:storageId',
    {
      preValidation: allowNoBody,
      schema: {
        ...start,
        summary: 'Run a flow',
        params: strictObject({ flowId: Type.String(), storageId: Type.String() }),
      },
    },
    (request, reply) => execute(context, request, reply, request.params),
  );
  app.post(
    '/api/flows/:flowId/execute',
    {
      preValidation: allowNoBody,
      schema: { ...start, summary: 'Run a flow on the default storage', params: flowParams },
    },
    (request, reply) => execute(context, request, reply, { ...request.params, storageId: 'default' }),
  );

  for (const url of ['/api/jobs/:jobId/status', '/api/flows/jobs/:jobId']) {
    app.get(url, { schema: { tags, summary: 'Read a job', params: jobParams, response: jobAnswer } }, async (request) =>
      viewJob(context, await engine.getJob(request.params.jobId, request.clientId)),
    );
  }

  done();
};

/** Running a flow without a body is the same as with an empty one. */
const allowNoBody = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
  request.body ??= {};
  done();
};
