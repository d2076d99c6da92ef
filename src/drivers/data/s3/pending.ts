/** Chunks that wait for their part, by reference. */

/** Bytes; shorter chunks are copied together, as a million of them would take up more than what is in them. */
const short = 4096;
const roomSize = 65_536;

export class Pending {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Where short chunks go, and how far it is full. */
  #room = Buffer.alloc(0);
  #filled = 0;

  get chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#bytes += chunk.length;
    if (chunk.length < short) this.#copy(chunk);
    else this.#chunks.push(chunk);
  }

  #copy(chunk: Buffer): void {
    if (this.#room.length - this.#filled < chunk.length) {
      this.#room = Buffer.allocUnsafeSlow(roomSize);
      this.#filled = 0;
    }
    const from = this.#filled;
    this.#filled += chunk.copy(this.#room, from);
    const last = this.#chunks.at(-1);
    // It goes on where the last one ends, unless that has been sent meanwhile.
    const joins = last?.buffer === this.#room.buffer && last.byteOffset + last.length === from;
    if (joins) this.#chunks[this.#chunks.length - 1] = this.#room.subarray(last.byteOffset, this.#filled);
    else this.#chunks.push(this.#room.subarray(from, this.#filled));
  }

  /** Takes the first bytes out; there are so many. */
  cut(bytes: number): Buffer[] {
    let left = bytes;
    let count = 0;
    for (const chunk of this.#chunks) {
      if (chunk.length > left) break;
      left -= chunk.length;
      count += 1;
    }
    const taken = this.#chunks.splice(0, count);
    const [first] = this.#chunks;
    if (left > 0 && first !== undefined) {
      taken.push(first.subarray(0, left));
      this.#chunks[0] = first.subarray(left);
    }
    this.#bytes -= bytes;
    return taken;
  }

  /** Drops everything and says how much that was. */
  clear(): number {
    const bytes = this.#bytes;
    this.#chunks = [];
    this.#bytes = 0;
    return bytes;
  }
}
