/**
 * `sluice flows`: what is done with flow files without a running service. One file per command, loaded when it is
 * called, so that help comes at once.
 */
import type { CommandGroup } from '../command.ts';

const flowsDetail = ['--flows dir', 'directory of the flow files; default: FLOWS_DIR'] as const;

export const flowCommands: CommandGroup = {
  summary: 'Check, draw and try flows',
  commands: {
    validate: {
      usage: '[dir] [--json]',
      summary: 'Check all flow files of a directory; exits with 1 when there is a problem',
      details: [
        ['dir', 'default: FLOWS_DIR'],
        ['--json', 'print {valid, flows, problems} instead of a line for each problem'],
      ],
      run: async (args) => (await import('./validate.ts')).validateFlows(args),
    },
    graph: {
      usage: '<flowId> [--flows dir]',
      summary: 'Print a flow as a Mermaid flowchart',
      details: [flowsDetail],
      run: async (args) => (await import('./graph.ts')).printGraph(args),
    },
    schema: {
      usage: '',
      summary: 'Print the JSON Schema of flow files, for editors',
      details: [],
      run: async (args) => (await import('./schema.ts')).printSchema(args),
    },
    run: {
      usage:
        '<flowId> <file...> [--out dir] [--input nodeId=file ...] [--param key=value ...] [--flows dir] [--dry-run]',
      summary: 'Run a flow over files of this machine and write what it makes',
      details: [
        ['file', 'given to the inputs in the order of the flow'],
        ['--out dir', 'where the outputs are written; default: the working directory'],
        ['--input nodeId=file', 'a file for this input; may be repeated'],
        ['--param key=value', 'a start parameter of the flow; lists and objects as JSON; may be repeated'],
        flowsDetail,
        ['--dry-run', 'print what would run, in which order, and run nothing'],
      ],
      run: async (args) => (await import('./run.ts')).runFlow(args),
    },
  },
};
