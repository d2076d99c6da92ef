import t from 'tap';
import { checkAll } from './check-all.ts';
import { filesOf } from './files.ts';
import { sampleFolder } from './sample.ts';
import { checkService } from './service.ts';

const files = await filesOf('sample', sampleFolder);

t.ok(files.length > 30, `${files.length} files`);

t.test('odd pictures are read, or refused with a code that tells why', async (t) => {
  const { checked, problems } = await checkAll(files, 2);
  t.strictSame(problems, []);
  const outcome = (name: string) => checked.find(({ file }) => file.name === name)?.outcomes['optimize png'];
  const expected = {
    'pngsuite/ibasn6a16.png': 'ok',
    'libtiff/test_ifd_loop_to_self.tif': 'ok',
    'libpng-crashers/badcrc.png': 'INVALID_INPUT',
    'pillow/truncated_jpeg.jpg': 'INVALID_INPUT',
    'libjpeg-turbo/testorig12.jpg': 'UNSUPPORTED_FORMAT',
    'libtiff/ojpeg_single_strip_no_rowsperstrip.tiff': 'UNSUPPORTED_FORMAT',
    'pillow/timeout-9139147ce93e20eb14088fe238e541443ffd64b3.fli': 'UNSUPPORTED_FORMAT',
  };
  const actual = Object.fromEntries(Object.keys(expected).map((name) => [name, outcome(name)]));
  t.strictSame(actual, expected);
});

t.test('a service goes on over them', async (t) => {
  const { counts, problems } = await checkService(files.filter((_, index) => index % 4 === 0));
  t.strictSame(problems, [], counts);
});
