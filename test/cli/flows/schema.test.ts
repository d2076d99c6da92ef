import { readFile } from 'node:fs/promises';
import { test } from 'tap';
import { sluice } from '../../support/command-line.ts';

test('prints the schema that is committed', async (t) => {
  const committed = await readFile(new URL('../../../flows/flow.schema.json', import.meta.url), 'utf8');
  t.same(await sluice(['flows', 'schema']), { code: 0, stdout: committed, stderr: '' });
});
