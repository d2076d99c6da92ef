import { ServiceError } from '../domain/errors.ts';
import type { Reader } from '../domain/reader.ts';
import { mediaTypeOf, type UploadRecord } from '../domain/upload.ts';
import type { DataStore, DataStoreCapabilities } from '../ports/data-store.ts';
import type { Owners } from '../ports/owners.ts';
import { displace } from './own.ts';
import { findUpload, requireAlive, type UploadDeps } from './records.ts';

/** A file that can be downloaded, and where its bytes are. */
export interface StoredFile {
  readonly size: number;
  readonly mimeType: string;
  readonly fileName: string;
  /** Changes when the bytes do: a strong validator. */
  readonly version: string;
  readonly createdAt: string;
  readonly store: Pick<DataStore, 'read' | 'presign'>;
  readonly key: string;
}

export interface ReadUploads {
  /** The record; locks nothing. */
  get(id: string, clientId: string | undefined): Promise<UploadRecord>;
  /** The record after a running writer has stopped and committed: the offset to resume from (WIRE 1, rule 5). */
  head(id: string, clientId: string | undefined): Promise<UploadRecord>;
  /** The bytes of a completed upload. */
  file(id: string, reader: Reader): Promise<StoredFile>;
  capabilities(storageId: string): { readonly type: string; readonly capabilities: DataStoreCapabilities };
}

export const createRead = (deps: UploadDeps & { readonly owners: Owners }): ReadUploads => ({
  async get(id, clientId) {
    const { value } = await findUpload(deps, id, clientId);
    if (value.status === 'cancelled') requireAlive(value);
    return value;
  },
  async head(id, clientId) {
    requireAlive((await findUpload(deps, id, clientId)).value);
    await displace(deps.owners, id);
    const { value } = await findUpload(deps, id, clientId);
    requireAlive(value);
    await deps.kvStore.flush();
    return value;
  },
  async file(id, reader) {
    const { value } = await findUpload(deps, id, reader);
    requireAlive(value);
    if (value.bytesRemoved === true) throw new ServiceError('FILE_NO_LONGER_EXISTS');
    if (value.status !== 'completed') throw new ServiceError('FILE_NOT_FOUND', 'The upload is not complete yet');
    return {
      size: value.offset,
      mimeType: mediaTypeOf(value),
      fileName: value.fileName,
      version: value.id,
      createdAt: value.createdAt,
      store: deps.storage(value.storageId),
      key: value.key,
    };
  },
  capabilities(storageId) {
    const { type, capabilities } = deps.storage(storageId);
    return { type, capabilities };
  },
});
