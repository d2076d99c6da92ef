/** Flows that a seed decides, with what their nodes make of their files and what goes wrong on the way. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../src/domain/errors.ts';
import type { FlowDefinition, FlowEdge, FlowNode } from '../../src/domain/flow.ts';
import { deliverAll, type Script } from './engine-rig.ts';
import { flowOf, input } from './step-flows.ts';

type Random = () => number;

export const below = (random: Random, limit: number): number => Math.floor(random() * limit);
export const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;

/** What one run of a node meets before it does its work. */
type Fault = 'none' | 'slow' | 'error' | 'crash';

export interface RandomPlan {
  readonly flow: FlowDefinition;
  /** Files of the inputs, by name. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** How many files a node makes of those that it gets. */
  readonly counts: Readonly<Record<string, number>>;
  /** By the runs of the node. */
  readonly faults: Readonly<Record<string, readonly Fault[]>>;
  /** Nodes that fail whatever is done. */
  readonly doomed: ReadonlySet<string>;
}

const types = ['step', 'step', 'step', 'pixel', 'pixel', 'small', 'mark', 'route', 'join'];

export const randomPlan = (random: Random): RandomPlan => {
  const nodes: Record<string, FlowNode> = { in: input, ...(random() < 0.3 ? { late: input } : {}) };
  const edges: FlowEdge[] = [];
  const size = 2 + below(random, 11);
  while (Object.keys(nodes).length < size) {
    const id = `n${Object.keys(nodes).length}`;
    const type = oneOf(random, types);
    for (const [index, source] of sourcesOf(random, Object.keys(nodes)).entries()) {
      edges.push(edgeBetween(random, source, nodes[source], id, type === 'mark' && index > 0));
    }
    nodes[id] = { type, ...settingsOf(random) };
  }
  const scripted = Object.keys(nodes).filter((id) => !['file-input', 'route', 'join'].includes(nodes[id]?.type ?? ''));
  const each = <T>(make: () => T) => Object.fromEntries(scripted.map((id) => [id, make()]));
  return {
    flow: flowOf(nodes, edges, { retries: 4 }),
    files: { in: namesOf(random), ...('late' in nodes ? { late: ['late yes'] } : {}) },
    counts: each(() => oneOf(random, [0, 1, 1, 1, 1, 2, 3])),
    faults: each(() => faultsOf(random)),
    doomed: new Set(scripted.filter(() => random() < 0.04)),
  };
};

const namesOf = (random: Random) =>
  Array.from({ length: 1 + below(random, 3) }, (_, n) => oneOf(random, [`yes${n}`, `no${n}`]));

const sourcesOf = (random: Random, ids: readonly string[]): readonly string[] => {
  const chosen = Array.from({ length: oneOf(random, [1, 1, 1, 2, 3]) }, () =>
    // Mostly the newest, for long ways.
    random() < 0.4 ? (ids.at(-1) ?? 'in') : oneOf(random, ids),
  );
  return [...new Set(chosen)];
};

const edgeBetween = (
  random: Random,
  source: string,
  from: FlowNode | undefined,
  target: string,
  named: boolean,
): FlowEdge => ({
  ...{ source, target },
  ...(from?.type === 'route' ? { sourceHandle: String(random() < 0.5) } : {}),
  ...(named && random() < 0.6 ? { targetHandle: 'overlay' } : {}),
});

const settingsOf = (random: Random) => ({
  ...(random() < 0.15 ? { keepOutput: true } : {}),
  ...(random() < 0.2 ? { onError: 'skip' as const } : {}),
});

/** Never more than a node has tries for. */
const faultsOf = (random: Random): readonly Fault[] => {
  if (random() < 0.25) return [];
  const faults: Fault[] = Array.from({ length: 4 }, () =>
    oneOf(random, ['none', 'slow', 'slow', 'error', 'crash'] as const),
  );
  return faults.filter(
    (fault, index) => fault !== 'crash' || faults.slice(0, index).filter((one) => one === 'crash').length < 2,
  );
};

/** Does the work of the plan. What is made depends on the files that came in, and on nothing else. */
export const workOf = ({ counts, doomed }: RandomPlan, faultOf: (nodeId: string) => Fault): Script => {
  const meet = async (nodeId: string, signal: AbortSignal) => {
    const fault = faultOf(nodeId);
    if (fault === 'slow') await delay(30, undefined, { signal }).catch(() => signal.throwIfAborted());
    if (fault === 'error') throw new ServiceError('STORAGE_ERROR', 'for a moment');
    if (fault === 'crash') throw new ServiceError('NODE_CRASHED');
    if (doomed.has(nodeId)) throw new ServiceError('INVALID_INPUT', 'for ever');
  };
  return async (task, signal) => {
    await meet(task.nodeId, signal);
    const texts = await Promise.all(task.files.map(({ path }) => readFile(path, 'utf8')));
    const made = Array.from({ length: counts[task.nodeId] ?? 1 }, (_, index) => {
      const hash = createHash('sha256')
        .update(`${task.nodeId} ${index} ${texts.join('+')}`)
        .digest('hex');
      return { text: hash, fileName: `${hash < '8' ? 'yes' : 'no'} ${hash.slice(0, 6)}` };
    });
    return deliverAll(task, made);
  };
};
