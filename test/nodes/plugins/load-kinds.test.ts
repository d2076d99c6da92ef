import { basename, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { kinds } from '../../../src/nodes/index.ts';
import { loadKinds, PluginError, pluginUrl } from '../../../src/nodes/plugins/load-kinds.ts';
import { flipPlugin, writePlugin } from '../../support/plugin.ts';

t.test('the kinds of a plugin stand beside the built-in ones', async (t) => {
  const all = await loadKinds(kinds, [await writePlugin(t, flipPlugin)]);
  t.same(Object.keys(all), [...Object.keys(kinds), 'flip-text']);
  t.match({ ...all['flip-text'] }, { name: 'Flip Text', role: 'process', accepts: ['text/plain'] });
  t.equal(all['resize'], kinds.resize);
  t.same(await loadKinds(kinds, []), kinds);
});

t.test('a plugin is a path, a url or a package', async (t) => {
  const path = await writePlugin(t, flipPlugin);
  const url = pathToFileURL(path).href;
  t.equal(pluginUrl(path), url);
  t.equal(pluginUrl(relative(process.cwd(), path)), url, 'from the working directory');
  t.equal(pluginUrl('./kinds.ts'), pathToFileURL(`${process.cwd()}/kinds.ts`).href);
  t.equal(pluginUrl(url), url);
  t.equal(pluginUrl('@shop/kinds'), '@shop/kinds');
  t.ok('flip-text' in (await loadKinds(kinds, [url])));
});

/** A kind in JavaScript, of these parts. */
const kind = (parts: Record<string, string>) => {
  const all = {
    kind: "'mine'",
    name: "'Mine'",
    role: "'process'",
    options: 'Type.Object({})',
    accepts: "['*/*']",
    produces: '() => []',
    pass: '() => []',
    ...parts,
  };
  const fields = Object.entries(all).map(([name, source]) => `${name}: ${source}`);
  return `import { defineNode, Type } from 'sluice';\nexport const mine = defineNode({ ${fields.join(', ')} });\n`;
};

const problem = async (t: Test, source: string, name = 'broken.js', more: readonly string[] = []) => {
  const path = await writePlugin(t, source, name);
  const error: unknown = await loadKinds(kinds, [...more, path]).catch((error: unknown) => error);
  t.ok(error instanceof PluginError, String(error));
  const { message } = error as Error;
  t.ok(message.startsWith(`plugin "${path}": `), 'it names the module');
  return message.slice(message.indexOf(': ') + 2);
};

t.test('a name may be taken once only', async (t) => {
  t.equal(await problem(t, kind({ kind: "'resize'" })), 'the kind "resize" is built in');
  const first = await writePlugin(t, flipPlugin);
  const twice = await problem(t, flipPlugin, 'again.ts', [first]);
  t.equal(twice, `the kind "flip-text" is already in plugin "${first}"`);
});

t.test('one kind under two names is one kind', async (t) => {
  const path = await writePlugin(t, `${kind({})}export default mine;\n`, 'both.js');
  t.ok('mine' in (await loadKinds(kinds, [path])));
});

t.test('a module that cannot be loaded is named', async (t) => {
  t.match(await problem(t, "throw new Error('out of order');"), /^cannot be loaded: out of order$/);
  t.match(await problem(t, "import 'nowhere-at-all';"), /^cannot be loaded: .*nowhere-at-all/);
  t.match(await problem(t, 'export const = 5;'), /^cannot be loaded: /);
  await t.rejects(loadKinds(kinds, ['./not/there.ts']), {
    name: 'PluginError',
    message: /^plugin "\.\/not\/there\.ts"/,
  });
  await t.rejects(loadKinds(kinds, ['no-such-package']), { message: /^plugin "no-such-package": cannot be loaded/ });
});

t.test('a module without a kind is a mistake', async (t) => {
  t.equal(await problem(t, 'export const a = 5;'), 'exports no node kind; make one with defineNode');
  const lookalike = "export const a = { kind: 'a', options: {} };";
  t.match(await problem(t, lookalike), /exports no node kind/, 'defineNode makes functions');
});

t.test('a kind that lacks a part is told so', async (t) => {
  const parts = {
    kind: ["'Mine!'", /name that is not of small letters/],
    name: ['undefined', /no name to show/],
    role: ["'helper'", /no role/],
    options: ['{}', /options of no object/],
    accepts: ["'*/*'", /does not say what it accepts/],
    produces: ['undefined', /does not say what it produces/],
    pass: ['undefined', /neither run nor pass/],
  } as const;
  for (const [name, [source, message]] of Object.entries(parts)) {
    t.match(await problem(t, kind({ [name]: source }), `${basename(name)}.js`), message, name);
  }
});
