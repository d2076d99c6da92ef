/** What sharp and libvips throw, as the codes of the service. They carry no code of their own, only text. */
import { type ErrorCode, ServiceError } from '../../domain/errors.ts';

interface Rule {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  /** For clients. libvips' own text is not: it names paths of this machine. */
  readonly message?: (fileName: string, text: string) => string;
}

/** Before all others: a full disk also reports what it broke. */
const exhausted: Rule = {
  pattern: /no space left|out of memory|cannot allocate|bad_alloc/i,
  code: 'RESOURCE_EXHAUSTED',
};

/** No loader took the file. */
const noFormat = /unsupported image format/i;

const damagedMessage = (fileName: string): string => `${fileName} is damaged or incomplete`;

/** The first that matches decides. */
const rules: readonly Rule[] = [
  exhausted,
  { pattern: /input file is missing|unable to open for/i, code: 'STORAGE_ERROR' },
  {
    pattern: /exceeds (pixel|channel) limit/i,
    code: 'FILE_TOO_LARGE',
    message: (fileName) => `${fileName} has more pixels than the limit`,
  },
  {
    pattern: /too large for the \w+ format/i,
    code: 'FILE_TOO_LARGE',
    message: (fileName) => `${fileName} is too large for the format`,
  },
  {
    pattern: noFormat,
    code: 'UNSUPPORTED_FORMAT',
    message: (fileName) => `${fileName} is not an image that can be read here`,
  },
  {
    pattern: /^expected |bad extract area|unable to parse colou?r|is not supported for multi-page/i,
    code: 'INVALID_PARAMS',
    message: (fileName, text) => `${fileName}: ${text.split('\n', 1)[0]}`,
  },
  {
    // Intact as far as one can tell: 12 bits a sample, LZMA or old JPEG in TIFF, HEVC.
    pattern:
      /unsupported (jpeg|feature)|not (configured|supported|implemented)|not been built in|not a whole number of bytes|bad labq|not \d+ bands/i,
    code: 'UNSUPPORTED_FORMAT',
    message: (fileName) => `${fileName} is stored in a way that cannot be read here`,
  },
  {
    pattern:
      /premature|corrupt|truncated|unexpected end|invalid|read error|unable to (read|parse)|bad seek|2vips|load/i,
    code: 'INVALID_INPUT',
    message: damagedMessage,
  },
];

/** Whatever an image kind throws over `fileName`; what is not known stays an internal error, which is tried again. */
export const imageError = (error: unknown, fileName: string): ServiceError => {
  if (error instanceof ServiceError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const rule = (isSharpError(error) ? rules : [exhausted]).find(({ pattern }) => pattern.test(text));
  return new ServiceError(rule?.code ?? 'INTERNAL_ERROR', rule?.message?.(fileName, text), { cause: error });
};

/** Whether no loader took the file: other than where one did, and could not go on. */
export const isNoFormat = (error: unknown): boolean => error instanceof Error && noFormat.test(error.message);

/** A file that begins as a picture, and then is none. */
export const damaged = (fileName: string, cause: unknown): ServiceError =>
  new ServiceError('INVALID_INPUT', damagedMessage(fileName), { cause });

/** sharp throws plain errors. A `TypeError` or a code of Node is a mistake of ours or of the system. */
const isSharpError = (error: unknown): boolean =>
  error instanceof Error && error.name === 'Error' && !('code' in error);

/** A picture over a limit; `max` and `actual` are pixels. */
export const tooLarge = (fileName: string, limit: 'pixels' | 'side', max: number, actual: number): ServiceError => {
  const what =
    limit === 'pixels' ? `${fileName} has ${actual} pixels` : `A side of ${fileName} would be ${actual} pixels`;
  return new ServiceError('FILE_TOO_LARGE', `${what}; the limit is ${max}`, { details: { limit, max, actual } });
};

/** A picture that cannot be written in so few bytes. */
export const tooManyBytes = (fileName: string, max: number, actual: number): ServiceError =>
  new ServiceError('FILE_TOO_LARGE', `${fileName} has ${actual} bytes at the lowest quality; the limit is ${max}`, {
    details: { limit: 'bytes', max, actual },
  });
