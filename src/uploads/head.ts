import type { UploadRecord } from '../domain/upload.ts';
import { sniff } from './sniff.ts';

/** As many of the first bytes of a file as the detection of types looks at. */
export const headLength = 4100;

/** The first bytes of the file, kept for the detection of its type when they all come with this request. */
export class Head {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  readonly #wanted: boolean;

  constructor(wanted: boolean) {
    this.#wanted = wanted;
  }

  add(chunk: Buffer): void {
    if (!this.#wanted || this.#length >= headLength) return;
    // A copy: the chunk is the sink's.
    const part = Buffer.from(chunk.subarray(0, headLength - this.#length));
    this.#chunks.push(part);
    this.#length += part.length;
  }

  /** The first bytes of a file of this size, or nothing when they did not all come by here. */
  known(size: number): { head?: Buffer } {
    if (this.#length < Math.min(size, headLength)) return {};
    const [first] = this.#chunks;
    return { head: first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks) };
  }

  /** See `sniff`; nothing while more bytes could say more. */
  async type(): Promise<Partial<UploadRecord>> {
    const { head } = this.known(headLength);
    return head === undefined ? {} : sniff(head);
  }
}
