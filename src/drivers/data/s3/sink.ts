/**
 * The sink of one PATCH: chunks are collected by reference into a part, sent when it is full and sent again from memory
 * when that fails, two at a time. Nothing touches a disk.
 *
 * An upload that fits one part is one PutObject. What is left of a PATCH is a part too if S3 takes one so small, else it
 * is a tail: an object of its own, read back when the part that begins with it is sent.
 */
import { ServiceError } from '../../../domain/errors.ts';
import type { AppendOptions, Durable, Sink } from '../../../ports/data-store.ts';
import type { Bucket } from './bucket.ts';
import type { Budget, Share } from './budget.ts';
import { completeUpload, requireSize } from './complete.ts';
import { broken, storeFailure } from './failures.ts';
import { Ledger } from './ledger.ts';
import type { Names } from './names.ts';
import { Pending } from './pending.ts';
import { type Flight, Sending } from './sending.ts';
import { mayBeShort, partSize, sizeOfTails, smallestPart } from './state.ts';

/** Parts on their way at a time. */
const mostFlights = 4;
/** Tails of an upload before they become one: each is a request when they are read back. */
const mostTails = 32;

export interface SinkDeps {
  readonly bucket: Bucket;
  readonly names: Names;
  readonly budget: Budget;
  /** All parts but the last have the same size, as Cloudflare's R2 asks for. */
  readonly equalParts: boolean;
  /** Milliseconds in which something must come of an object that is read. */
  readonly idleMs: number;
}

/** One for all: the stack of an error costs more than letting go. */
const closed = new ServiceError('STORAGE_ERROR', undefined, { cause: new Error('The sink is closed') });

export class S3Sink implements Sink {
  readonly #deps: SinkDeps;
  readonly #options: AppendOptions;
  readonly #ledger: Ledger;
  readonly #sending: Sending;
  readonly #share: Share;
  readonly #pending = new Pending();
  readonly #stop = new AbortController();
  /** In the order of their bytes. */
  readonly #flights: Flight[] = [];
  /** Bytes in parts, those on their way too. */
  #sent: number;
  #finishing = false;
  #failure: ServiceError | undefined;
  #watchers: (() => void)[] = [];

  constructor(deps: SinkDeps, key: string, from: Durable, options: AppendOptions) {
    this.#deps = deps;
    this.#options = options;
    const { bucket } = deps;
    const ledger = new Ledger({ bucket, name: deps.names.object(key), from, keep: options.keep });
    const { owned = false } = options;
    this.#ledger = ledger;
    this.#sending = new Sending({ ...deps, key, ledger, owned, stop: this.#stop.signal });
    this.#sent = this.#ledger.partBytes;
    this.#share = deps.budget.enter({
      idle: () => (this.#flights.length > 0 || this.#finishing ? 0 : this.#pending.bytes),
      spill: () => this.#sendTail(),
      wake: () => this.#wake(),
    });
    this.#sending.removeTails(ledger.leftOver);
  }

  write(chunk: Buffer): boolean {
    if (this.#failure !== undefined) return false;
    this.#pending.push(chunk);
    this.#pump();
    this.#share.take(chunk.length);
    return this.#hasRoom();
  }

  drained(): Promise<void> {
    return this.#until(() => this.#hasRoom());
  }

  async sync(): Promise<Durable> {
    this.#check();
    return this.#ledger.durable();
  }

  async finish({ length }: { readonly length?: number } = {}): Promise<Durable> {
    this.#finishing = true;
    await this.#settled();
    if (length !== undefined) return this.#end(length);
    await this.#keepRest();
    return this.#ledger.durable(true);
  }

  async close(): Promise<void> {
    this.#fail(closed);
    while (this.#flights.length > 0) await new Promise<void>((resolve) => this.#watchers.push(resolve));
    this.#share.give(this.#pending.clear());
    this.#share.leave();
  }

  /** Bytes that the next part would have, were it sent now. */
  get #waiting(): number {
    return sizeOfTails(this.#ledger.tails) + this.#pending.bytes;
  }

  /** Bytes of the next part. */
  get #size(): number {
    const { length } = this.#options;
    if (!this.#deps.equalParts) return partSize(this.#ledger.next, length && length - this.#sent);
    // As if a tenth of the numbers were gone: a size that must not change must do for them.
    return length === undefined ? partSize(1, undefined) : partSize(1001, length);
  }

  #hasRoom(): boolean {
    return this.#failure === undefined && this.#waiting <= this.#size && !this.#deps.budget.isOver();
  }

  /** Sends parts that are full. One that is just full waits: it may be all there is. */
  #pump(): void {
    while (this.#failure === undefined && this.#flights.length < mostFlights && !this.#isSendingTail()) {
      const size = this.#size;
      if (this.#waiting <= size) return;
      this.#sendPart(size);
    }
  }

  #isSendingTail(): boolean {
    return this.#flights.some(({ isPart }) => !isPart);
  }

  #sendPart(size: number): void {
    const tails = this.#ledger.claimTails();
    const bytes = Math.max(0, size - sizeOfTails(tails));
    this.#sent += bytes + sizeOfTails(tails);
    void this.#fly({ isPart: true, chunks: this.#pending.cut(bytes), bytes, tails });
  }

  #sendTail(): void {
    const { bytes } = this.#pending;
    if (bytes === 0 || this.#flights.length > 0 || this.#failure !== undefined) return;
    const tails = this.#ledger.tails.length < mostTails ? [] : this.#ledger.claimTails();
    void this.#fly({ isPart: false, chunks: this.#pending.cut(bytes), bytes, tails });
  }

  /** Never rejects: what goes wrong is the sink's failure. */
  async #fly(flight: Flight): Promise<void> {
    this.#flights.push(flight);
    try {
      flight.done = await this.#sending.send(flight);
    } catch (error) {
      this.#fail(storeFailure(error));
    }
    if (flight.done === undefined) this.#flights.splice(this.#flights.indexOf(flight), 1);
    this.#land();
    this.#share.give(flight.bytes);
    this.#pump();
    this.#wake();
  }

  /** Records what has come without a gap. */
  #land(): void {
    for (let flight = this.#flights[0]; flight?.done !== undefined; flight = this.#flights[0]) {
      const { number, bytes, tails, done } = flight;
      const size = bytes + sizeOfTails(tails);
      this.#flights.shift();
      // Something before it may be missing.
      if (this.#failure !== undefined) continue;
      if (number === undefined) this.#ledger.addTail([done, size], bytes, tails);
      else this.#ledger.addPart([number, done, size], bytes, tails);
    }
  }

  async #keepRest(): Promise<void> {
    const { length } = this.#options;
    const waiting = this.#waiting;
    const after = length === undefined ? undefined : length - this.#sent - waiting;
    const isPart = !this.#deps.equalParts && waiting >= smallestPart && mayBeShort(this.#ledger.next, after);
    if (this.#pending.bytes === 0) return;
    if (this.#ledger.whole) throw broken('The upload has ended, and more bytes came');
    if (isPart) this.#sendPart(waiting);
    else this.#sendTail();
    await this.#settled();
  }

  async #end(length: number): Promise<Durable> {
    const ledger = this.#ledger;
    const end = ledger.offset + this.#pending.bytes;
    if (end !== length) throw broken(`The upload has ${end} bytes, and shall end at ${length}`);
    if (ledger.whole) {
      await requireSize(this.#deps.bucket, this.#sending.name, length);
    } else if (ledger.uploadId === undefined || length === 0) {
      return this.#putWhole(length);
    } else {
      await this.#endUpload(length);
    }
    return { offset: length, state: { whole: true } };
  }

  /** The record knows all parts before they become one object: a crash after that must find the way on. */
  async #endUpload(length: number): Promise<void> {
    if (this.#waiting > 0) this.#sendPart(this.#waiting);
    await this.#settled();
    const durable = this.#ledger.durable(true);
    await this.#options.keep?.(() => durable);
    const { uploadId = '', parts } = this.#ledger;
    await completeUpload(this.#deps.bucket, this.#sending.name, { uploadId, parts, length });
    this.#sending.removeTails(this.#ledger.allTails);
  }

  async #putWhole(length: number): Promise<Durable> {
    const tails = this.#ledger.claimTails();
    const { chunks, bytes } = this.#pending;
    const durable = { offset: length, ...(tails.length === 0 ? {} : { state: { whole: true } }) };
    await this.#sending.sendWhole(length, tails, chunks);
    if (tails.length > 0) await this.#options.keep?.(() => durable);
    if (this.#options.keep !== undefined || bytes === 0) this.#sending.removeTails(this.#ledger.allTails);
    return durable;
  }

  #settled(): Promise<void> {
    return this.#until(() => this.#flights.length === 0);
  }

  async #until(reached: () => boolean): Promise<void> {
    while (this.#failure === undefined && !reached()) {
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
    this.#check();
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #fail(error: ServiceError): void {
    this.#failure ??= error;
    this.#stop.abort();
    this.#wake();
  }

  #wake(): void {
    const woken = this.#watchers;
    this.#watchers = [];
    for (const resolve of woken) resolve();
  }
}
