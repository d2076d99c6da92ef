/** A kind for the pool of these tests: what sharp alone makes of a file, in the same child as the kinds under test. */
import type { Metadata } from 'sharp';
import { Type } from 'typebox';
import { loadSharp } from '../../src/nodes/image/open.ts';
import { defineNode } from '../../src/ports/node.ts';

/** Pixels; as the limit of the runs. */
export const maxPixels = 100_000_000;

/** What it finds out; as the `meta` of the file. */
export interface Looked {
  /** Of the child. */
  readonly pid: number;
  /** Absent: sharp cannot read it. */
  readonly picture?: {
    /** As media types call it. */
    readonly format: string;
    /** Upright. */
    readonly width: number;
    readonly height: number;
    readonly pages: number;
  };
  readonly problem?: string;
}

const look = async (path: string): Promise<Looked> => {
  const sharp = await loadSharp();
  const { pid } = process;
  try {
    const header = await sharp(path, { failOn: 'error', limitInputPixels: maxPixels }).metadata();
    const animated = (header.format === 'gif' || header.format === 'webp') && (header.pages ?? 1) > 1;
    await sharp(path, { failOn: 'error', limitInputPixels: maxPixels, animated }).raw().toBuffer();
    const { width, height } = header.autoOrient;
    return { pid, picture: { format: formatOf(header), width, height, pages: animated ? (header.pages ?? 1) : 1 } };
  } catch (error) {
    return { pid, problem: error instanceof Error ? error.message : String(error) };
  }
};

const formatOf = ({ format, compression }: Metadata): string =>
  format === 'heif' && compression === 'av1' ? 'avif' : format;

export const probeNode = defineNode({
  kind: 'probe',
  name: 'Probe',
  role: 'process',
  options: Type.Object({}),
  accepts: ['*/*'],
  produces: (_options, incoming) => incoming,
  run: ({ files }) => Promise.all(files.map(async ({ path }, passes) => ({ passes, meta: { ...(await look(path)) } }))),
});
