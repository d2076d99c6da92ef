/** The type of a file by its first bytes. Every small upload comes by here. */
import { FileTypeParser } from 'file-type';
import type { UploadRecord } from '../domain/upload.ts';

/** What the first bytes say of the type, for the record. */
export const sniff = async (head: Buffer): Promise<Pick<UploadRecord, 'sniffed' | 'detectedType'>> => {
  const detected = await new Parser().fromBuffer(head);
  return { sniffed: true, ...(detected === undefined ? {} : { detectedType: detected.mime }) };
};

/** Where a signature stands, and which bits of its bytes count. */
interface Place {
  readonly offset?: number;
  readonly mask?: readonly number[];
  /** Of a text; absent: one byte for each character. */
  readonly encoding?: string;
}

/** What the types of `file-type` do not tell of its parser. */
interface Comparing {
  readonly buffer: Uint8Array;
  checkString(text: string, place?: Place): boolean;
}

/**
 * Compares signatures in place. The parser itself makes arrays for each of its hundred and more, which is half of its
 * time and a quarter of all that a small upload leaves to the garbage collector.
 */
class Parser extends (FileTypeParser as new () => FileTypeParser & Comparing) {
  check(signature: readonly number[], { offset = 0, mask }: Place = {}): boolean {
    for (let index = 0; index < signature.length; index += 1) {
      const found = this.buffer[offset + index];
      if (signature[index] !== (mask === undefined ? found : (found ?? 0) & (mask[index] ?? 0))) return false;
    }
    return true;
  }

  override checkString(text: string, place: Place = {}): boolean {
    if (place.encoding !== undefined) return super.checkString(text, place);
    const { offset = 0 } = place;
    for (let index = 0; index < text.length; index += 1) {
      if (text.charCodeAt(index) !== this.buffer[offset + index]) return false;
    }
    return true;
  }
}
