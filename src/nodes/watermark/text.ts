/** Text as a picture. */
import { ServiceError } from '../../domain/errors.ts';
import { fontFamily, fontFile, missingCharacters } from '../image/font.ts';
import { loadSharp } from '../image/open.ts';
import type { Overlay, Size } from './overlay.ts';

/** Characters. */
export const maxTextLength = 500;

/** Pixels of a letter at which a text is measured. */
const probe = 64;
const maxFontSize = 2000;

/** What is wrong with the text, in words that go after its name, or nothing. */
export const textProblem = (text: string): string | undefined => {
  if (text.trim() === '') return 'is empty';
  if (text.length > maxTextLength) return `has more than ${maxTextLength} characters`;
  if (/[^\P{Cc}\n]/u.test(text)) return 'has control characters';
  const missing = missingCharacters(text);
  return missing.length === 0
    ? undefined
    : `has characters that the font does not have: ${missing.slice(0, 10).join(' ')}`;
};

export interface TextOptions {
  readonly text: string;
  /** `#rgb` and its longer forms. */
  readonly color: string;
  /** The size of the letters, pixels, given what the text measures with letters of another size. */
  readonly letterSize: (measured: Size & { readonly letters: number }) => number;
  /** Space around the text, as a share of the size of its letters. */
  readonly margin: number;
}

/** Writes the text so large as asked, but not larger than `limit`. */
export const drawText = async (options: TextOptions, limit: Size): Promise<Overlay> => {
  const { text, color, letterSize, margin } = options;
  const problem = textProblem(text);
  if (problem !== undefined)
    throw new ServiceError('INVALID_PARAMS', `text ${problem}`, { details: { option: 'text' } });
  const markup = `<span foreground="${opaque(color)}">${escapeMarkup(text)}</span>`;
  const { width, height } = await render(markup, probe, 0);
  const around = 2 * margin * probe;
  const most = probe * Math.min(limit.width / (width + around), limit.height / (height + around));
  const letters = Math.max(1, Math.min(letterSize({ width, height, letters: probe }), most, maxFontSize));
  return fitInto(limit, await render(markup, letters, Math.round(margin * letters)));
};

const render = async (markup: string, letters: number, space: number): Promise<Overlay> => {
  const sharp = await loadSharp();
  // At 72 dots per inch a point is a pixel.
  const font = { font: `${fontFamily} ${letters.toFixed(2)}`, fontfile: fontFile(), rgba: true, dpi: 72 };
  const { data, info } = await sharp({ text: { text: markup, ...font } })
    .extend({ top: space, bottom: space, left: space, right: space, background: '#00000000' })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
};

/** Letters are whole pixels: what should just fit may come out a pixel too large. */
const fitInto = async (limit: Size, drawn: Overlay): Promise<Overlay> => {
  if (drawn.width <= limit.width && drawn.height <= limit.height) return drawn;
  const sharp = await loadSharp();
  const { data, info } = await sharp(drawn.pixels, { raw: { width: drawn.width, height: drawn.height, channels: 4 } })
    .resize(limit.width, limit.height, { fit: 'inside' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
};

/** The text itself never is markup: it may come from outside. */
const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Pango takes the forms with alpha apart. */
const opaque = (color: string): string => (color.length <= 5 ? color.slice(0, 4) : color.slice(0, 7));
