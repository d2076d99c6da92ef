/** What is done with flows, and by whom: one part of the table each. */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { makePhoto } from '../../support/photo.ts';
import { singleJpegs, singleWebps } from './definitions.ts';
import { type Contestant, startProgram } from './programs.ts';
import { startRunningService } from './service.ts';

/** Names of `--rows`, in the order in which they run. */
export const flowRowNames = ['engine', 'image', 'chain', 'sizes', 'sizes-webp'] as const;
export type FlowRowName = (typeof flowRowNames)[number];

export interface FlowRow {
  readonly id: FlowRowName;
  readonly name: string;
  /** What is counted: flows, images. */
  readonly unit: string;
  readonly count: number;
  /** How many are done first, to bring a contestant to its usual speed. */
  readonly warmUp: number;
  /** Each in an empty directory. The others are compared with the first. */
  readonly contestants: Readonly<Record<string, (directory: string) => Promise<Contestant>>>;
}

/** As many in every contestant. */
const processes = availableParallelism();

/** The picture that everything is made of. */
export interface Photo {
  readonly name: string;
  /** Made when it is first asked for. */
  bytes(): Promise<Buffer>;
}

/** So many pixels wide, of the bytes that a camera would make of it. */
export const photoOf = (width: number): Photo => {
  let made: Promise<Buffer> | undefined;
  return {
    name: `${((width * width * 0.75) / 1e6).toFixed(1)} megapixels`,
    bytes() {
      made ??= makePhoto({ width, height: Math.round(width * 0.75), gps: true }).then(withoutProfile);
      return made;
    },
  };
};

/** With a profile the colours are converted, which costs more before the picture is made smaller than after it. */
const withoutProfile = (photo: Buffer): Promise<Buffer> => sharp(photo).keepExif().jpeg({ quality: 94 }).toBuffer();

/** `args` follow the directory and the photograph. */
const overPhoto =
  (photo: Photo, program: string, ...args: readonly string[]) =>
  async (directory: string): Promise<Contestant> => {
    const file = join(directory, 'photo.jpg');
    await writeFile(file, await photo.bytes());
    return startProgram(program, directory, file, ...args);
  };

const bare = (photo: Photo, recipe: string) => overPhoto(photo, 'bare.ts', recipe, String(processes));
const engine = (photo: Photo, ...flowIds: readonly string[]) =>
  overPhoto(photo, 'engine.ts', flowIds.join(), String(processes));

/** `flows`: how many are run. */
export const engineRow = (flows: number): FlowRow => ({
  id: 'engine',
  name: 'five nodes without work, eight flows at once',
  unit: 'flows',
  count: flows,
  // As many again, until the compiler has come to rest.
  warmUp: flows,
  contestants: {
    floor: (directory) => startProgram('floor.ts', directory),
    engine: (directory) => startProgram('engine.ts', directory, fileURLToPath(import.meta.url), 'no-op', '0'),
  },
});

/** Enough for each process to have loaded all that it needs, and for its compiler to have come to rest. */
const mostWarmUp = 12 * processes;

const pictureRow = (id: FlowRowName, name: string, images: number, contestants: FlowRow['contestants']): FlowRow => ({
  id,
  name,
  unit: 'images',
  count: images,
  warmUp: Math.min(images, mostWarmUp),
  contestants,
});

export const imageRow = (images: number, photo: Photo): FlowRow =>
  pictureRow('image', `${photo.name} to 1024 pixels WebP`, images, {
    sharp: bare(photo, 'image'),
    engine: engine(photo, 'image'),
    service: async (directory) => startRunningService(directory, 'image', await photo.bytes()),
  });

export const chainRow = (images: number, photo: Photo): FlowRow =>
  pictureRow('chain', `${photo.name} through four nodes`, images, {
    'sharp, memory': bare(photo, 'chain-memory'),
    'sharp, files': bare(photo, 'chain-files'),
    engine: engine(photo, 'chain'),
  });

export const sizesRow = (images: number, photo: Photo): FlowRow =>
  pictureRow('sizes', `${photo.name} to four sizes of JPEG`, images, {
    'four flows': engine(photo, ...singleJpegs),
    'one flow': engine(photo, 'four-jpegs'),
    sharp: bare(photo, 'sizes-jpeg'),
  });

/** Here the encoder, which has the same to do either way, is most of the cost. */
export const webpSizesRow = (images: number, photo: Photo): FlowRow =>
  pictureRow('sizes-webp', `${photo.name} to four sizes of WebP`, images, {
    'four flows': engine(photo, ...singleWebps),
    'one flow': engine(photo, 'four-webps'),
    sharp: bare(photo, 'sizes-webp'),
  });
