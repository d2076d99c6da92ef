/** kill -9 between a record and its file: the next life finishes what that has left half done. */
import { existsSync, watch } from 'node:fs';
import { mkdir, rename, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import t from 'tap';
import { filesBelow, storedPath } from '../support/stored-files.ts';
import { uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { prepareLives } from './lives.ts';

const openLives = await prepareLives(t, { WORKERS: '0' });

/** What a crash has left is looked for at the start and every ten seconds, and is due ten seconds after it happened. */
const sweepMs = 25_000;

void t.test('empty uploads whose creation was cut off become complete', async (t) => {
  const lives = await openLives(t);
  const directory = join(lives.data, 'files', 'uploads');
  await mkdir(directory, { recursive: true });
  const first = await lives.start();
  // So many at once that the kill, which comes with the first file, finds some of them at every step.
  const watcher = watch(directory, () => process.kill(first.pid, 'SIGKILL'));
  const { post } = uploadClient(first.url);
  await Promise.allSettled(Array.from({ length: 200 }, () => post({ size: 0 })));
  watcher.close();
  await first.stop('SIGKILL');

  const { get } = uploadClient((await lives.start()).url);
  const incomplete = async () => {
    const records = await Promise.all((await filesBelow(directory)).map((path) => get(basename(path))));
    return records.filter(({ status }) => status !== 'completed').length;
  };
  await until(async () => (await incomplete()) === 0, sweepMs).catch(() => undefined);
  t.equal(await incomplete(), 0, 'nobody has their ids, so nobody else would do it');
});

for (const sent of ['all', 'some']) {
  void t.test(`the file of an upload whose deletion was cut off is gone, ${sent} of its bytes`, async (t) => {
    const lives = await openLives(t);
    const first = await lives.start();
    const uploads = uploadClient(first.url);
    const { id } = await uploads.create({ size: 5 });
    await uploads.patch(id, sent === 'all' ? 'hello' : 'hel', { offset: 0 });
    // No kill would hit the moment between the two reliably, but a directory cannot be removed like a file.
    const [path, aside] = [storedPath(lives.data, id), join(lives.data, 'aside')];
    await rename(path, aside);
    await mkdir(path);
    await uploads.remove(id);
    await first.stop('SIGKILL');
    await rmdir(path);
    await rename(aside, path);

    const next = uploadClient((await lives.start()).url);
    t.equal((await next.head(id)).status, 410);
    await until(() => !existsSync(path), sweepMs).catch(() => undefined);
    t.notOk(existsSync(path), 'the record says so, and the disk follows');
  });
}
