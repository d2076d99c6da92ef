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

/** The variables of an environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The one setting that commands need which work without a service. */
export const loadPlugins = (env: Env = process.env): readonly string[] =>
  settings.plugins.read(env[settings.plugins.name] ?? '');

/** Reads all settings; an empty variable counts as not set. Throws `ConfigError`. */
export const loadConfig = (env: Env = process.env): Config => {
  const problems: string[] = [];
  const entries = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
    try {
      return [key, readSetting(setting, env)];
    } catch (error) {
      problems.push((error as Error).message);
      return [key, undefined];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(Object.fromEntries(entries)) as Config;
};

/** Throws an error with the whole line about the variable. */
const readSetting = (setting: Setting<unknown>, env: Env): unknown => {
  const { name = setting.name, text = setting.fallback } = find(setting, env) ?? {};
  if (text === undefined) return undefined;
  try {
    return setting.read(text);
  } catch (error) {
    throw new Error(`${name} ${(error as Error).message}${setting.secret ? '' : `, not "${text}"`}`);
  }
};

interface Found {
  readonly name: string;
  readonly text: string;
}

/** What the environment says: in the variable, in one of its other names, or in the file that another one names. */
const find = (setting: Pick<Setting<unknown>, 'name' | 'secret' | 'aliases'>, env: Env): Found | undefined => {
  const file = setting.secret ? findInFile(setting.name, env) : undefined;
  for (const name of [setting.name, ...(setting.aliases ?? [])]) {
    const text = env[name]?.trim();
    if (!text) continue;
    if (file) throw new Error(`${name} is set, and ${setting.name}_FILE too: leave one of them out`);
    return { name, text };
  }
  return file;
};

/** The way in which Docker and Kubernetes hand secrets over. */
const findInFile = (name: string, env: Env): Found | undefined => {
  const path = env[`${name}_FILE`]?.trim();
  if (!path) return undefined;
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? undefined : { name, text };
  } catch (error) {
    throw new Error(`${name} cannot be read from ${name}_FILE: ${(error as Error).message}`);
  }
};

/** The secret that files call by this name. Throws an `Error` that names the variables which could hold it. */
export const readSecret = (name: string, env: Env): string => {
  const variable = `SECRET_${name}`;
  const found = find({ name: variable, secret: true }, env);
  if (found === undefined) throw new Error(`${variable} is not set, nor is ${variable}_FILE`);
  return found.text;
};
