/**
 * `npx sluice`: finds the command in `flows/` and runs it. Exit codes: 0 done, 1 it went wrong, 2 it was called
 * wrongly, 128 and the number of the signal when it was interrupted. Results go to stdout, all else to stderr.
 */
import { ConfigError, loadEnvFile } from '../config/load.ts';
import { ServiceError } from '../domain/errors.ts';
import { FlowLoadError } from '../engine/load/flow-problem.ts';
import { version } from '../version.ts';
import { type Command, CommandError, type CommandGroup, UsageError } from './command.ts';
import { flowCommands } from './flows/index.ts';

const groups: Readonly<Record<string, CommandGroup>> = { flows: flowCommands };

const isHelp = (arg: string | undefined): boolean => arg === '--help' || arg === '-h' || arg === 'help';

const run = async ([groupName, name, ...args]: readonly string[]): Promise<number> => {
  if (isHelp(groupName)) return say(overview());
  if (groupName === '--version' || groupName === '-v') return say(version);
  const group = pick(groups, groupName, '');
  if (isHelp(name)) return say(groupHelp(groupName));
  const command = pick(group.commands, name, `${groupName} `);
  if (args.some((arg) => arg === '--help' || arg === '-h')) return say(commandHelp(`${groupName} ${name}`, command));
  return command.run(args);
};

const say = (text: string): number => {
  process.stdout.write(`${text}\n`);
  return 0;
};

const pick = <Item>(items: Readonly<Record<string, Item>>, name: string | undefined, before: string): Item => {
  const known = `known: ${Object.keys(items)
    .map((key) => `${before}${key}`)
    .join(', ')}`;
  if (name === undefined) throw new UsageError(`a command is missing; ${known}`);
  const item = Object.hasOwn(items, name) ? items[name] : undefined;
  if (item === undefined) throw new UsageError(`there is no command "${before}${name}"; ${known}`);
  return item;
};

const overview = (): string => {
  const lists = Object.keys(groups).map(groupHelp);
  return [`Sluice ${version}`, ...lists, 'The service itself is started by "npm start".'].join('\n\n');
};

const groupHelp = (groupName = ''): string => {
  const { summary, commands } = groups[groupName] ?? { summary: '', commands: {} };
  const lines = Object.entries(commands).map(
    ([name, command]) => `  ${`sluice ${groupName} ${name} ${command.usage}`.trimEnd()}\n      ${command.summary}`,
  );
  return [`${summary}:`, ...lines].join('\n');
};

const commandHelp = (name: string, { usage, summary, details }: Command): string => {
  const width = Math.max(0, ...details.map(([option]) => option.length));
  const lines = details.map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning}`);
  return [`sluice ${name} ${usage}`.trimEnd(), summary, ...(lines.length > 0 ? [lines.join('\n')] : [])].join('\n\n');
};

/** Tells the error; gives the exit code. */
const tell = (error: unknown): number => {
  const text = error instanceof Error ? describe(error) : String(error);
  process.stderr.write(`${text}\n`);
  return error instanceof CommandError ? error.exitCode : isParseError(error) ? 2 : 1;
};

const describe = (error: Error): string => {
  if (error instanceof UsageError) return `sluice: ${error.message} (--help shows how)`;
  // Node goes on to explain how arguments may begin with a dash.
  if (isParseError(error)) return `sluice: ${error.message.split('. ')[0]} (--help shows how)`;
  if (error instanceof ServiceError) return `sluice: ${error.code}: ${error.message}`;
  if (error instanceof FlowLoadError || error instanceof ConfigError) return error.message;
  // A file that is not there is no fault of the program.
  return error instanceof CommandError || 'syscall' in error ? `sluice: ${error.message}` : (error.stack ?? '');
};

const isParseError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');

// Whoever reads only the first lines has what was wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
try {
  loadEnvFile();
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = tell(error);
}
