/** Input operations as requests carry them (WIRE 3). */
import type { Static } from 'typebox';
import { ServiceError } from '../domain/errors.ts';
import type { InputOperation } from '../engine/inputs.ts';
import type { operationSchema } from './schemas/flow.ts';

/** An operation with all that its kind needs; `field` is its place in the request. */
export const toOperation = (input: Static<typeof operationSchema>, field: string): InputOperation => {
  const { operation, uploadId, metadata, storageId } = input;
  const missing = operation === 'init' ? metadata === undefined && 'metadata' : uploadId === undefined && 'uploadId';
  if (missing !== false) {
    const name = `${field}.${missing}`;
    throw new ServiceError('VALIDATION_ERROR', `${name} is missing for ${operation}`, { details: { field: name } });
  }
  if (operation === 'init') return { operation, storageId, metadata: metadata ?? {} };
  return { operation, uploadId: uploadId ?? '' };
};
