import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { kinds } from '../../src/nodes/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));

/** Layers of tests that look at the whole and so mirror no source file. */
const wholes = ['acceptance', 'bench', 'conformance', 'corpora', 'faults', 'flows', 'guards', 'services', 'support'];

/** Tests of what several files of a folder do together. */
const together = ['test/engine/semantics.test.ts', 'test/engine/property.test.ts'];

t.test('every test mirrors a source file', (t) => {
  for (const test of files('test').filter((file) => file.endsWith('.test.ts'))) {
    const [, layer = ''] = test.split('/');
    if (wholes.includes(layer) || together.includes(test)) continue;
    const source = test.replace(/^test/, 'src').replace(/\.test\.ts$/, '');
    t.ok(existsSync(join(root, `${source}.ts`)) || existsSync(join(root, source)), `${test} has its source`);
  }
  t.end();
});

/** Folders that other tests show: the schemas by the committed OpenAPI file, the dialect by its wire. */
const shownElsewhere = ['src/http/schemas', 'src/http/dialects/native'];

t.test('every folder of the source has tests', (t) => {
  const folders = new Set(files('src').map((file) => dirname(file)));
  for (const folder of folders) {
    if (folder === 'src' || shownElsewhere.includes(folder)) continue;
    const twin = join(root, folder.replace(/^src/, 'test'));
    t.ok(
      existsSync(twin) && readdirSync(twin, { recursive: true }).some((name) => String(name).endsWith('.test.ts')),
      folder,
    );
  }
  t.end();
});

t.test('the registry holds every kind in src/nodes', (t) => {
  const kindFiles = readdirSync(join(root, 'src/nodes'))
    .filter((name) => name.endsWith('.ts') && name !== 'index.ts')
    .map((name) => basename(name, '.ts'));
  t.strictSame(Object.keys(kinds).toSorted(), kindFiles.toSorted());
  t.end();
});

t.test('only exact versions are depended on', (t) => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    t.match(version, /^\d+\.\d+\.\d+$/, name);
  }
  t.end();
});
