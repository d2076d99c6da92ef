/** Schemas that several resources share. Nothing is coerced and unknown fields are refused (DESIGN 1.7). */
import { type TProperties, Type } from 'typebox';

/** An object that takes no other fields. */
export const strictObject = <P extends TProperties>(properties: P, options: { description?: string } = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** Sizes and offsets are whole numbers that JSON carries exactly. */
export const byteCount = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });

export const errorSchema = Type.Object(
  {
    error: Type.String({ description: 'What went wrong, for people' }),
    code: Type.String({ description: 'One of the codes of the error table' }),
    message: Type.String({ description: 'The same text as error' }),
    timestamp: Type.String({ format: 'date-time' }),
    requestId: Type.String({ description: 'Also in the X-Request-Id header and in the log' }),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: true, description: 'The body of every error' },
);

/** The answer to anything that can fail, beside the schema of success. */
export const answers = <R extends Record<number, unknown>>(success: R) => ({
  ...success,
  '4xx': errorSchema,
  '5xx': errorSchema,
});

export const uploadParams = strictObject({ uploadId: Type.String({ description: 'The id of an upload' }) });
export const jobParams = strictObject({ jobId: Type.String({ description: 'The id of a job' }) });

/** For HEAD routes of their own: the description of the API leaves out those that only repeat a GET. */
export const describedHead = { config: { swagger: { exposeHeadRoute: true } } } as const;
