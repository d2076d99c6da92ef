import { parseArgs } from 'node:util';
import { loadConfig } from '../../config/load.ts';
import type { FlowDefinition } from '../../domain/flow.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Params } from '../../domain/params.ts';
import type { HttpServices } from '../../http/context.ts';
import { CommandError, type RunCommand, requireCount } from '../command.ts';
import { type AssignedFiles, assignFiles, requireFiles } from './assign-files.ts';
import { describePlan } from './describe-plan.ts';
import { findFlow, flowsDirectory, flowsOption } from './find-flow.ts';
import { followJob } from './follow-job.ts';
import { onInterrupt } from './interrupt.ts';
import { knownKinds } from './known-kinds.ts';
import { readParams } from './read-params.ts';
import { showProgress } from './show-progress.ts';
import { uploadFiles } from './upload-files.ts';
import { withService } from './with-service.ts';
import { requireWritable, type WrittenOutput, writeOutputs } from './write-outputs.ts';

const options = {
  ...flowsOption,
  out: { type: 'string' },
  input: { type: 'string', multiple: true },
  param: { type: 'string', multiple: true },
  'dry-run': { type: 'boolean' },
} as const;

/** `sluice flows run`: one job, from files to files, on embedded drivers that are gone afterwards. */
export const runFlow: RunCommand = async (args) => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [flowId = '', ...files] = positionals;
  requireCount(positionals.slice(0, 1), ['flowId']);
  const flow = await findFlow(flowsDirectory(values.flows), flowId);
  const kinds = await knownKinds();
  const inputs = assignFiles({ kinds }, flow, files, values.input ?? []);
  const params = readParams(flow, values.param ?? []);
  if (values['dry-run'] === true) {
    process.stdout.write(describePlan(flow, kinds, inputs));
    return 0;
  }
  const directory = values.out ?? '.';
  await Promise.all([requireFiles(flow, inputs), requireWritable(directory)]);
  return runToFiles({ flow, inputs, params }, directory);
};

interface Start {
  readonly flow: FlowDefinition;
  readonly inputs: AssignedFiles;
  readonly params: Params;
}

const runToFiles = async (start: Start, directory: string): Promise<number> => {
  const interrupt = onInterrupt();
  try {
    const written = await withService(start.flow, loadConfig(), async (services) => {
      const job = await runJob(services, start, interrupt.signal);
      return writeOutputs(services.engine, job, directory, interrupt.signal);
    });
    printOutputs(written);
    return 0;
  } catch (error) {
    // What was cut off has an error of its own, which is not the reason.
    const exitCode = interrupt.exitCode();
    if (exitCode === undefined) throw error;
    return exitCode;
  } finally {
    interrupt.end();
  }
};

/** Programs get the paths alone; people would not know which of them is which. */
const printOutputs = (written: readonly WrittenOutput[]): void => {
  if (written.length === 0) process.stderr.write('The flow has made no files\n');
  for (const { key, path } of written) process.stdout.write(process.stdout.isTTY ? `${path} (${key})\n` : `${path}\n`);
};

/** The job, once it has completed. */
const runJob = async (services: HttpServices, start: Start, signal: AbortSignal): Promise<JobRecord> => {
  const { flow, params } = start;
  const progress = showProgress(process.stderr, flow);
  try {
    const inputs = await uploadFiles(services.uploads, start.inputs, signal, progress.say);
    const request = { flowId: flow.flowId, storageId: 'default', clientId: undefined, inputs, params };
    const { id } = await services.engine.start(request);
    const job = await followJob(services, id, signal, progress.update);
    if (job.status !== 'completed') throw jobError(job);
    return job;
  } finally {
    progress.end();
  }
};

const jobError = ({ status, error }: JobRecord): CommandError =>
  new CommandError(
    error === undefined ? `the job is ${status}` : `${error.code} at "${error.nodeId}": ${error.message}`,
  );
