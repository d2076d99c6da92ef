/** What a command of `sluice` is, and how it says that it cannot go on. */

export interface Command {
  /** What follows its name: `<flowId> [--flows dir]`. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  /** A line for each argument and option that the usage does not explain. */
  readonly details: readonly (readonly [name: string, meaning: string])[];
  readonly run: RunCommand;
}

/** Takes what follows the name of the command, and gives the exit code. */
export type RunCommand = (args: readonly string[]) => Promise<number>;

/** Commands by their names, under a name of their own. */
export interface CommandGroup {
  readonly summary: string;
  readonly commands: Readonly<Record<string, Command>>;
}

/** It went wrong, and the message says all there is to say. */
export class CommandError extends Error {
  readonly exitCode: number = 1;
}

/** It was called wrongly. */
export class UsageError extends CommandError {
  override readonly exitCode = 2;
}

/** The arguments, when there are as many as the command takes. */
export const requireCount = (given: readonly string[], names: readonly string[], optional = 0): readonly string[] => {
  const missing = names.slice(given.length, names.length - optional);
  if (missing.length > 0) throw new UsageError(`<${missing[0]}> is missing`);
  if (given.length > names.length) throw new UsageError(`"${given[names.length]}" is one argument too many`);
  return given;
};

/** What stands before and behind the first `=`. `form` is how it should have been written. */
export const splitPair = (pair: string, form: string): readonly [name: string, value: string] => {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`"${pair}" is not as in ${form}`);
  return [name, value];
};
