/** A flow as a Mermaid flowchart. */
import { type FlowDefinition, type FlowEdge, isFinal } from '../../domain/flow.ts';
import type { NodeDescription, NodeKinds } from '../../ports/node.ts';

/** Inputs have round ends, nodes whose files the flow keeps have double sides. */
export const drawGraph = (flow: FlowDefinition, kinds: NodeKinds): string => {
  const nodes = Object.entries(flow.nodes).map(([nodeId, { type }]) => {
    const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
    const [open, close] = shapeOf(flow, nodeId, kind);
    return `${idOf(nodeId)}${open}"${plain(nodeId)}<br/>${plain(kind?.name ?? type)}"${close}`;
  });
  const edges = flow.edges.map((edge) => `${idOf(edge.source)} -->${labelOf(edge)} ${idOf(edge.target)}`);
  return ['flowchart LR', ...nodes, ...edges].join('\n  ').concat('\n');
};

const shapeOf = (flow: FlowDefinition, nodeId: string, kind: NodeDescription | undefined): [string, string] => {
  if (kind?.role === 'input') return ['([', '])'];
  return kind?.role === 'output' || isFinal(flow, nodeId) ? ['[[', ']]'] : ['[', ']'];
};

/** Keys may be or begin with words of Mermaid (`end`) and hold `--`; dots may be anywhere and are in no key. */
const idOf = (nodeId: string): string => `n.${nodeId.replaceAll('-', '.')}`;

const labelOf = ({ sourceHandle, targetHandle }: FlowEdge): string => {
  const handles = [sourceHandle, targetHandle].filter((handle) => handle !== undefined);
  return handles.length === 0 ? '' : `|"${handles.map(plain).join(' to ')}"|`;
};

/** What is no letter, digit or plain sign as Mermaid writes characters by number. */
const plain = (text: string): string => text.replaceAll(/[^\p{L}\p{N} _.,:/-]/gu, (sign) => `#${sign.codePointAt(0)};`);
