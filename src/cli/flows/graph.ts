import { parseArgs } from 'node:util';
import { type RunCommand, requireCount } from '../command.ts';
import { drawGraph } from './draw-graph.ts';
import { findFlow, flowsDirectory, flowsOption } from './find-flow.ts';
import { knownKinds } from './known-kinds.ts';

/** `sluice flows graph`: a picture of a flow, as text that GitHub, GitLab and many editors draw. */
export const printGraph: RunCommand = async (args) => {
  const { values, positionals } = parseArgs({ args: [...args], options: flowsOption, allowPositionals: true });
  const [flowId = ''] = requireCount(positionals, ['flowId']);
  const flow = await findFlow(flowsDirectory(values.flows), flowId);
  process.stdout.write(drawGraph(flow, await knownKinds()));
  return 0;
};
