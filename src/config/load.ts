/** The only reader of the environment. */
import { existsSync, readFileSync } from 'node:fs';
import { settings } from './schema.ts';
import type { Setting } from './setting.ts';

/** The value of every setting. */
export type Config = { readonly [K in keyof typeof settings]: ReturnType<(typeof settings)[K]['read']> };

/** Every problem of the environment, a line each, with the variable's name. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads a `.env` file of the working directory into the environment; what is set already stays. */
export const loadEnvFile = (): void => {
  if (existsSync('.env')) process.loadEnvFile('.env');
};

/** The one setting that commands need which work without a service. */
export const loadPlugins = (env: Readonly<Record<string, string | undefined>> = process.env): readonly string[] =>
  settings.plugins.read(env[settings.plugins.name] ?? '');

/** Reads all settings; an empty variable counts as not set. Throws `ConfigError`. */
export const loadConfig = (env: Readonly<Record<string, string | undefined>> = process.env): Config => {
  const problems: string[] = [];
  const entries = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
    try {
      const text = given(env, setting) ?? setting.fallback;
      return [key, text === undefined ? undefined : read(setting, text)];
    } catch (error) {
      problems.push(`${setting.name} ${(error as Error).message}`);
      return [key, undefined];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(Object.fromEntries(entries)) as Config;
};

/** What the environment says, in the variable or in the file that another one names. */
const given = (env: Readonly<Record<string, string | undefined>>, setting: Setting<unknown>): string | undefined => {
  const text = env[setting.name]?.trim() || undefined;
  const path = setting.secret === true ? env[`${setting.name}_FILE`]?.trim() || undefined : undefined;
  if (path === undefined) return text;
  if (text !== undefined) throw new Error(`is set, and ${setting.name}_FILE too: leave one of them out`);
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    throw new Error(`cannot be read from ${setting.name}_FILE: ${(error as Error).message}`);
  }
};

const read = <T>(setting: Setting<T>, text: string): T => {
  try {
    return setting.read(text);
  } catch (error) {
    const shown = setting.secret === true ? '' : `, not "${text}"`;
    throw new Error(`${(error as Error).message}${shown}`);
  }
};
