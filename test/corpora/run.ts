/**
 * `npm run corpora`: pictures that nobody here has made, through the kinds. Each file is done
 * everything of `recipes.ts`; what comes of it is counted by its code, and what must not be is printed.
 *
 *   --full         all corpora of `sources.ts`, which are downloaded once; else the sample in the repository
 *   --only <name>  of all corpora, this one
 *   --every 10     sends each tenth file through a running service, too; 0: none
 */
import { parseArgs } from 'node:util';
import { checkAll, countsOf, extremesOf } from './check-all.ts';
import { fetchSource } from './fetch.ts';
import { type CorpusFile, filesOf } from './files.ts';
import { sampleFolder } from './sample.ts';
import { checkService } from './service.ts';
import { sources } from './sources.ts';

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    only: { type: 'string' },
    every: { type: 'string', default: '10' },
  },
});

const everyNth = Number(values.every);
if (!Number.isInteger(everyNth) || everyNth < 0) throw new Error(`${values.every} is not a number from 0`);

const wanted = sources.filter(({ name }) => values.only === undefined || values.only === name);
if (wanted.length === 0) throw new Error(`The corpora are: ${sources.map(({ name }) => name).join(', ')}`);

const files: CorpusFile[] = [];
if (!values.full && values.only === undefined) files.push(...(await filesOf('sample', sampleFolder)));
else for (const source of wanted) files.push(...(await filesOf(source.name, await fetchSource(source))));

const begin = performance.now();
let done = 0;
const { checked, problems } = await checkAll(files, 2, () => {
  done += 1;
  if (done % 100 === 0) console.log(`${done} of ${files.length}`);
});
const some = everyNth === 0 ? [] : files.filter((_, index) => index % everyNth === 0);
const service = some.length === 0 ? undefined : await checkService(some);

for (const line of [...countsOf(checked), ...extremesOf(checked, 3)]) console.log(line);
if (service !== undefined) console.log(`service: ${some.length} files; ${service.counts}`);
const all = [...problems, ...(service?.problems ?? [])];
for (const problem of all) console.error(problem);
console.log(`${files.length} files, ${all.length} problems (${((performance.now() - begin) / 1000).toFixed(0)} s)`);
if (all.length > 0) process.exitCode = 1;
