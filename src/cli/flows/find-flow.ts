/** Where the commands find flows: in the directory that the service would load. */
import { resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import type { FlowDefinition } from '../../domain/flow.ts';
import { displayPath, formatProblem } from '../../engine/load/flow-problem.ts';
import { readFlows } from '../../engine/load/load-flows.ts';
import { CommandError } from '../command.ts';
import { knownKinds } from './known-kinds.ts';

/** Of the commands that need one flow. */
export const flowsOption = { flows: { type: 'string' } } as const;

/** The directory that was named, else the setting's; the other settings matter only then. */
export const flowsDirectory = (named: string | undefined): string => resolve(named ?? loadConfig().flowsDirectory);

/** The flow of that id. What is wrong with other files does not matter, unless the flow may be in one of them. */
export const findFlow = async (directory: string, flowId: string): Promise<FlowDefinition> => {
  const { flows, problems } = await readFlows({ directory, kinds: await knownKinds() });
  const flow = flows[flowId];
  if (flow !== undefined) return flow;
  const known = Object.keys(flows).join(', ') || 'none';
  const missing = `there is no valid flow "${flowId}" in ${displayPath(directory) || '.'}; valid: ${known}`;
  throw new CommandError([missing, ...problems.map(formatProblem)].join('\n'));
};
