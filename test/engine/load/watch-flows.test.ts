import { execFile } from 'node:child_process';
import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Test, test } from 'tap';
import { watchFlows } from '../../../src/engine/load/watch-flows.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { until } from '../../support/wait.ts';

const watching = (t: Test, directory: string) => {
  const seen = { changes: 0, errors: [] as string[] };
  const watch = watchFlows({
    directory,
    onChange: () => {
      seen.changes += 1;
    },
    onError: (error) => seen.errors.push(error.message),
  });
  t.teardown(watch.close);
  return { ...watch, seen };
};

test('changes that come close together are one', async (t) => {
  const directory = await temporaryDirectory(t);
  const { seen } = watching(t, directory);
  for (const name of ['a.yaml', 'b.yaml', 'c.yaml']) await writeFile(join(directory, name), 'x');
  t.equal(seen.changes, 0, 'nothing is told before the directory is quiet');
  await until(() => seen.changes > 0);
  await delay(500);
  t.equal(seen.changes, 1);
  await writeFile(join(directory, 'a.yaml'), 'y');
  await until(() => seen.changes === 2);
  await unlink(join(directory, 'a.yaml'));
  await until(() => seen.changes === 3);
  t.same(seen.errors, []);
});

test('a ConfigMap that is swapped is one change', async (t) => {
  const directory = await temporaryDirectory(t);
  for (const version of ['..1', '..2']) {
    await mkdir(join(directory, version));
    await writeFile(join(directory, version, 'a.yaml'), version);
  }
  await symlink('..1', join(directory, '..data'));
  await symlink('..data/a.yaml', join(directory, 'a.yaml'));
  const { seen } = watching(t, directory);
  await symlink('..2', join(directory, '..data_tmp'));
  await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  await until(() => seen.changes > 0);
  await delay(500);
  t.equal(seen.changes, 1);
});

test('another directory in the place of the old one is watched', async (t) => {
  const parent = await temporaryDirectory(t);
  const directory = join(parent, 'flows');
  await mkdir(directory);
  const { seen } = watching(t, directory);
  await mkdir(join(parent, 'next'));
  await rename(directory, join(parent, 'old'));
  await rename(join(parent, 'next'), directory);
  await until(() => seen.changes === 1);
  await writeFile(join(parent, 'old', 'a.yaml'), 'x');
  await delay(500);
  t.equal(seen.changes, 1, 'the old one is not looked at any more');
  await writeFile(join(directory, 'a.yaml'), 'x');
  await until(() => seen.changes === 2);
});

test('a directory that vanishes is told of once, and seen when it is back', async (t) => {
  const directory = join(await temporaryDirectory(t), 'flows');
  await mkdir(directory);
  const { seen } = watching(t, directory);
  await rm(directory, { recursive: true });
  await until(() => seen.errors.length > 0);
  await delay(2500);
  t.equal(seen.errors.length, 1);
  t.match(seen.errors[0], /ENOENT/);
  t.equal(seen.changes, 0);
  await mkdir(directory);
  await until(() => seen.changes === 1);
  await writeFile(join(directory, 'a.yaml'), 'x');
  await until(() => seen.changes === 2);
});

test('a link to a directory that was turned: looking follows it', async (t) => {
  const parent = await temporaryDirectory(t);
  for (const name of ['one', 'two']) await mkdir(join(parent, name));
  await symlink('one', join(parent, 'flows'));
  const { look, seen } = watching(t, join(parent, 'flows'));
  await symlink('two', join(parent, 'next'));
  await rename(join(parent, 'next'), join(parent, 'flows'));
  look();
  t.equal(seen.changes, 1, 'at once');
  await writeFile(join(parent, 'two', 'a.yaml'), 'x');
  await until(() => seen.changes === 2);
});

test('neither a watch nor a directory that is awaited keeps the process alive', async (t) => {
  const directory = await temporaryDirectory(t);
  const module = new URL('../../../src/engine/load/watch-flows.ts', import.meta.url);
  const program = `import { watchFlows } from '${module}';
    for (const directory of ['${directory}', '${directory}/none'])
      watchFlows({ directory, onChange() {}, onError() {} });`;
  const args = ['--input-type=module', '-e', program];
  await t.resolves(promisify(execFile)(process.execPath, args, { timeout: 10_000 }));
});
