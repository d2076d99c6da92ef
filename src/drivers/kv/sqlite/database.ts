/** The database file: opening it for this process alone, transactions, and what its errors mean. */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServiceError } from '../../../domain/errors.ts';

/** Primary result codes of SQLite. */
const busy = 5;
const full = 13;
const constraint = 19;

/** The primary result code when the error is SQLite's own; the upper bits only refine it. */
const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;

/**
 * Opens the file, and makes it when it is missing. It is locked until it is closed.
 *
 * With the exclusive mode set before the first access, SQLite keeps the index of the WAL in memory instead of a shared
 * file. NORMAL syncs at checkpoints only: a commit is durable once the `-wal` file is synced.
 */
export const openDatabase = (path: string): DatabaseSync => {
  fs.mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    reserveLog(`${path}-wal`);
    return database;
  } catch (error) {
    database.close();
    if (resultCode(error) !== busy) throw error;
    throw new Error(`The database ${path} is in use by another process`, { cause: error });
  }
};

/** Bytes: as many as the WAL has when SQLite begins it anew (1000 pages of 4 KiB, each with a header). */
const logSize = 5 * 1024 * 1024;

/**
 * Takes the room of the WAL in advance, so that a full disk does not keep anybody from deleting. What lies beyond its
 * last frame is not read: a frame of zeros names no page (SQLite, "WAL File Format").
 */
const reserveLog = (path: string): void => {
  const { size } = fs.statSync(path);
  const fd = fs.openSync(path, 'r+');
  try {
    if (size < logSize) fs.writeSync(fd, Buffer.alloc(logSize - size), 0, logSize - size, size);
  } catch {
    // The disk is full already; whoever writes meets the same error and tells it.
  } finally {
    fs.closeSync(fd);
  }
};

/** Runs `work` as one transaction, which a throw takes back. */
export type Transaction = <T>(work: () => T) => T;

export const createTransaction = (database: DatabaseSync): Transaction => {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');

  return (work) => {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // SQLite itself takes some failures back, a full disk for example.
      if (database.isTransaction) rollback.run();
      throw error;
    }
  };
};

/** SQLite's refusals as errors that clients may see; what only a mistake in the program explains stays as it is. */
export const databaseFailure = (error: unknown): unknown => {
  const code = resultCode(error);
  if (code === full) return new ServiceError('STORAGE_FULL', undefined, { cause: error });
  const closed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
  const refused = code !== undefined && code !== constraint;
  return closed || refused ? new ServiceError('UNAVAILABLE', undefined, { cause: error }) : error;
};

/** Runs work on the database behind an asynchronous port. */
export const answer = async <T>(work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw databaseFailure(error);
  }
};
