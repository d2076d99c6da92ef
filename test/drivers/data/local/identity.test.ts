import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { identityOf } from '../../../../src/drivers/data/local/identity.ts';
import { StartError } from '../../../../src/drivers/start-error.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

t.test('a directory has one id, whoever asks and by whatever path', async (t) => {
  const directory = join(await temporaryDirectory(t), 'new', 'data');
  const ids = await Promise.all(Array.from({ length: 10 }, () => identityOf(directory)));
  t.match(ids[0], /^[0-9a-f]{32}$/);
  t.equal(new Set(ids).size, 1, 'also when all ask at once for the first time');
  const link = `${directory}-link`;
  await symlink(directory, link);
  t.equal(await identityOf(link), ids[0]);
  t.equal(await readFile(join(directory, 'directory-id'), 'utf8'), `${ids[0]}\n`);
});

t.test('another directory has another', async (t) => {
  const directory = await temporaryDirectory(t);
  t.not(await identityOf(join(directory, 'a')), await identityOf(join(directory, 'b')));
});

t.test('an id that is still being written is waited for, and what is none is refused', async (t) => {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, 'slow'));
  const path = join(directory, 'slow', 'directory-id');
  await writeFile(path, '');
  const id = identityOf(join(directory, 'slow'));
  setTimeout(() => void writeFile(path, `${'ab'.repeat(16)}\n`), 100);
  t.equal(await id, 'ab'.repeat(16));
  await mkdir(join(directory, 'odd'));
  await writeFile(join(directory, 'odd', 'directory-id'), 'mine');
  const refused = identityOf(join(directory, 'odd'));
  await t.rejects(refused, StartError);
  await t.rejects(refused, /odd\/directory-id does not hold the id/);
});
