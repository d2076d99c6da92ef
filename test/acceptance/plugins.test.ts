/** A deployment's own kinds: a module that the service only knows by the setting PLUGINS. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { call, download, ended, patch, startFlow } from '../support/api.ts';
import { sluice } from '../support/command-line.ts';
import { flipPlugin, writePlugin } from '../support/plugin.ts';
import { runToExit, startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const yaml = `flowId: flip
name: Flip
nodes:
  text: { type: file-input }
  flipped: { type: flip-text, options: { times: 2 } }
edges: [{ source: text, target: flipped }]
`;

/** The constructor of the plugin, in a flow that is code. */
const code = (plugin: string) => `import { defineFlow, inputNode } from 'sluice';
import { flipNode } from ${JSON.stringify(plugin)};
export default defineFlow({
  flowId: 'flip-code',
  name: 'Flip in code',
  nodes: [inputNode('text'), flipNode('flipped')],
  edges: [{ source: 'text', target: 'flipped' }],
});
`;

const deployment = async (t: Test, flow = yaml) => {
  const plugin = await writePlugin(t, flipPlugin);
  const flows = await temporaryDirectory(t);
  await writeFile(join(flows, 'flip.yaml'), flow);
  await writeFile(join(flows, 'flip-code.ts'), code(plugin));
  const settings = { DATA_DIR: await temporaryDirectory(t), FLOWS_DIR: flows, PLUGINS: plugin };
  return { plugin, flows, settings };
};

const flip = async (url: string, flowId: string, text: string) => {
  const bytes = Buffer.from(text);
  const file = { name: 'note.txt', type: 'text/plain', size: bytes.length };
  const { jobId, uploadId } = await startFlow(url, flowId, 'text', file);
  await patch(url, uploadId, bytes);
  return ended(url, jobId);
};

t.test('a kind of a plugin runs in a worker, in flows of every format', async (t) => {
  const { settings } = await deployment(t);
  const service = await startService(settings);
  t.teardown(() => service.stop());
  const { url } = service;
  const twice = await flip(url, 'flip', 'stressed');
  t.equal(twice.status, 'completed', JSON.stringify(twice.error));
  t.equal(String(await download(url, twice.outputs.flipped.url)), 'dessertsdesserts');
  const once = await flip(url, 'flip-code', 'stressed');
  t.equal(String(await download(url, once.outputs.flipped.url)), 'desserts');
  const failed = await flip(url, 'flip', '');
  t.match(failed.error, { nodeId: 'flipped', code: 'INVALID_INPUT', message: 'note.txt is empty' });
  const { body } = await call(url, 'GET', '/api/flow/flip');
  t.match(JSON.stringify(body), /flip-text/);
});

t.test('its options are checked like those of every kind', async (t) => {
  const { settings } = await deployment(t, yaml.replace('times: 2', 'times: 10'));
  const { code: exit, output } = await runToExit(settings);
  t.equal(exit, 1);
  t.match(output, /flip\.yaml:5:\d+ node "flipped": option "times"/);
});

t.test('a plugin that cannot be used stops the start, by its name', async (t) => {
  const { settings } = await deployment(t);
  const broken = await writePlugin(t, "throw new Error('out of order');", 'broken.ts');
  const { code: exit, output } = await runToExit({ ...settings, PLUGINS: `${settings.PLUGINS}, ${broken}` });
  t.equal(exit, 1);
  t.equal(output, `plugin "${broken}": cannot be loaded: out of order\n`, 'and without a stack');
  const without = await runToExit({ ...settings, PLUGINS: '' });
  t.match(without.output, /unknown type "flip-text"/);
});

t.test('the commands know the kinds too', async (t) => {
  const { plugin, flows } = await deployment(t);
  const env = { PLUGINS: plugin, FLOWS_DIR: flows };
  t.match(await sluice(['flows', 'validate'], { env }), { code: 0, stdout: /2 flows are valid/ });
  t.match(await sluice(['flows', 'validate'], { env: { FLOWS_DIR: flows } }), { code: 1 });
  t.match((await sluice(['flows', 'schema'], { env })).stdout, /"const": "flip-text"/);
  t.match((await sluice(['flows', 'graph', 'flip'], { env })).stdout, /Flip Text/);
  const cwd = await temporaryDirectory(t);
  await writeFile(join(cwd, 'note.txt'), 'stressed');
  t.match(await sluice(['flows', 'run', 'flip', 'note.txt'], { cwd, env }), { code: 0 });
  t.match(await sluice(['flows', 'schema'], { env: { PLUGINS: './none.ts' } }), {
    code: 1,
    stderr: /plugin ".\/none.ts": cannot be loaded/,
  });
});
