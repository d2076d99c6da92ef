/** What `docker-compose.yml` and the Dockerfile say, for tests that hold it against something or do it. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image?: string;
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  /** The only one is `.env`. */
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required?: boolean }>>;
  readonly deploy?: { readonly replicas?: number };
  readonly healthcheck?: { readonly test?: readonly string[] };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export interface Dockerfile {
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCommand: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const project = new URL('../../', import.meta.url);

/** The compose file with its variables taken from `env`, which stands for `.env`, and with what services get of that. */
export const readComposeFile = (env: Environment = {}): ComposeFile => {
  const file = fill(parse(readFileSync(new URL('docker-compose.yml', project), 'utf8')), env) as ComposeFile;
  const services = Object.entries(file.services).map(([name, service]) => {
    const given = service.env_file === undefined ? {} : env;
    return [name, { ...service, environment: { ...given, ...service.environment } }];
  });
  return { ...file, services: Object.fromEntries(services) };
};

const fill = (value: unknown, env: Environment): unknown => {
  if (typeof value === 'string') return fillText(value, env);
  if (Array.isArray(value)) return value.map((one) => fill(one, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, env)]));
};

/** `${NAME-default}` where it is not set, `${NAME:-default}` also where it is empty; no other form is used. */
const fillText = (text: string, env: Environment): string =>
  text.replaceAll(/\$\{(\w+)(:?)-([^}]*)\}|\$/g, (found, name?: string, colon?: string, fallback = '') => {
    if (name === undefined) throw new Error(`${found} in ${text} is no form that the tests know`);
    const given = env[name];
    return given === undefined || (given === '' && colon === ':') ? fallback : given;
  });

/** The last stage of the Dockerfile. */
export const readDockerfile = (): Dockerfile => {
  const text = readFileSync(new URL('Dockerfile', project), 'utf8');
  const words = (pattern: RegExp): string => {
    const [, found] = pattern.exec(text) ?? [];
    if (found === undefined) throw new Error(`the Dockerfile has no ${pattern}`);
    return found;
  };
  const pairs = words(/^ENV (.*)$/m).split(' ');
  return {
    env: Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string])),
    command: JSON.parse(words(/^CMD (\[.*\])$/m)),
    healthCommand: JSON.parse(words(/^HEALTHCHECK .*CMD (\[.*\])$/m)),
  };
};
