import { parseArgs } from 'node:util';
import { flowFileSchema } from '../../engine/load/flow-schema.ts';
import type { RunCommand } from '../command.ts';
import { knownKinds } from './known-kinds.ts';

/** `sluice flows schema`: what editors complete and check flow files by. */
export const printSchema: RunCommand = async (args) => {
  parseArgs({ args: [...args], options: {} });
  process.stdout.write(`${JSON.stringify(flowFileSchema(await knownKinds()), null, 2)}\n`);
  return 0;
};
