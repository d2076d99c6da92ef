import { join } from 'node:path';
import t from 'tap';
import { describeStorages } from '../../../src/drivers/data/describe.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const bucket = (name: string, prefix?: string) =>
  ({ type: 's3', bucket: name, ...(prefix === undefined ? {} : { prefix }) }) as const;

t.test('storages have one id for all who see the same ones under the same names', async (t) => {
  const root = await temporaryDirectory(t);
  const local = (name: string) => ({ type: 'local', directory: join(root, name) }) as const;
  const { id, isRemote } = await describeStorages({ default: local('a'), archive: bucket('b') });
  t.match(id, /^[0-9a-f]{32}$/);
  t.equal(isRemote, false);
  t.same(await describeStorages({ archive: bucket('b'), default: local('a') }), { id, isRemote });
  for (const others of [
    { default: local('b'), archive: bucket('b') },
    { default: local('a'), archive: bucket('c') },
    { default: local('a'), archive: bucket('b', 'p') },
    { default: local('a'), other: bucket('b') },
    { default: local('a') },
  ]) {
    t.not((await describeStorages(others)).id, id, JSON.stringify(others));
  }
});

t.test('buckets alone are seen by all', async (t) => {
  const storages = { default: bucket('a'), archive: { ...bucket('b'), endpoint: 'http://one' } };
  const { id, isRemote } = await describeStorages(storages);
  t.equal(isRemote, true);
  const elsewhere = { ...storages, archive: { ...bucket('b'), endpoint: 'http://two' } };
  t.equal((await describeStorages(elsewhere)).id, id, 'an endpoint may have several names');
});
