import { readFile } from 'node:fs/promises';
import t from 'tap';
import { generatedFiles } from '../support/generated.ts';

t.test('the files made from the source are in step with it (npm run generate)', async (t) => {
  for (const [path, content] of Object.entries(await generatedFiles())) {
    const committed = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
    t.equal(committed, content, path);
  }
});
