import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import { kinds } from '../../src/nodes/index.ts';
import type { NodeDescription, NodeOutput } from '../../src/ports/node.ts';
import type { PassedFile } from '../../src/ports/worker-pool.ts';
import { type OptionCase, optionCases } from '../nodes/option-cases.ts';
import { runWhole } from '../support/run-kind.ts';

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

/** All that the node asks for, says, hands on and writes, or why it does not. */
const result = async (t: Test, kind: NodeDescription, files: OptionCase['files'], options: Record<string, unknown>) => {
  const assets = kind.assets?.(options);
  try {
    const facts = files.map((file) => ({ fileName: 'a.png', size: 1, ...file }));
    const outputs = kind.pass?.(options, facts, {}) ?? (await runWhole(t, kind, options, files));
    return { assets, outputs: await Promise.all(outputs.map(contentOf)) };
  } catch (error) {
    if (error instanceof ServiceError) return { assets, code: error.code };
    throw error;
  }
};

const contentOf = async (output: NodeOutput | PassedFile) =>
  'path' in output ? { ...output, path: '', bytes: await readFile(output.path) } : output;
