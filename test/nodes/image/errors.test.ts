import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { ServiceError } from '../../../src/domain/errors.ts';
import { imageError, tooLarge } from '../../../src/nodes/image/errors.ts';
import { makePhoto } from '../../support/photo.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** What sharp throws, as an image kind would pass it on. */
const failure = async (work: () => Promise<unknown>): Promise<ServiceError> => {
  try {
    await work();
  } catch (error) {
    return imageError(error, 'a.jpg');
  }
  throw new Error('It did not fail');
};

const photo = () => makePhoto({ width: 120, height: 80 });

t.test('bytes of every format that end early are INVALID_INPUT', async (t) => {
  for (const format of ['jpeg', 'png', 'webp', 'gif', 'avif'] as const) {
    const bytes = await sharp(await photo())
      .toFormat(format)
      .toBuffer();
    const half = bytes.subarray(0, bytes.length / 2);
    const error = await failure(() => sharp(half, { failOn: 'error' }).raw().toBuffer());
    t.match(error, { code: 'INVALID_INPUT', message: 'a.jpg is damaged or incomplete' }, format);
  }
});

t.test('bytes that have been changed are INVALID_INPUT', async (t) => {
  for (const format of ['png', 'gif', 'avif'] as const) {
    const bytes = await sharp(await photo())
      .toFormat(format)
      .toBuffer();
    const middle = Math.floor(bytes.length / 2);
    bytes.fill(0x5a, middle, middle + 200);
    const error = await failure(() => sharp(bytes, { failOn: 'error' }).raw().toBuffer());
    t.equal(error.code, 'INVALID_INPUT', format);
  }
});

t.test('what is no picture is UNSUPPORTED_FORMAT', async (t) => {
  for (const bytes of [Buffer.from('Dear reader'), Buffer.from('%PDF-1.7\n%')]) {
    t.equal((await failure(() => sharp(bytes).metadata())).code, 'UNSUPPORTED_FORMAT');
  }
});

t.test('what no decoder here knows is UNSUPPORTED_FORMAT, though it is a picture', async (t) => {
  const unknown = { code: 'UNSUPPORTED_FORMAT', message: 'a.jpg is stored in a way that cannot be read here' };
  const twelveBits = await sharp(await photo())
    .jpeg()
    .toBuffer();
  const frame = twelveBits.indexOf(Buffer.from([0xff, 0xc0]));
  twelveBits[frame + 4] = 12;
  t.match(await failure(() => sharp(twelveBits).raw().toBuffer()), unknown, 'JPEG of 12 bits');
  const lzma = await sharp(await photo())
    .tiff({ compression: 'lzw' })
    .toBuffer();
  const tag = lzma.indexOf(Buffer.from([0x03, 0x01, 0x03, 0, 1, 0, 0, 0]));
  lzma.writeUInt16LE(34_925, tag + 8);
  t.match(await failure(() => sharp(lzma).raw().toBuffer()), unknown, 'TIFF with LZMA');
});

t.test('what is over a limit is FILE_TOO_LARGE', async (t) => {
  const bytes = await photo();
  t.equal((await failure(() => sharp(bytes, { limitInputPixels: 1000 }).metadata())).code, 'FILE_TOO_LARGE');
  const wide = () => sharp(bytes).resize(17_000, 5, { fit: 'fill' }).webp().toBuffer();
  t.equal((await failure(wide)).code, 'FILE_TOO_LARGE');
});

t.test('options that sharp does not take are INVALID_PARAMS', async (t) => {
  const bytes = await photo();
  const cut = () => sharp(bytes).extract({ left: 1, top: 1, width: 9999, height: 1 }).toBuffer();
  t.match(await failure(cut), { code: 'INVALID_PARAMS', message: 'a.jpg: extract_area: bad extract area' });
  t.match(await failure(async () => sharp(bytes).blur(5000)), { code: 'INVALID_PARAMS', message: /for sigma/ });
  t.equal((await failure(async () => sharp(bytes).resize(1, 1, { background: '#zz' }))).code, 'INVALID_PARAMS');
});

t.test('a full disk is RESOURCE_EXHAUSTED, in every format', async (t) => {
  const bytes = await photo();
  for (const format of ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const) {
    const error = await failure(() => sharp(bytes).toFormat(format).toFile('/dev/full'));
    t.match(error, { code: 'RESOURCE_EXHAUSTED', message: 'Memory or scratch space ran out' }, format);
  }
});

t.test('an input that is not there is STORAGE_ERROR, and nobody hears of its path', async (t) => {
  const directory = await temporaryDirectory(t);
  const error = await failure(() => sharp(join(directory, 'gone.jpg')).metadata());
  t.match(error, { code: 'STORAGE_ERROR', message: 'The storage failed' });
  await writeFile(
    join(directory, 'cut.avif'),
    (
      await sharp(await photo())
        .avif()
        .toBuffer()
    ).subarray(0, 400),
  );
  const cut = await failure(() => sharp(join(directory, 'cut.avif')).toBuffer());
  t.notMatch(cut.message, directory);
  t.match(cut.cause, Error, 'but the log does');
});

t.test('errors of the service pass, and others stay internal', async (t) => {
  const own = new ServiceError('TIMEOUT');
  t.equal(imageError(own, 'a.jpg'), own);
  t.equal(imageError(new TypeError('undefined is not a function'), 'a.jpg').code, 'INTERNAL_ERROR');
  t.equal(imageError(new TypeError('Invalid load'), 'a.jpg').code, 'INTERNAL_ERROR');
  t.equal(imageError('text', 'a.jpg').code, 'INTERNAL_ERROR');
  const full = Object.assign(new Error('ENOSPC: no space left on device, copyfile'), { code: 'ENOSPC' });
  t.equal(imageError(full, 'a.jpg').code, 'RESOURCE_EXHAUSTED', 'the disk is the disk');
});

t.test('limits are told with their numbers', async (t) => {
  t.match(tooLarge('a.jpg', 'pixels', 10, 20), {
    code: 'FILE_TOO_LARGE',
    message: 'a.jpg has 20 pixels; the limit is 10',
    details: { limit: 'pixels', max: 10, actual: 20 },
  });
});
