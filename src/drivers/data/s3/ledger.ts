/**
 * What the server has acknowledged, without a gap, and which part numbers this writer may use.
 *
 * Two writers can be at the same upload for a moment: one that was cut off but whose last request is still on its way,
 * and the next one. With one part number for both, the later request would win, with bytes that the record does not
 * mean. So numbers are reserved in the record before they are used, and the next writer begins behind them.
 *
 * Ceph ends an upload only with a list of all the parts that it has (AWS takes fewer). So parts that a dead writer has
 * sent but not recorded are written over first: a look at the parts finds those, and only those numbers are used twice.
 */
import type { AppendOptions, Durable } from '../../../ports/data-store.ts';
import type { Bucket } from './bucket.ts';
import { type Part, readState, type State, sizeOfParts, type Tail, writeState } from './state.ts';

/** Numbers reserved at a time: a write of the record for each, and at most so many are lost with a writer. */
const block = 16;

export interface LedgerOptions {
  readonly bucket: Pick<Bucket, 'begin' | 'abort' | 'partsOf'>;
  /** Of the object. */
  readonly name: string;
  readonly from: Durable;
  readonly keep: AppendOptions['keep'];
}

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #parts: Part[];
  #tails: readonly Tail[];
  #old: readonly string[] = [];
  /** A part or tail that is on its way contains the tails. */
  #claimed = false;
  #uploadId: string | undefined;
  #next: number;
  #granted: number;
  /** A writer before this one has not come to its end. */
  #unsettled: boolean;
  /** Numbers of parts that it has left, to be written over. */
  #left: number[] = [];
  #preparing: Promise<unknown> = Promise.resolve();
  /** All bytes are in their final object, and were before this writer. */
  readonly whole: boolean;
  /** Tails that no record needs any more. */
  readonly leftOver: readonly string[];
  /** Bytes that parts and tails hold. */
  offset: number;

  constructor(options: LedgerOptions) {
    const state = readState(options.from);
    this.#options = options;
    this.#parts = [...state.parts];
    this.#tails = state.tails;
    this.#uploadId = state.uploadId;
    this.#next = state.next;
    this.#unsettled = state.uploadId !== undefined && state.next > this.#lastNumber + 1;
    this.#granted = options.keep === undefined ? Number.POSITIVE_INFINITY : state.next;
    this.whole = state.whole === true;
    this.leftOver = state.old;
    this.offset = options.from.offset;
  }

  get uploadId(): string | undefined {
    return this.#uploadId;
  }

  get parts(): readonly Part[] {
    return this.#parts;
  }

  get partBytes(): number {
    return sizeOfParts(this.#parts);
  }

  /** About the number that the next part will have. */
  get next(): number {
    return this.#next;
  }

  get #lastNumber(): number {
    return this.#parts.at(-1)?.[0] ?? 0;
  }

  /** Tails that the next part has to begin with. */
  get tails(): readonly Tail[] {
    return this.#claimed ? [] : this.#tails;
  }

  claimTails(): readonly Tail[] {
    const { tails } = this;
    this.#claimed = true;
    return tails;
  }

  /** The next bytes are in a part; `contained`: the tails that are in it too. */
  addPart(part: Part, bytes: number, contained: readonly Tail[]): void {
    this.#parts.push(part);
    this.offset += bytes;
    this.#drop(contained);
  }

  addTail(tail: Tail, bytes: number, contained: readonly Tail[]): void {
    this.offset += bytes;
    this.#drop(contained);
    this.#tails = [...this.#tails, tail];
  }

  #drop(contained: readonly Tail[]): void {
    if (contained.length === 0) return;
    this.#old = [...this.#old, ...contained.map(([id]) => id)];
    this.#tails = [];
    this.#claimed = false;
  }

  /** `settled`: nothing is on its way, so the numbers that were reserved but not used are free again. */
  durable(settled = false): Durable {
    const reserved = Number.isFinite(this.#granted) && !settled ? Math.max(this.#granted, this.#next) : this.#next;
    const state = { ...this.#state(), next: reserved };
    return { offset: this.offset, state: writeState(state) };
  }

  #state(): State {
    // A copy: what a record holds must not grow with what comes after it was taken.
    const state = { parts: [...this.#parts], tails: this.#tails, old: this.#old, next: this.#next };
    return this.#uploadId === undefined ? state : { ...state, uploadId: this.#uploadId };
  }

  /** All tails that this writer knows of. */
  get allTails(): readonly string[] {
    return [...this.#old, ...this.#tails.map(([id]) => id)];
  }

  /** Begins the multipart upload if there is none, and takes a number for its next part. */
  prepare(stop: AbortSignal): Promise<Place> {
    const prepared = this.#preparing.then(() => this.#prepare(stop));
    this.#preparing = prepared.catch(() => {});
    return prepared;
  }

  async #prepare(stop: AbortSignal): Promise<Place> {
    const { bucket, name, keep } = this.#options;
    if (this.#unsettled) await this.#takeOver();
    const uploadId = this.#uploadId ?? (await bucket.begin(name, stop));
    this.#uploadId = uploadId;
    const number = this.#left.shift() ?? this.#next++;
    if (number < this.#granted) return { uploadId, number };
    const next = number + block;
    // Before the write: a commit that comes right after it must not take the numbers back.
    this.#granted = next;
    await keep?.((last) => ({ ...last, state: writeState({ ...readState(last), uploadId, next }) }));
    return { uploadId, number };
  }

  async #takeOver(): Promise<void> {
    const { bucket, name } = this.#options;
    const uploadId = this.#uploadId ?? '';
    this.#unsettled = false;
    if (this.#parts.length > 0) {
      const last = this.#lastNumber;
      const numbers = await bucket.partsOf(name, uploadId);
      this.#left = numbers.filter((number) => number > last && number < this.#next).sort((one, other) => one - other);
      return;
    }
    // Nothing of it is needed, so nothing that still arrives there matters.
    this.#uploadId = undefined;
    bucket.abort(name, uploadId).catch(() => {});
  }
}

/** Where a part goes. */
export interface Place {
  readonly uploadId: string;
  readonly number: number;
}
