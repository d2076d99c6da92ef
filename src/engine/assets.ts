/** Files of a storage that nodes name in their options: logos and the like, put there by whoever runs the service. */
import { basename } from 'node:path';
import { isAssetKey } from '../domain/asset.ts';
import { ServiceError } from '../domain/errors.ts';
import type { FlowNode } from '../domain/flow.ts';
import { expandTemplates, type TemplateValues } from '../domain/template.ts';
import type { WorkerFile } from '../ports/worker-pool.ts';
import type { EngineDeps } from './records.ts';

/** Puts the assets of a node where its worker can read them. Throws `MISSING_INPUT` for one that is not there. */
export const materializeAssets = async (
  deps: Pick<EngineDeps, 'kinds' | 'storage'>,
  storageId: string,
  node: FlowNode | undefined,
  values: TemplateValues,
  directory: string,
): Promise<readonly WorkerFile[]> => {
  const assets = Object.entries(deps.kinds[node?.type ?? '']?.assets?.(node?.options ?? {}) ?? {});
  return Promise.all(
    assets.map(async ([handle, named]) => {
      const key = keyOf(named, values);
      const path = await deps
        .storage(storageId)
        .materialize(key, directory)
        .catch((error: unknown) => throwMissing(error, key, handle));
      // Nobody has looked at the bytes: what they are is found out by who reads them.
      return { path, mimeType: 'application/octet-stream', fileName: basename(key), handle };
    }),
  );
};

/** A parameter may choose among the assets, and nothing else of the storage. */
const keyOf = (named: string, values: TemplateValues): string => {
  const key = expandTemplates(named, values, 'asset');
  if (isAssetKey(key)) return key;
  throw new ServiceError('INVALID_PARAMS', `"${key}" is not the key of an asset`, { details: { key } });
};

const throwMissing = (error: unknown, key: string, handle: string): never => {
  if (!(error instanceof ServiceError) || error.code !== 'FILE_NO_LONGER_EXISTS') throw error;
  throw new ServiceError('MISSING_INPUT', `There is no file "${key}" in the storage`, { details: { key, handle } });
};
