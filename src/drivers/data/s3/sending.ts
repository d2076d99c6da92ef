/** The requests of one sink: parts, tails and whole objects out of memory, tails back into it. */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../../domain/errors.ts';
import { release } from '../release.ts';
import { type ChunksBody, chunksBody } from './body.ts';
import type { Bucket } from './bucket.ts';
import { requireSize } from './complete.ts';
import { broken, isMissing, storeFailure } from './failures.ts';
import type { Ledger, Place } from './ledger.ts';
import type { Names } from './names.ts';
import { loadObject } from './reading.ts';
import type { Tail } from './state.ts';

/** Bytes on their way to the server. */
export interface Flight {
  /** Else it is a tail. */
  readonly isPart: boolean;
  /** Of the part, once it has one. */
  number?: number;
  readonly chunks: readonly Buffer[];
  /** Bytes in `chunks`. */
  readonly bytes: number;
  /** What comes before the chunks. */
  readonly tails: readonly Tail[];
  /** The ETag of the part, or the id of the tail, once it is there. */
  done?: string;
}

export interface SendingOptions {
  readonly bucket: Bucket;
  readonly names: Names;
  /** Milliseconds in which something must come of an object that is read. */
  readonly idleMs: number;
  readonly key: string;
  readonly ledger: Ledger;
  /** Nobody else looks at the chunks. */
  readonly owned: boolean;
  readonly stop: AbortSignal;
}

export class Sending {
  readonly #options: SendingOptions;
  /** Of the object. */
  readonly name: string;

  constructor(options: SendingOptions) {
    this.#options = options;
    this.name = options.names.object(options.key);
  }

  /** Resolves with the ETag of a part, with the id of a tail. */
  async send(flight: Flight): Promise<string> {
    const { ledger, stop } = this.#options;
    const { chunks, tails } = flight;
    const place = flight.isPart ? await ledger.prepare(stop) : undefined;
    if (place !== undefined) flight.number = place.number;
    const body = await this.#bodyOf(tails, chunks);
    const done = await (place === undefined ? this.#putTail(body) : this.#putPart(place, body));
    this.#release(body, chunks);
    return done;
  }

  /** Puts everything there is as the object. */
  async sendWhole(length: number, tails: readonly Tail[], chunks: readonly Buffer[]): Promise<void> {
    const { bucket, stop } = this.#options;
    try {
      const body = await this.#bodyOf(tails, chunks);
      await bucket.put(this.name, body, stop);
      this.#release(body, chunks);
    } catch (error) {
      // Whoever was here before may have come to the end, and removed the tails, but not to the record.
      if (!(error instanceof ServiceError) || error.code !== 'FILE_NO_LONGER_EXISTS') throw storeFailure(error);
      await requireSize(bucket, this.name, length);
    }
  }

  /** Not waited for: those that stay are found by the sweep. */
  removeTails(ids: readonly string[]): void {
    const { bucket, names, key } = this.#options;
    for (const id of ids) bucket.remove(names.tail(key, id)).catch(() => {});
  }

  async #putTail(body: ChunksBody): Promise<string> {
    const { bucket, names, key, stop } = this.#options;
    const id = randomBytes(8).toString('hex');
    await bucket.put(names.tail(key, id), body, stop);
    return id;
  }

  async #putPart({ uploadId, number }: Place, body: ChunksBody): Promise<string> {
    try {
      return await this.#options.bucket.putPart(this.name, uploadId, number, body, this.#options.stop);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Somebody has aborted the upload, and with it the bytes that it had are gone.
      throw new ServiceError('FILE_NO_LONGER_EXISTS', undefined, { cause: error });
    }
  }

  async #bodyOf(tails: readonly Tail[], chunks: readonly Buffer[]): Promise<ChunksBody> {
    return chunksBody([...(await Promise.all(tails.map((tail) => this.#load(tail)))), ...chunks]);
  }

  async #load([id, size]: Tail): Promise<Buffer> {
    const { bucket, names, key, idleMs } = this.#options;
    const bytes = await loadObject(bucket, names.tail(key, id), idleMs);
    if (bytes.length !== size) throw broken(`A tail has ${bytes.length} bytes instead of ${size}`);
    return bytes;
  }

  /** Where it took several tries, a socket that was given up may look at the chunks still. */
  #release(body: ChunksBody, chunks: readonly Buffer[]): void {
    if (this.#options.owned && body.opened() === 1) chunks.forEach(release);
  }
}
