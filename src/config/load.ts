/** The only reader of the environment. */
import { existsSync } from 'node:fs';
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
    const given = env[setting.name]?.trim();
    const text = given === undefined || given === '' ? setting.fallback : given;
    if (text === undefined) return [key, undefined];
    try {
      return [key, setting.read(text)];
    } catch (error) {
      problems.push(`${setting.name} ${(error as Error).message}, not "${text}"`);
      return [key, undefined];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(Object.fromEntries(entries)) as Config;
};
