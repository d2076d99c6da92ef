import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import { kinds } from '../../src/nodes/index.ts';
import type { NodeDescription } from '../../src/ports/node.ts';
import { type OptionCase, optionCases } from '../nodes/option-cases.ts';
import { runKind } from '../support/run-kind.ts';

const running = Object.values<NodeDescription>(kinds).filter(({ role }) => role === 'process');

t.test('every option of every kind has a case, and every case an option', async (t) => {
  const options = running.map(({ kind, options }) => [kind, Object.keys(options.properties).toSorted()]);
  const cases = Object.entries(optionCases).map(([kind, byOption]) => [kind, Object.keys(byOption).toSorted()]);
  t.strictSame(Object.fromEntries(cases), Object.fromEntries(options), 'see test/nodes/option-cases.ts');
});

for (const description of running) {
  t.test(`every option of ${description.kind} makes a difference`, async (t) => {
    for (const [name, { files, beside, value, instead }] of Object.entries(optionCases[description.kind] ?? {})) {
      const other = instead === undefined ? {} : { [name]: instead };
      const results = [{ [name]: value }, other].map((change) =>
        result(t, description, files, { ...beside, ...change }),
      );
      const [with_, without] = await Promise.all(results);
      t.notSame(with_, without, name);
    }
  });
}

/** All that the node says and writes, or why it does not. */
const result = async (t: Test, kind: NodeDescription, files: OptionCase['files'], options: object) => {
  try {
    const outputs = await runKind(t, kind, options, files);
    return await Promise.all(
      outputs.map(async ({ path, ...output }) => ({ ...output, path: '', bytes: await readFile(path) })),
    );
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
};
