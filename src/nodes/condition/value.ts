/** How the values of conditions are read: numbers, sizes with a unit, globs. */

/** As on the label of a disk: kB is 1000 bytes; KiB is 1024. */
const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** A number, or a text such as `1600`, `1.5` or `20mb`; nothing when it is neither. */
export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const [, digits, unit = ''] = /^\s*(-?\d{1,15}(?:\.\d{1,9})?)\s*([a-z]{0,3})\s*$/i.exec(value) ?? [];
  const factor = units[unit.toLowerCase()];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
};

/**
 * Whether the whole text fits the glob: `*` is any characters, `?` is one. A star only ever gives way to the next one,
 * so that no text, however made, takes more than its length times that of the glob.
 */
export const matchesGlob = (text: string, glob: string): boolean => {
  // By characters, so that `?` is one emoji too.
  const [letters, signs] = [[...text], [...glob]];
  let star: { readonly sign: number; letter: number } | undefined;
  let [letter, sign] = [0, 0];
  while (letter < letters.length) {
    if (signs[sign] === '*') {
      star = { sign, letter };
      sign += 1;
    } else if (signs[sign] === '?' || signs[sign] === letters[letter]) {
      letter += 1;
      sign += 1;
    } else if (star !== undefined) {
      star.letter += 1;
      letter = star.letter;
      sign = star.sign + 1;
    } else return false;
  }
  return signs.slice(sign).every((rest) => rest === '*');
};
