/**
 * The font that texts on pictures are written in. It comes with the service, so that a text looks the same on every
 * machine, and is never a row of empty boxes on one without fonts. It has Latin, Greek, Cyrillic, Arabic and Hebrew
 * letters and many signs, but no Chinese, Japanese or Korean ones.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What Pango calls it. */
export const fontFamily = 'DejaVu Sans';

export const fontFile = (): string => fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));

/** The first and the last of consecutive characters. */
type Range = readonly [first: number, last: number];

let known: readonly Range[] | undefined;

/** The characters of the text for which the font has no picture. Line breaks and signs that are not seen need none. */
export const missingCharacters = (text: string): readonly string[] => {
  known ??= readRanges(readFileSync(fontFile()));
  const ranges = known;
  const has = (character: string) => {
    const code = character.codePointAt(0) ?? 0;
    return ranges.some(([first, last]) => code >= first && code <= last);
  };
  const seen = text.replaceAll(/[\n\p{Default_Ignorable_Code_Point}]/gu, '');
  return [...new Set(seen)].filter((character) => !has(character));
};

/** Reads the table `cmap` in its format 12, which holds groups of consecutive characters; DejaVu has one. */
const readRanges = (font: Buffer): readonly Range[] => {
  const cmap = tableAt(font, 'cmap');
  const subtables = Array.from({ length: font.readUInt16BE(cmap + 2) }, (_, index) =>
    font.readUInt32BE(cmap + 4 + index * 8 + 4),
  );
  const groups = subtables.map((offset) => cmap + offset).find((at) => font.readUInt16BE(at) === 12);
  if (groups === undefined) throw new Error('The font has no cmap of format 12');
  return Array.from({ length: font.readUInt32BE(groups + 12) }, (_, index) => {
    const at = groups + 16 + index * 12;
    return [font.readUInt32BE(at), font.readUInt32BE(at + 4)] as const;
  });
};

const tableAt = (font: Buffer, tag: string): number => {
  for (let index = 0; index < font.readUInt16BE(4); index += 1) {
    const at = 12 + index * 16;
    if (font.toString('latin1', at, at + 4) === tag) return font.readUInt32BE(at + 8);
  }
  throw new Error(`The font has no table ${tag}`);
};
