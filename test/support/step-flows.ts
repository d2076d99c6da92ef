/** Short ways to say flows of scripted nodes, and to start them. */
import { ServiceError } from '../../src/domain/errors.ts';
import type { FlowDefinition, FlowEdge, FlowNode, NodeSettings } from '../../src/domain/flow.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import type { Rig, Script, ScriptTask } from './engine-rig.ts';

/** `a b`, `a true> b` by a way out, `a >overlay b` by a way in. */
export const edgesOf = (...lines: readonly string[]): readonly FlowEdge[] =>
  lines.map((line) => {
    const [source = '', ...rest] = line.split(' ');
    const target = rest.pop() ?? '';
    const out = rest.find((word) => word.endsWith('>'))?.slice(0, -1);
    const into = rest.find((word) => word.startsWith('>'))?.slice(1);
    return {
      ...{ source, target },
      ...(out === undefined ? {} : { sourceHandle: out }),
      ...(into === undefined ? {} : { targetHandle: into }),
    };
  });

/** A node of a scripted kind. */
export const node = (type = 'step', settings: NodeSettings = {}): FlowNode => ({ type, ...settings });

export const input: FlowNode = { type: 'file-input', options: { maxFiles: 100 } };

/** The flow `f`, whose only input is `in` unless its nodes say otherwise. */
export const flowOf = (
  nodes: Readonly<Record<string, FlowNode>>,
  edges: readonly FlowEdge[],
  more: Partial<FlowDefinition> = {},
): FlowDefinition => ({ flowId: 'f', name: 'F', nodes: { in: input, ...nodes }, edges, ...more });

/** Starts `f` with complete uploads: the names of the files of each input, whose text is their name. */
export const startWith = async (
  rig: Rig,
  files: Readonly<Record<string, readonly string[]>> = { in: ['hi'] },
): Promise<string> => {
  const inputs: Record<string, { operation: 'upload'; uploadId: string }[]> = {};
  for (const [nodeId, names] of Object.entries(files)) {
    inputs[nodeId] = [];
    for (const name of names) {
      inputs[nodeId].push({ operation: 'upload', uploadId: await rig.upload(name, 'text/plain', name) });
    }
  }
  return (await rig.engine.start({ flowId: 'f', storageId: 'default', clientId: undefined, inputs })).id;
};

export const statusOf = (job: JobRecord, nodeId: string): string | undefined =>
  job.tasks.find((task) => task.nodeId === nodeId)?.status;

export const attemptOf = (job: JobRecord, nodeId: string): number | undefined =>
  job.tasks.find((task) => task.nodeId === nodeId)?.attempt;

/** Until the signal ends it. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/** Counts the runs of each node, and lets each of them be something else. */
export const counting = (
  run: (task: ScriptTask, time: number, signal: AbortSignal) => ReturnType<Script>,
): { readonly script: Script; readonly runs: Record<string, number> } => {
  const runs: Record<string, number> = {};
  const script: Script = (task, signal) => {
    const time = (runs[task.nodeId] ?? 0) + 1;
    runs[task.nodeId] = time;
    return run(task, time, signal);
  };
  return { script, runs };
};

/** An error that is worth another try. */
export const passing = (): ServiceError => new ServiceError('STORAGE_ERROR', 'for a moment');
