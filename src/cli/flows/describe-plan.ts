/** What a job of a flow would do, for people. */
import { type FlowDefinition, incomingEdges, isFinal } from '../../domain/flow.ts';
import { isRequired } from '../../engine/inputs.ts';
import { membersOf, planUnits } from '../../engine/units.ts';
import type { NodeDescription, NodeKinds } from '../../ports/node.ts';
import type { AssignedFiles } from './assign-files.ts';

/** Nodes in an order in which they could run one by one; those that run as one have one number. */
export const describePlan = (flow: FlowDefinition, kinds: NodeKinds, inputs: AssignedFiles): string => {
  const rows = runOrder(flow, kinds, [...inputs.keys()]).flatMap((together, index) =>
    together.map((nodeId, place) => [
      place === 0 ? `${index + 1}.` : '',
      nodeId,
      kindOf(flow, kinds, nodeId)?.name ?? '',
      place === 0 ? placeOf(kindOf(flow, kinds, nodeId)) : 'in the same worker',
      sourcesOf(flow, nodeId, inputs),
      isFinal(flow, nodeId) ? 'output' : '',
    ]),
  );
  return `${flow.name} (${flow.flowId})\n${alignColumns(rows)}`;
};

const kindOf = (flow: FlowDefinition, kinds: NodeKinds, nodeId: string) => kinds[flow.nodes[nodeId]?.type ?? ''];

const placeOf = (kind: NodeDescription | undefined): string => {
  if (kind?.run === undefined) return 'in the service';
  return kind.pass === undefined ? 'in a worker' : 'in a worker if need be';
};

const sourcesOf = (flow: FlowDefinition, nodeId: string, inputs: AssignedFiles): string => {
  const files = inputs.get(nodeId);
  if (files !== undefined && files.length > 0) return `takes ${files.join(', ')}`;
  if (files !== undefined) return isRequired(flow, nodeId) ? 'waits for a file' : 'takes no file';
  const sources = incomingEdges(flow, nodeId).map(({ source, sourceHandle }) =>
    sourceHandle === undefined ? source : `${source} (${sourceHandle})`,
  );
  return `after ${sources.join(', ')}`;
};

/** What runs as one, after all that it takes from, else in the order of the definition. */
const runOrder = (flow: FlowDefinition, kinds: NodeKinds, inputs: readonly string[]) => {
  const units = [...inputs.map((nodeId) => [nodeId]), ...planUnits(flow, kinds).map(membersOf)];
  const unitOf = new Map(units.flatMap((unit) => unit.map((nodeId) => [nodeId, unit] as const)));
  const order = new Set<readonly string[]>();
  const visit = (unit: readonly string[] | undefined) => {
    if (unit === undefined || order.has(unit)) return;
    for (const { source } of unit.flatMap((nodeId) => incomingEdges(flow, nodeId))) {
      // Flows that were loaded have no cycles.
      if (!unit.includes(source)) visit(unitOf.get(source));
    }
    order.add(unit);
  };
  for (const nodeId of Object.keys(flow.nodes)) visit(unitOf.get(nodeId));
  return [...order];
};

const alignColumns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `  ${line.trimEnd()}\n`).join('');
};
