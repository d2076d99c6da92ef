/** What the flows of `definitions` do, written by hand in sharp. */
import { rm } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { widths } from './definitions.ts';

/** From file to file. */
export type Recipe = (from: string, to: string) => Promise<unknown>;

/** As the image kinds open what comes from outside. */
const open = (path: string): Sharp => sharp(path, { failOn: 'error', limitInputPixels: 100_000_000 }).autoOrient();

/** As the kind leaves pictures as they are that are smaller already. */
const width = (pixels: Sharp, width: number) => pixels.resize({ width, withoutEnlargement: true });

const toWeb = (pixels: Sharp, path: string) => pixels.webp({ quality: 80, effort: 4 }).toFile(path);

/** The encoder's settings are those of `resize`. */
const toJpeg = (pixels: Sharp, path: string) => pixels.jpeg({ quality: 80 }).toFile(path);

const steps: readonly ((pixels: Sharp) => Sharp)[] = [
  (pixels) => width(pixels, 1600),
  (pixels) => pixels.grayscale().toColourspace('b-w'),
  (pixels) => pixels.rotate(90),
];

/** The pixels as bytes in memory. */
const throughMemory: Recipe = async (from, to) => {
  let pixels = open(from);
  for (const step of steps) {
    const { data, info } = await step(pixels).raw().toBuffer({ resolveWithObject: true });
    pixels = sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
  }
  await toWeb(pixels, to);
};

/** The pixels as files that libvips maps into its memory. */
const throughFiles: Recipe = async (from, to) => {
  let pixels = open(from);
  const paths = steps.map((_, index) => `${to}.${index}.v`);
  for (const [index, step] of steps.entries()) {
    const path = paths[index] ?? '';
    await step(pixels).toFile(path);
    pixels = sharp(path);
  }
  await toWeb(pixels, to);
  for (const path of paths) await rm(path);
};

/** Decodes once, as large as the largest. */
const sizes =
  (encode: (pixels: Sharp, path: string) => Promise<unknown>): Recipe =>
  async (from, to) => {
    const { data, info } = await width(open(from), widths[0]).raw().toBuffer({ resolveWithObject: true });
    const raw = { width: info.width, height: info.height, channels: info.channels };
    for (const pixels of widths) await encode(width(sharp(data, { raw }), pixels), `${to}.${pixels}`);
  };

export const recipes = {
  image: (from: string, to: string) => toWeb(width(open(from), 1024), to),
  'chain-memory': throughMemory,
  'chain-files': throughFiles,
  'sizes-jpeg': sizes(toJpeg),
  'sizes-webp': sizes(toWeb),
} as const satisfies Readonly<Record<string, Recipe>>;
