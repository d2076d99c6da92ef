/** Which file goes into which input of a flow. */
import { access, constants, stat } from 'node:fs/promises';
import type { FlowDefinition } from '../../domain/flow.ts';
import { inputNodes, isRequired, maxFilesOf } from '../../engine/inputs.ts';
import type { NodeKinds } from '../../ports/node.ts';
import { CommandError, splitPair, UsageError } from '../command.ts';

/** The paths of the files of each input, by the key of the node. */
export type AssignedFiles = ReadonlyMap<string, readonly string[]>;

/**
 * `named` are `nodeId=file`. The other files go to the inputs that were not named, in the order of the flow: each takes
 * as many as it may have.
 */
export const assignFiles = (
  { kinds }: { readonly kinds: NodeKinds },
  flow: FlowDefinition,
  files: readonly string[],
  named: readonly string[],
): AssignedFiles => {
  const inputs = inputNodes({ kinds }, flow);
  const assigned = new Map(inputs.map((nodeId): [string, string[]] => [nodeId, []]));
  for (const pair of named) {
    const [nodeId, file] = splitPair(pair, '--input nodeId=file');
    const list = assigned.get(nodeId);
    if (list === undefined) throw new UsageError(`there is no input "${nodeId}"; inputs: ${inputs.join(', ')}`);
    if (list.push(file) > maxFilesOf(flow, nodeId)) {
      throw new UsageError(`input "${nodeId}" takes at most ${maxFilesOf(flow, nodeId)} files`);
    }
  }
  const rest = [...files];
  for (const [nodeId, list] of assigned) {
    if (list.length === 0) list.push(...rest.splice(0, maxFilesOf(flow, nodeId)));
  }
  if (rest.length > 0) throw new UsageError(`no input is left for ${rest.join(', ')}; inputs: ${inputs.join(', ')}`);
  return assigned;
};

/** Refuses required inputs without a file, for which the job would wait for ever, and files that cannot be read as such. */
export const requireFiles = async (flow: FlowDefinition, assigned: AssignedFiles): Promise<void> => {
  for (const [nodeId, files] of assigned) {
    if (files.length === 0 && isRequired(flow, nodeId))
      throw new UsageError(`input "${nodeId}" of flow "${flow.flowId}" has no file`);
    for (const file of files) {
      if (!(await stat(file)).isFile()) throw new CommandError(`${file} is not a file`);
      await access(file, constants.R_OK);
    }
  }
};
