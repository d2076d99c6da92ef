import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { localDataStore } from '../../src/drivers/data/local/index.ts';
import { materializeAssets } from '../../src/engine/assets.ts';
import { kinds } from '../../src/nodes/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const rig = async (t: Parameters<typeof temporaryDirectory>[0]) => {
  const root = await temporaryDirectory(t);
  const store = await localDataStore({ directory: join(root, 'files'), durability: 'process' });
  await mkdir(join(root, 'files/assets/logos'), { recursive: true });
  await writeFile(join(root, 'files/assets/logos/mark.png'), 'bytes');
  const deps = { kinds, storage: () => store };
  const values = { params: { logo: 'mark', way: '../files/assets/logos/mark' } };
  const node = (options: Record<string, unknown>) => ({ type: 'watermark', options });
  return {
    root,
    get: (options = {}) => materializeAssets(deps, 'default', node(options), values, join(root, 'scratch')),
    deps,
  };
};

t.test('an asset comes by its handle', async (t) => {
  const { root, get } = await rig(t);
  const path = join(root, 'files/assets/logos/mark.png');
  const file = { path, mimeType: 'application/octet-stream', fileName: 'mark.png', handle: 'overlay' };
  t.same(await get({ image: 'assets/logos/mark.png' }), [file]);
});

t.test('a node without one gets none', async (t) => {
  const { get, deps, root } = await rig(t);
  t.same(await get({ text: 'x' }), []);
  t.same(await materializeAssets(deps, 'default', { type: 'resize' }, {}, root), []);
  t.same(await materializeAssets(deps, 'default', { type: 'unknown' }, {}, root), []);
});

t.test('a parameter may choose one, and nothing else', async (t) => {
  const { get } = await rig(t);
  t.match(await get({ image: 'assets/logos/{{params.logo}}.png' }), [{ fileName: 'mark.png' }]);
  await t.rejects(get({ image: 'assets/{{params.way}}.png' }), { code: 'INVALID_PARAMS' });
  await t.rejects(get({ image: 'assets/{{file.name}}' }), { code: 'INVALID_PARAMS' }, 'it is for all files');
});

t.test('one that is not there is a missing input', async (t) => {
  const { get } = await rig(t);
  await t.rejects(get({ image: 'assets/none.png' }), {
    code: 'MISSING_INPUT',
    message: 'There is no file "assets/none.png" in the storage',
    details: { key: 'assets/none.png', handle: 'overlay' },
  });
  await t.rejects(get({ image: 'assets/logos' }), { code: 'MISSING_INPUT' }, 'a folder is none');
});

t.test('a storage that fails is another matter', async (t) => {
  const { deps } = await rig(t);
  const failing = {
    ...deps,
    storage: () => {
      throw new Error('no storage');
    },
  };
  await t.rejects(
    materializeAssets(failing, 'x', { type: 'watermark', options: { image: 'assets/a.png' } }, {}, '/tmp'),
    {
      message: 'no storage',
    },
  );
});
