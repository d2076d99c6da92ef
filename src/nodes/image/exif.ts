/** The two texts of an EXIF block that may outlive the rest: just enough of TIFF to find them in its first directory. */

const artistTag = 0x013b;
const copyrightTag = 0x8298;
/** Type 2: bytes of text, the last one zero. */
const asciiType = 2;
/** Bytes of one directory entry: tag 2, type 2, count 4, value or offset 4. */
const entrySize = 12;

/** Reads them from the EXIF of sharp's metadata; nothing for what is absent, empty or damaged. */
export const readExifText = (exif: Buffer | undefined): { readonly copyright?: string; readonly artist?: string } => {
  if (exif === undefined) return {};
  // JPEG puts a name before the TIFF structure, the other formats may not.
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  const texts = new Map<number, string>();
  try {
    for (const [tag, text] of firstDirectory(tiff)) texts.set(tag, text);
  } catch {
    // A damaged block has no texts after the damage.
  }
  const copyright = texts.get(copyrightTag);
  const artist = texts.get(artistTag);
  return { ...(copyright ? { copyright } : {}), ...(artist ? { artist } : {}) };
};

/** The text entries of the first directory. Reads past the end throw. */
function* firstDirectory(tiff: Buffer): Generator<readonly [number, string]> {
  const little = tiff.toString('latin1', 0, 2) === 'II';
  const u16 = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const u32 = (at: number) => (little ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  const start = u32(4);
  for (let index = 0; index < u16(start); index += 1) {
    const entry = start + 2 + index * entrySize;
    if (u16(entry + 2) !== asciiType) continue;
    const count = u32(entry + 4);
    // Up to four bytes stand in the entry itself.
    const at = count > 4 ? u32(entry + 8) : entry + 8;
    yield [
      u16(entry),
      tiff
        .toString('utf8', at, at + count)
        .replaceAll('\0', ' ')
        .trim(),
    ];
  }
}
