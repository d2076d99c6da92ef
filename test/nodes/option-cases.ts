/**
 * For every option of every kind that runs: a file over which it matters. `test/guards/node-options.test.ts` runs the
 * node with the option and without it, and what comes out must differ. A kind or an option without a case fails there.
 */
import sharp from 'sharp';
import { makePhoto } from '../support/photo.ts';
import { animation, transparent } from '../support/pictures.ts';
import type { Incoming } from '../support/run-kind.ts';

export interface OptionCase {
  readonly files: readonly Incoming[];
  /** The other options. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  /** What it is compared with; without it, the option is left away. For options that must be given. */
  readonly instead?: unknown;
}

const photo = { bytes: await makePhoto({ width: 60, height: 40, gps: true }), mimeType: 'image/jpeg' };
const png = { bytes: await makePhoto({ width: 60, height: 40, type: 'image/png' }), mimeType: 'image/png' };
/** Nothing but pixels, in fewer bytes than a better quality needs. */
const coarse = await sharp(png.bytes).jpeg({ quality: 20 }).toBuffer();
const clear = await transparent();
const moving = await animation();

const over =
  (...files: readonly Incoming[]) =>
  (value: unknown, beside: OptionCase['beside'] = {}, instead?: unknown): OptionCase => ({
    files,
    value,
    beside,
    ...(instead !== undefined && { instead }),
  });

const [ofPhoto, ofPng, ofClear, ofMoving] = [over(photo), over(png), over(clear), over(moving)];

const mark = { ...clear, handle: 'overlay' };
const [marked, texted] = [over(png, mark), over(png)];
const text = { text: 'Sluice', scale: 0.9 };
const [first, second] = [
  { ...png, edge: 0 },
  { ...clear, edge: 1 },
];
const sheet = { strategy: 'images' };
const both = over(first, second);
const isPng = [{ field: 'file.mimeType', operator: 'eq', value: 'image/png' }];
const isText = [{ field: 'file.mimeType', operator: 'eq', value: 'text/plain' }];

/** Options by kind. A kind that has none has an empty object. */
export const optionCases: Readonly<Record<string, Readonly<Record<string, OptionCase>>>> = {
  resize: {
    width: ofPng(30, { height: 30 }),
    height: ofPng(20, { width: 60 }),
    fit: ofPng('fill', { width: 20, height: 20 }),
    position: ofPng('left', { width: 20, height: 20, fit: 'cover' }),
    kernel: ofPng('nearest', { width: 20 }),
    withoutEnlargement: ofPng(false, { width: 90 }),
    background: ofPng('#ff0000', { width: 20, height: 20, fit: 'contain' }),
  },
  crop: {
    width: ofPng(20, { height: 20 }, '50%'),
    height: ofPng(20, { width: 20 }, '75%'),
    left: ofPng(5, { top: 0, width: 20, height: 20 }, '50%'),
    top: ofPng(5, { left: 0, width: 20, height: 20 }, '50%'),
    position: ofPng('left top', { width: 20, height: 20 }),
    outside: ofPng('clamp', { width: 90, height: 20 }),
  },
  rotate: {
    angle: ofPng(10),
    background: ofPng('#ff0000', { angle: 10 }),
    flip: ofPng(true),
    flop: ofPng(true),
  },
  convert: {
    format: ofPng('webp', {}, 'jpeg'),
    quality: ofPng(30, { format: 'jpeg' }),
    effort: ofPng(0, { format: 'webp' }),
    lossless: ofPng(true, { format: 'webp' }),
    progressive: ofPng(true, { format: 'jpeg' }),
    chromaSubsampling: ofPng('4:4:4', { format: 'jpeg' }),
    background: ofClear('#ff0000', { format: 'jpeg' }),
    animated: ofMoving(true, { format: 'webp' }),
  },
  optimize: {
    format: ofPng('webp'),
    quality: ofPhoto(30),
    effort: ofPng(0, { format: 'webp' }),
    lossless: ofPng(true, { format: 'webp' }),
    progressive: ofPhoto(true),
    metadata: ofPhoto('all'),
    maxBytes: ofPhoto(900),
    keepIfLarger: over({ bytes: coarse, mimeType: 'image/jpeg' })('encoded', { quality: 95 }),
  },
  blur: {
    sigma: ofPng(3, {}, 2),
    regions: ofPng([{ left: 0, top: 0, width: 9, height: 9 }], { sigma: 3 }),
  },
  grayscale: {},
  watermark: {
    text: texted('Sluice'),
    image: texted('assets/logo.png'),
    gravity: marked('north'),
    left: marked(3),
    top: marked(3),
    scale: marked(0.5),
    opacity: marked(0.5),
    tile: marked(true),
    blend: marked('multiply'),
    color: texted('#ff0000', text),
    fontSize: texted(9, text),
  },
  conditional: {
    conditions: ofPng(isPng, {}, isText),
    match: ofPng('any', { conditions: [...isPng, ...isText] }),
  },
  merge: {
    strategy: both('first'),
    direction: both('vertical', sheet),
    across: both(1, sheet),
    width: both(20, sheet),
    height: both(20, sheet),
    shim: both(5, sheet),
    background: both('#ff0000', sheet),
    halign: both('left', { ...sheet, width: 90 }),
    valign: both('top', { ...sheet, height: 90 }),
    format: both('webp', sheet),
    quality: both(10, { ...sheet, format: 'jpeg' }),
    separator: both('--', { strategy: 'concat' }),
  },
};
