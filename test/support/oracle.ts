/** Pictures checked against Pillow, which shares no code with sharp: the same size, and all but the same pixels. */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import type { Test } from 'tap';
import { findPillow } from '../services/pillow.ts';
import { temporaryDirectory } from './temporary.ts';

interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Red, green, blue, alpha. */
type Colour = readonly [number, number, number, number];

/** What `oracle.py` can do; all of it after the picture has been turned upright. */
export type Operation =
  | ({ readonly do: 'crop' } & Area)
  | { readonly do: 'resize'; readonly width: number; readonly height: number; readonly filter?: string }
  | ({ readonly do: 'pad'; readonly background: Colour } & Area)
  | { readonly do: 'flip' | 'flop' | 'grayscale' }
  | { readonly do: 'rotate'; readonly angle: number; readonly background: Colour }
  | { readonly do: 'blur'; readonly sigma: number; readonly region?: Area }
  | { readonly do: 'flatten'; readonly background: Colour };

/** Of 255, on average over all pixels and channels. */
const tolerance = 2;

const program = fileURLToPath(new URL('oracle.py', import.meta.url));

const python = findPillow();

/** For tests that compare: they are skipped where TEST_SERVICES=embedded, and Pillow is not there. */
export const withPillow = { skip: python === undefined && 'Pillow is missing' };

/** Whether `actual` is what Pillow makes of `input` by the operations; of an animation, one frame is compared. */
export const looksLike = async (
  t: Test,
  actual: Buffer,
  input: Buffer,
  operations: readonly Operation[],
  name = JSON.stringify(operations),
  frame = 0,
): Promise<void> => {
  const directory = await temporaryDirectory(t);
  const paths = { input: join(directory, 'input'), actual: join(directory, 'actual') };
  await writeFile(paths.input, await readable(input));
  await writeFile(paths.actual, await readable(actual));
  const task = JSON.stringify({ ...paths, frame, operations });
  const answer = JSON.parse(execFileSync(python ?? 'python3', [program], { input: task, encoding: 'utf8' }));
  t.same(answer.actual, answer.expected, `${name}: the size`);
  t.ok(answer.difference !== null && answer.difference <= tolerance, `${name}: the pixels, ${answer.difference}`);
};

/** Debian's Pillow reads no AVIF: its pixels are those that sharp reads. */
const readable = async (bytes: Buffer): Promise<Buffer> =>
  bytes.toString('latin1', 4, 12) === 'ftypavif' ? sharp(bytes).png().toBuffer() : bytes;
