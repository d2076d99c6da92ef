import { parseArgs } from 'node:util';
import { flowFileSchema } from '../../engine/load/flow-schema.ts';
import { kinds } from '../../nodes/index.ts';
import type { RunCommand } from '../command.ts';

/** `sluice flows schema`: what editors complete and check flow files by. */
export const printSchema: RunCommand = async (args) => {
  parseArgs({ args: [...args], options: {} });
  process.stdout.write(`${JSON.stringify(flowFileSchema(kinds), null, 2)}\n`);
  return 0;
};
