/**
 * Bytes in a directory of this machine. A key is a path below it, and every file is in its final place from its first
 * byte; whether an upload is complete is the key-value store's to know.
 *
 * `keys` turns keys into paths, `directories` makes and syncs directories, `sink` and `writer` take the bytes of one
 * PATCH, `room` bounds what they keep in memory, `publish` moves finished files in, `failures` maps the codes of the operating system.
 */
import fs from 'node:fs';
import { access, readdir, stat, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { ServiceError } from '../../../domain/errors.ts';
import type { DataStore, DataStoreCapabilities, Durable } from '../../../ports/data-store.ts';
import { isKey } from '../keys.ts';
import { createDirectories, type Directories, prune, settled } from './directories.ts';
import { accessFailure, codeOf, isMissing, writeFailure } from './failures.ts';
import { directoryOf, pathOf } from './keys.ts';
import { createPublish, prepareIncoming } from './publish.ts';
import { createRoom } from './room.ts';
import { createSink } from './sink.ts';

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY, R_OK, W_OK, X_OK } = fs.constants;

/** Bytes per read of a stream: fewer trips through the thread pool than the 64 KiB of Node. */
const readSize = 262_144;

const capabilities: DataStoreCapabilities = {
  supportsParallelUploads: false,
  supportsConcatenation: false,
  supportsDeferredLength: true,
  supportsResumableUploads: true,
  supportsTransactionalUploads: false,
  supportsStreamingRead: true,
  supportsStreamingWrite: true,
  requiresOrderedChunks: true,
  maxConcurrentUploads: 1,
  minChunkSize: 5_242_880,
  optimalChunkSize: 8_388_608,
  maxChunkSize: 33_554_432,
};

export interface LocalDataStoreOptions {
  /** Made when it is missing. */
  readonly directory: string;
  /** `full`: what is acknowledged survives a power cut; `process`: the death of the process. */
  readonly durability: 'full' | 'process';
}

/** Opens the directory as a data store. */
export const localDataStore = async ({ directory, durability }: LocalDataStoreOptions): Promise<DataStore> => {
  const root = resolve(directory);
  const durable = durability === 'full';
  const directories = createDirectories(durable);
  const room = createRoom();
  const publish = createPublish({ root, durable, directories });
  await prepareIncoming(root, directories, Date.now());

  return {
    type: 'local',
    capabilities,
    append: async (key, from, { owned = false } = {}) => {
      const path = pathOf(root, key);
      const opened = await openAt(path, from, directories);
      const syncName = () => directories.syncName(path);
      return createSink({ ...opened, offset: from.offset, owned, durable, syncName, room });
    },
    read: async (key, range) => read(pathOf(root, key), range),
    materialize: async (key) => {
      const path = pathOf(root, key);
      const found = await stat(path).catch(throwAs(accessFailure));
      if (!found.isFile()) throw new ServiceError('FILE_NO_LONGER_EXISTS');
      return path;
    },
    publish: async (key, path) => publish(path, pathOf(root, key)).catch(throwAs(writeFailure)),
    list: async (prefix) => list(root, directoryOf(prefix), prefix),
    remove: async (key) => remove(pathOf(root, key), root),
    ping: () => access(root, R_OK | W_OK | X_OK).catch(throwAs(writeFailure)),
    close: async () => {},
  };
};

const throwAs =
  (convert: (error: unknown) => ServiceError) =>
  (error: unknown): never => {
    throw convert(error);
  };

const openFile = (path: string, flags: number): Promise<number> =>
  new Promise((done, failed) =>
    fs.open(path, flags, 0o666, (error, fd) => (error === null ? done(fd) : failed(error))),
  );

interface OpenedFile {
  readonly fd: number;
  readonly fresh: boolean;
}

/** Never truncates: what an earlier sink has left is overwritten, and cut off at the end of the upload. */
const openAt = async (path: string, from: Durable, directories: Directories): Promise<OpenedFile> => {
  // Bytes that were acknowledged must be there; making the file anew would put zeros in their place.
  if (from.offset > 0) return { fd: await openFile(path, O_WRONLY).catch(throwAs(accessFailure)), fresh: false };
  return directories.within(path, () => openFirst(path)).catch(throwAs(writeFailure));
};

const openFirst = async (path: string): Promise<OpenedFile> => {
  try {
    return { fd: await openFile(path, O_WRONLY | O_CREAT | O_EXCL), fresh: true };
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return { fd: await openFile(path, O_WRONLY | O_CREAT), fresh: false };
  }
};

const read = async (path: string, range?: { readonly start: number; readonly end: number }): Promise<Readable> => {
  const fd = await openFile(path, O_RDONLY).catch(throwAs(accessFailure));
  if (range === undefined) return fs.createReadStream(path, { fd, highWaterMark: readSize });
  if (range.start < range.end) {
    // Node's `end` is the last byte to read.
    return fs.createReadStream(path, { fd, start: range.start, end: range.end - 1, highWaterMark: readSize });
  }
  await settled((done) => fs.close(fd, done));
  return Readable.from([]);
};

/** The keys below `directory`, itself the beginning of `prefix`, that begin with `prefix`. */
const list = async (root: string, directory: string, prefix: string): Promise<readonly string[]> => {
  const entries = await readdir(`${root}/${directory}`, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw writeFailure(error);
  });
  const keys: string[] = [];
  for (const entry of entries) {
    const key = `${directory}${entry.name}`;
    // The folder for incomplete copies is no key.
    if (!key.startsWith(prefix) || !isKey(key)) continue;
    if (entry.isFile()) keys.push(key);
    if (entry.isDirectory()) keys.push(...(await list(root, `${key}/`, prefix)));
  }
  return keys;
};

const remove = async (path: string, root: string): Promise<void> => {
  try {
    await unlink(path);
  } catch (error) {
    if (!isMissing(error)) throw writeFailure(error);
  }
  await prune(path, root);
};
