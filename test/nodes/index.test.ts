import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import t from 'tap';
import { kinds } from '../../src/nodes/index.ts';
import type { NodeDescription } from '../../src/ports/node.ts';

const source = new URL('../../src/nodes/', import.meta.url);

t.test('every kind is registered under its name, and every file is a kind', async (t) => {
  const files = (await readdir(source)).filter((name) => name.endsWith('.ts') && name !== 'index.ts');
  t.same(Object.keys(kinds).sort(), files.map((name) => name.slice(0, -'.ts'.length)).sort());
  for (const [name, kind] of Object.entries(kinds)) t.equal(kind.kind, name);
});

t.test('every option is described, and unknown ones are refused', async (t) => {
  for (const { kind, options } of Object.values<NodeDescription>(kinds)) {
    t.match(options, { additionalProperties: false }, kind);
    for (const [name, schema] of Object.entries(options.properties)) {
      t.match(schema, { description: /^\S.+\S$/ }, `${kind}.${name}`);
    }
  }
});

t.test('every kind that makes pictures of pictures takes bare pixels and leaves them', async (t) => {
  for (const { kind, accepts, produces, pixels } of Object.values<NodeDescription>(kinds)) {
    const ofPictures = accepts.length > 0 && accepts.every((glob) => glob.startsWith('image/'));
    const makesPictures = produces({}, ['image/png']).every((glob) => glob.startsWith('image/'));
    if (ofPictures && makesPictures) t.equal(pixels, true, kind);
  }
});

t.test('the server process can read the kinds and run a pool without loading sharp', async (t) => {
  const program = `
    import { kinds } from ${JSON.stringify(new URL('index.ts', source).href)};
    import { workerPool } from ${JSON.stringify(new URL('../workers/index.ts', source).href)};
    import { readFileSync } from 'node:fs';
    const pool = workerPool({ size: 1, memoryLimit: 2 ** 30 });
    const libraries = () => /libvips|sharp-/.test(readFileSync('/proc/self/maps', 'utf8'));
    const before = libraries();
    await pool.close();
    await import('sharp');
    console.log(JSON.stringify([Object.keys(kinds).length > 0, before, libraries()]));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: source });
  t.same(JSON.parse(String(output)), [true, false, true], 'it would be seen');
});
