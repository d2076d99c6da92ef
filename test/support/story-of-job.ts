/** What the log of a job must tell, whatever has happened to it. */
import type { LoggedEvent } from '../../src/domain/event.ts';
import { type FlowDefinition, incomingEdges } from '../../src/domain/flow.ts';

const ends: ReadonlySet<string> = new Set(['flow_complete', 'flow_error', 'flow_cancelled']);

/** What the log has told so far. */
interface Story {
  readonly flow: FlowDefinition;
  readonly begun: Set<string>;
  readonly settled: Set<string>;
  last?: LoggedEvent;
  isStopped: boolean;
}

/** What is wrong with the next event, if anything is. */
type Rule = (story: Story, event: LoggedEvent) => string | false | undefined;

const rules: readonly Rule[] = [
  ({ last }, event) => last === undefined && event.type !== 'flow_started' && 'is the first',
  ({ last }, event) => last !== undefined && event.seq <= last.seq && `comes after number ${last.seq}`,
  ({ last }, event) => last !== undefined && ends.has(last.type) && event.type !== 'flow_resumed' && 'follows the end',
  ({ flow, settled }, event) => {
    if (event.type !== 'node_started') return undefined;
    const missing = incomingEdges(flow, event.nodeId).find(({ source }) => !settled.has(source));
    return missing && `begins before the end of ${missing.source}`;
  },
  ({ flow, isStopped }, event) =>
    isStopped && event.type === 'node_started' && !isInChain(flow, event.nodeId) && 'begins in a job that is stopped',
  ({ begun }, event) => event.type === 'node_completed' && !begun.has(event.nodeId) && 'ends before it has begun',
];

/** What is wrong with the order of the events, if anything is. */
export const findOrderProblem = (flow: FlowDefinition, log: readonly LoggedEvent[]): string | undefined => {
  const story: Story = { flow, begun: new Set(), settled: new Set(), isStopped: false };
  for (const event of log) {
    for (const rule of rules) {
      const problem = rule(story, event);
      if (typeof problem === 'string') return `${event.seq} ${'nodeId' in event ? event.nodeId : ''} ${problem}`;
    }
    hear(story, event);
  }
  return story.last !== undefined && ends.has(story.last.type) ? undefined : `the last is ${story.last?.type}`;
};

const hear = (story: Story, event: LoggedEvent): void => {
  story.last = event;
  if (event.type === 'flow_paused' || event.type === 'flow_resumed') story.isStopped = event.type === 'flow_paused';
  if (event.type === 'node_started') {
    story.begun.add(event.nodeId);
    story.settled.delete(event.nodeId);
  }
  if (event.type === 'node_completed' || event.type === 'node_skipped') story.settled.add(event.nodeId);
};

/** Those of a chain begin when the one before is done, also when the job is stopped meanwhile. */
const isInChain = (flow: FlowDefinition, nodeId: string): boolean =>
  ['pixel', 'small'].includes(flow.nodes[nodeId]?.type ?? '');
