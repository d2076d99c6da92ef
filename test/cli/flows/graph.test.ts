import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'tap';
import { sluice } from '../../support/command-line.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

test('prints a flow of the directory, whatever is wrong with others', async (t) => {
  const directory = await temporaryDirectory(t);
  const flow = {
    flowId: 'copy',
    name: 'Copy',
    nodes: { file: { type: 'file-input' }, result: { type: 'output' } },
    edges: [{ source: 'file', target: 'result' }],
  };
  await writeFile(join(directory, 'copy.json'), JSON.stringify(flow));
  await writeFile(join(directory, 'broken.json'), '{');
  const stdout = `flowchart LR
  n.file(["file<br/>File Input"])
  n.result[["result<br/>Save to Storage"]]
  n.file --> n.result
`;
  t.same(await sluice(['flows', 'graph', 'copy', '--flows', directory]), { code: 0, stdout, stderr: '' });
  const { code, stderr } = await sluice(['flows', 'graph', 'broken', '--flows', directory]);
  t.equal(code, 1);
  t.match(stderr, /there is no valid flow "broken" in .*; valid: copy\n.*broken\.json:1:2 /);
});

test('without --flows the directory is that of the settings; the README shows what is printed', async (t) => {
  const readme = await readFile(new URL('../../../flows/README.md', import.meta.url), 'utf8');
  const { stdout } = await sluice(['flows', 'graph', 'two-sizes']);
  t.equal(/```mermaid\n(.*?)```/s.exec(readme)?.[1], stdout);
});
