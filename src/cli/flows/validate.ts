import { parseArgs } from 'node:util';
import type { FlowDefinition } from '../../domain/flow.ts';
import { FlowLoadError, type FlowProblem, formatProblem } from '../../engine/load/flow-problem.ts';
import { type FoundFlows, readFlows } from '../../engine/load/load-flows.ts';
import { type RunCommand, requireCount } from '../command.ts';
import { flowsDirectory } from './find-flow.ts';
import { knownKinds } from './known-kinds.ts';

/** `sluice flows validate`: what the service would say of the directory at its start. */
export const validateFlows: RunCommand = async (args) => {
  const options = { json: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [directory] = requireCount(positionals, ['dir'], 1);
  const found = await inspect(flowsDirectory(directory));
  if (values.json === true) printJson(found);
  else printLines(found);
  return found.problems.length === 0 ? 0 : 1;
};

/** A directory that cannot be read is a problem like any other. */
const inspect = async (directory: string): Promise<FoundFlows> => {
  const kinds = await knownKinds();
  const log = { warn: (message: string) => void process.stderr.write(`${message}\n`) };
  try {
    return await readFlows({ directory, kinds, log });
  } catch (error) {
    if (error instanceof FlowLoadError) return { flows: {}, problems: error.problems };
    throw error;
  }
};

const printJson = ({ flows, problems }: FoundFlows): void => {
  const listed = Object.values(flows).map(({ flowId, name }) => ({ flowId, name }));
  const report = { valid: problems.length === 0, flows: listed, problems };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
};

const printLines = ({ flows, problems }: FoundFlows): void => {
  if (problems.length === 0) process.stdout.write(`${summary(flows)}\n`);
  for (const problem of problems) process.stdout.write(`${formatProblem(problem)}\n`);
  if (problems.length > 0) process.stderr.write(`${countOf(problems)}\n`);
};

const summary = (flows: Readonly<Record<string, FlowDefinition>>): string => {
  const ids = Object.keys(flows);
  if (ids.length === 0) return 'There are no flows';
  return `${ids.length === 1 ? '1 flow is' : `${ids.length} flows are`} valid: ${ids.join(', ')}`;
};

const countOf = (problems: readonly FlowProblem[]): string => {
  const files = new Set(problems.map(({ file }) => file)).size;
  const one = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return `${one(problems.length, 'problem')} in ${one(files, 'file')}`;
};
