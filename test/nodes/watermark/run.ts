/** Runs the kind `watermark` over pictures of one colour. */
import type { Test } from 'tap';
import { watermarkNode } from '../../../src/nodes/index.ts';
import { pixelsOf, plainPng } from '../../support/pixels.ts';
import { type Incoming, only, runKind } from '../../support/run-kind.ts';

export type Options = Parameters<NonNullable<typeof watermarkNode.check>>[0];

export const blue = [0, 0, 255, 255];
export const red = [255, 0, 0, 255];

export const isRed = ([redness = 0]: readonly number[]) => redness > 100;

export const overlay = async (width: number, height: number, background = '#ff0000') => ({
  ...(await plainPng(width, height, background)),
  handle: 'overlay',
});

export const run = async (t: Test, options: Options, files: readonly Incoming[], change = {}) => {
  const { output, bytes } = await only(runKind(t, watermarkNode, options, files, change));
  return { output, bytes, pixels: await pixelsOf(bytes) };
};

/** Whether two pixels are the same but for rounding: libvips cuts off where arithmetic rounds. */
export const near = (pixel: readonly number[], wanted: readonly number[]): boolean =>
  pixel.every((value, index) => Math.abs(value - (wanted[index] ?? 0)) <= 2);
