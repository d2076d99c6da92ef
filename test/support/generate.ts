/** `npm run generate`: writes the files that are made from the source. */
import { writeFile } from 'node:fs/promises';
import { generatedFiles } from './generated.ts';

for (const [path, content] of Object.entries(await generatedFiles())) {
  await writeFile(new URL(`../../${path}`, import.meta.url), content);
}
