/**
 * Flows in code. The compiler checks what the loader checks again for every format: edges name nodes of the flow, and
 * a node can take what the other delivers. The facts it needs are types only; a flow stays plain data.
 */
import { copyCallSite, markCallSite } from './call-site.ts';
import type { FlowDefinition, FlowNode } from './flow.ts';

declare const facts: unique symbol;
declare const outputs: unique symbol;

/** A node as a constructor makes it: its key beside its plain data. */
export interface KeyedNode<
  Id extends string,
  Kind extends string,
  Accepts extends string,
  Produces extends string,
  Keep extends boolean,
  Out extends string = never,
  In extends string = never,
> extends FlowNode {
  readonly id: Id;
  readonly type: Kind;
  readonly [facts]?: {
    readonly accepts: Accepts;
    readonly produces: Produces;
    readonly keep: Keep;
    readonly out: Out;
    readonly in: In;
  };
}

/** Says nothing of `facts`: what a parameter says of them, the compiler would take for the facts of its arguments. */
interface AnyNode extends FlowNode {
  readonly id: string;
}

/** A media type glob as a template: `image/*` is every string that begins with `image/`. */
type Template<Glob extends string> = Glob extends `${infer Main}/${infer Sub}`
  ? `${Main extends '*' ? string : Main}/${Sub extends '*' ? string : Sub}`
  : string;

/** What both templates describe, `never` when they exclude each other. */
type Common<Left, Right> = Extract<Left, Right> | Extract<Right, Left>;

/** The ids of the nodes that can take `Produced` from the node `Source`. */
type Taker<Node, Source, Produced extends string> =
  Node extends KeyedNode<infer Id, string, infer Accepts, string, boolean, string, string>
    ? [Common<Template<Produced>, Template<Accepts>>] extends [never]
      ? never
      : Exclude<Id, Source>
    : never;

/** The way out of a node: one of its names, none where it has no names, any where the types do not know. */
type WayOut<Out extends string> = [Out] extends [never]
  ? { readonly sourceHandle?: never }
  : string extends Out
    ? { readonly sourceHandle?: string }
    : { readonly sourceHandle: Out };

/** The named inputs of all nodes; the loader knows which of them has which. */
type WayIn<Node> = Node extends KeyedNode<string, string, string, string, boolean, string, infer In> ? In : never;

/** Every edge that the nodes allow. */
type EdgeAmong<Nodes, Source = Nodes> =
  Source extends KeyedNode<infer Id, string, string, infer Produces, boolean, infer Out, string>
    ? {
        readonly source: Id;
        readonly target: Taker<Nodes, Id, Produces>;
        readonly targetHandle?: WayIn<Nodes>;
      } & WayOut<Out>
    : never;

type KeptId<Node> = Node extends KeyedNode<infer Id, string, string, string, true, string, string> ? Id : never;

/** A definition that knows the keys of its final outputs. */
export interface Flow<Outputs extends string = string> extends FlowDefinition {
  readonly [outputs]?: Outputs;
}

/** The keys of the final outputs of a flow: nodes that nothing consumes, and those with `keepOutput`. */
export type FlowOutputs<Defined> = Defined extends Flow<infer Outputs> ? Outputs : never;

/** Makes a definition of nodes and edges; two nodes with one id are an error. */
export const defineFlow = <const Nodes extends readonly AnyNode[], Sources extends string = never>(
  flow: Omit<FlowDefinition, 'nodes' | 'edges'> & {
    readonly nodes: Nodes;
    readonly edges: readonly (EdgeAmong<Nodes[number]> & { readonly source: Sources })[];
  },
): Flow<Exclude<Nodes[number]['id'], Sources> | KeptId<Nodes[number]>> => {
  const nodes = new Map<string, FlowNode>();
  for (const keyed of flow.nodes) {
    const { id, ...node } = keyed;
    if (nodes.has(id)) throw copyCallSite(new Error(`node "${id}" is defined twice`), keyed);
    nodes.set(id, copyCallSite(node, keyed));
  }
  return markCallSite({ ...flow, nodes: Object.fromEntries(nodes) }, defineFlow);
};
