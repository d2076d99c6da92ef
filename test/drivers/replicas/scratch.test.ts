import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { claimScratch } from '../../../src/drivers/replicas/scratch.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

t.test('scratch folders of the dead are removed, those of others are left alone', async (t) => {
  const root = await temporaryDirectory(t);
  const names = ['sluice-d1-dead', 'sluice-d1-alive', 'sluice-d2-dead', 'dead', 'sluice-d1'];
  for (const name of names) await mkdir(join(root, name, 'job'), { recursive: true });
  const replica = { id: 'me', live: async () => ['alive', 'me'], leave: async () => {} };
  t.equal(await claimScratch(root, 'd1', replica), join(root, 'sluice-d1-me'));
  t.same((await readdir(root)).sort(), names.slice(1).sort());
});

t.test('a root that is not there yet has nothing to remove', async (t) => {
  const root = join(await temporaryDirectory(t), 'new');
  const replica = { id: 'me', live: async () => ['me'], leave: async () => {} };
  t.equal(await claimScratch(root, 'd1', replica), join(root, 'sluice-d1-me'));
});
