/**
 * The way in for every image kind: limits and format are checked on the header, and the pixels come upright.
 *
 * sharp is only ever loaded here, by the first picture of a worker child. The server process imports the kinds for
 * their descriptions and stays free of it.
 */
import { extname } from 'node:path';
import type { Metadata, Sharp } from 'sharp';
import { ServiceError } from '../../domain/errors.ts';
import type { NodeOutput, NodeRun } from '../../ports/node.ts';
import type { WorkerFile, WorkerLimits } from '../../ports/worker-pool.ts';
import { damaged, imageError, isNoFormat, tooLarge } from './errors.ts';
import { formatOf, type ImageFormat, isAnimatable } from './format.ts';
import { signatureOf } from './signature.ts';

/** A picture whose header has been read; nothing is decoded yet. */
export interface OpenImage {
  readonly file: WorkerFile;
  /** What the file itself says of the picture. */
  readonly header: Metadata;
  /** What the picture is to the flow. */
  readonly format: ImageFormat;
  /** What the bytes are: other than `format` in an intermediate, where `v` are the bare pixels of libvips. */
  readonly stored: ImageFormat | 'v';
  /** Pixels of the upright picture, of one frame; `decode` gives fewer where nodes share a smaller one. */
  readonly width: number;
  readonly height: number;
  /** Frames that can be kept together; 1 for all but upright animations. */
  readonly frames: number;
  /** A pipeline over the upright pixels: of all frames, or of the first alone. */
  decode(frames: 'all' | 'first'): Sharp;
}

/** Runs `work` over the files of the main input one after the other; what it throws leaves as a `ServiceError`. */
export const eachImage = async <Options, Made = NodeOutput>(
  run: NodeRun<Options>,
  work: (image: OpenImage, index: number) => Promise<Made>,
): Promise<readonly Made[]> => {
  const outputs: Made[] = [];
  const files = run.files.filter((file) => file.handle === undefined);
  for (const [index, file] of files.entries()) {
    const output = openImage(file, run.limits).then((image) => work(image, index));
    outputs.push(
      await output.catch((error: unknown) => {
        throw imageError(error, file.fileName);
      }),
    );
    run.progress((index + 1) / files.length);
  }
  return outputs;
};

export const openImage = async (file: WorkerFile, limits: WorkerLimits): Promise<OpenImage> => {
  const sharp = await loadSharp();
  // Without a limit here, so that an answer can name the size; the header alone costs no memory.
  const header = await sharp(file.path, { failOn: 'error', limitInputPixels: false })
    .metadata()
    .catch((error: unknown) => unreadable(file, error));
  const { format, stored } = readableFormat(file, header);
  const { width, height } = file.whole ?? header.autoOrient;
  // Bare pixels are a single picture, though the first frame of an animation still says how many there were.
  const pages = isAnimatable(format) && stored !== 'v' ? (header.pages ?? 1) : 1;
  if (width * height * pages > limits.maxPixels) {
    throw tooLarge(file.fileName, 'pixels', limits.maxPixels, width * height * pages);
  }
  // libvips turns single pictures only.
  const frames = (header.orientation ?? 1) === 1 ? pages : 1;
  const options = { failOn: 'error', limitInputPixels: limits.maxPixels } as const;
  const decode = (which: 'all' | 'first') =>
    sharp(file.path, { ...options, animated: which === 'all' && frames > 1 }).autoOrient();
  return { file, header, format, stored, width, height, frames, decode };
};

/** libvips tries to open a TIFF or WebP before it calls it one: what is cut off is of no format to it. */
const unreadable = async (file: WorkerFile, error: unknown): Promise<never> => {
  const failure = imageError(error, file.fileName);
  const isCut = failure.code === 'UNSUPPORTED_FORMAT' && isNoFormat(error);
  const format = isCut ? await signatureOf(file.path) : undefined;
  // Raw pictures of cameras begin as TIFF, and have media types of their own.
  if (format !== undefined && format === formatOf(file.mimeType)) throw damaged(file.fileName, error);
  throw failure;
};

export const loadSharp = async () => {
  const { default: sharp } = await import('sharp');
  // One child per core does one picture at a time, and no picture comes twice.
  sharp.concurrency(1);
  sharp.cache(false);
  // An SVG may read files beside it, and 200 bytes of it can keep a core busy for minutes.
  sharp.block({ operation: ['VipsForeignLoadSvg'] });
  return sharp;
};

/** What the picture is and how it is stored; refuses what cannot be decoded. */
const readableFormat = (file: WorkerFile, header: Metadata): Pick<OpenImage, 'format' | 'stored'> => {
  const stored = storedFormat(file, header);
  const format = formatOf(file.mimeType) ?? stored;
  if (stored === undefined || format === undefined || format === 'v') {
    throw new ServiceError('UNSUPPORTED_FORMAT', `${file.fileName} is not an image that can be read here`);
  }
  return { format, stored };
};

const storedFormat = (file: WorkerFile, header: Metadata): ImageFormat | 'v' | undefined => {
  // Bare pixels are taken from other kinds only: the file of an upload never has this extension.
  if (header.format === 'vips') return extname(file.path) === '.v' ? 'v' : undefined;
  // HEIC comes through the same loader as AVIF, but its pixels cannot be decoded here.
  if (header.format === 'heif') return header.compression === 'av1' ? 'avif' : undefined;
  return formatOf(`image/${header.format}`);
};
