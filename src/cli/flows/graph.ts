import { parseArgs } from 'node:util';
import { kinds } from '../../nodes/index.ts';
import { type RunCommand, requireCount } from '../command.ts';
import { drawGraph } from './draw-graph.ts';
import { findFlow, flowsDirectory, flowsOption } from './find-flow.ts';

/** `sluice flows graph`: a picture of a flow, as text that GitHub, GitLab and many editors draw. */
export const printGraph: RunCommand = async (args) => {
  const { values, positionals } = parseArgs({ args: [...args], options: flowsOption, allowPositionals: true });
  const [flowId = ''] = requireCount(positionals, ['flowId']);
  process.stdout.write(drawGraph(await findFlow(flowsDirectory(values.flows), flowId), kinds));
  return 0;
};
