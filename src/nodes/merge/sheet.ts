/** Pictures side by side on one sheet, each in a cell of the same size. */
import { join } from 'node:path';
import type { Join, Sharp } from 'sharp';
import type { NodeOutput, NodeRun } from '../../ports/node.ts';
import type { WorkerLimits } from '../../ports/worker-pool.ts';
import { alphaOf, overWhite } from '../image/colour.ts';
import { writeImage } from '../image/encode.ts';
import { imageError, tooLarge } from '../image/errors.ts';
import { eachImage, loadSharp, type OpenImage } from '../image/open.ts';

export interface SheetOptions {
  readonly direction?: 'horizontal' | 'vertical';
  /** Pictures in a row; overrides the direction. */
  readonly across?: number;
  /** Pixels of a cell; a side that is not given is that of the largest picture. */
  readonly width?: number;
  readonly height?: number;
  /** Pixels between cells. */
  readonly shim?: number;
  readonly background?: string;
  readonly halign?: 'left' | 'centre' | 'right';
  readonly valign?: 'top' | 'centre' | 'bottom';
  readonly format?: 'png' | 'jpeg' | 'webp';
  readonly quality?: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The cell that all pictures go into: they are made smaller for it, never larger. */
export const cellSize = (
  pictures: readonly Size[],
  { width, height }: Pick<SheetOptions, 'width' | 'height'>,
): Size => {
  const scaled = pictures.map((picture) => {
    const scale = Math.min(1, (width ?? picture.width) / picture.width, (height ?? picture.height) / picture.height);
    return { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) };
  });
  return {
    width: width ?? Math.max(1, ...scaled.map((size) => size.width)),
    height: height ?? Math.max(1, ...scaled.map((size) => size.height)),
  };
};

export const sheetSize = (cell: Size, pictures: number, across: number, shim: number): Size => {
  const side = (length: number, cells: number) => length * cells + shim * (cells - 1);
  return {
    width: side(cell.width, across),
    height: side(cell.height, Math.ceil(pictures / across)),
  };
};

/** Writes the sheet. Each picture is decoded by itself, so that the memory is that of one of them. */
export const writeSheet = async (run: NodeRun<SheetOptions>): Promise<NodeOutput> => {
  const { direction = 'horizontal', shim = 0, format = 'png', quality, background = '#00000000' } = run.options;
  const wanted = run.options.across ?? (direction === 'horizontal' ? run.files.length : 1);
  const across = Math.min(wanted, run.files.length);
  const pictures = await eachImage({ ...run, progress: () => {} }, async (image) => image);
  const cell = cellSize(pictures, run.options);
  checkSize(sheetSize(cell, pictures.length, across, shim), run.limits);
  const colour = format === 'jpeg' ? overWhite(background) : background;
  const cells = await writeCells(run, cell, colour);
  const sheet = await joinCells(cells, { across, shim, background: colour }, run.limits);
  const opaque = alphaOf(colour) === 1 && !pictures.some((picture) => picture.header.hasAlpha);
  const [first] = pictures;
  const pixels = opaque ? sheet.removeAlpha() : sheet;
  const written = writeImage(run, named(first as OpenImage), 0, pixels, { format, quality }, false);
  return written.catch((error: unknown) => {
    throw imageError(error, 'the merged picture');
  });
};

const joinCells = async (cells: readonly string[], join: Join, limits: WorkerLimits): Promise<Sharp> => {
  const sharp = await loadSharp();
  const options = { limitInputPixels: limits.maxPixels };
  // sharp joins two at least.
  return cells.length === 1 ? sharp(cells[0], options) : sharp([...cells], { ...options, join });
};

const named = (image: OpenImage): OpenImage => ({ ...image, file: { ...image.file, fileName: 'merged' } });

const checkSize = ({ width, height }: Size, limits: WorkerLimits): void => {
  const side = Math.max(width, height);
  if (side > limits.maxSide) throw tooLarge('the merged picture', 'side', limits.maxSide, side);
  if (width * height > limits.maxPixels) {
    throw tooLarge('the merged picture', 'pixels', limits.maxPixels, width * height);
  }
};

/** Every picture in a cell of its own, with bare pixels of the same kind: else they could not be joined. */
const writeCells = (run: NodeRun<SheetOptions>, cell: Size, background: string): Promise<readonly string[]> => {
  const { halign = 'centre', valign = 'centre' } = run.options;
  const sides = [halign, valign].filter((side) => side !== 'centre');
  return eachImage(run, async (image, index) => {
    const path = join(run.directory, `cell-${index}.v`);
    await image
      .decode('first')
      .resize({ ...cell, fit: 'contain', withoutEnlargement: true, position: sides.join(' ') || 'centre', background })
      .toColourspace('srgb')
      .ensureAlpha()
      .toFile(path);
    return path;
  });
};
