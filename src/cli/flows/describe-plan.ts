/** What a job of a flow would do, for people. */
import { type FlowDefinition, incomingEdges, isFinal } from '../../domain/flow.ts';
import type { NodeKinds } from '../../ports/node.ts';
import type { AssignedFiles } from './assign-files.ts';

/** A line for each node, in an order in which they could run one by one. */
export const describePlan = (flow: FlowDefinition, kinds: NodeKinds, inputs: AssignedFiles): string => {
  const rows = runOrder(flow).map((nodeId, index) => [
    `${index + 1}.`,
    nodeId,
    kindOf(flow, kinds, nodeId)?.name ?? '',
    placeOf(flow, kinds, nodeId),
    sourcesOf(flow, nodeId, inputs),
    isFinal(flow, nodeId) ? 'output' : '',
  ]);
  return `${flow.name} (${flow.flowId})\n${alignColumns(rows)}`;
};

const kindOf = (flow: FlowDefinition, kinds: NodeKinds, nodeId: string) => kinds[flow.nodes[nodeId]?.type ?? ''];

const placeOf = (flow: FlowDefinition, kinds: NodeKinds, nodeId: string): string =>
  kindOf(flow, kinds, nodeId)?.role === 'process' ? 'in a worker' : 'in the service';

const sourcesOf = (flow: FlowDefinition, nodeId: string, inputs: AssignedFiles): string => {
  const files = inputs.get(nodeId);
  if (files !== undefined) return files.length === 0 ? 'waits for a file' : `takes ${files.join(', ')}`;
  return `after ${incomingEdges(flow, nodeId)
    .map(({ source }) => source)
    .join(', ')}`;
};

/** Every node after all that it takes from, else in the order of the definition. */
const runOrder = (flow: FlowDefinition): readonly string[] => {
  const order = new Set<string>();
  const visit = (nodeId: string) => {
    for (const { source } of incomingEdges(flow, nodeId)) if (!order.has(source)) visit(source);
    order.add(nodeId);
  };
  // Flows that were loaded have no cycles.
  for (const nodeId of Object.keys(flow.nodes)) visit(nodeId);
  return [...order];
};

const alignColumns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
    .concat('\n');
};
