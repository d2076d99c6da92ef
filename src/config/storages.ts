/** The storages: the one of the environment, `default`, and those of `STORAGES_FILE`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, type TProperties, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { type Config, ConfigError, type Env, readSecret } from './load.ts';

const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false });
const words = Type.String({ minLength: 1 });
/** The text itself, or the name of a secret that the environment has: `SECRET_NAME`, or the file `SECRET_NAME_FILE`. */
const secret = Type.Union([words, strict({ secret: Type.String({ pattern: '^[A-Z][A-Z0-9_]*$' }) })]);

const address = Type.String({ pattern: '^https?://[^/]+/?$' });

/** By their `type`: the fields of a storage, which mean what the setting of that name means. */
const kinds = {
  local: strict({ type: Type.Literal('local'), directory: words }),
  s3: strict({
    type: Type.Literal('s3'),
    bucket: words,
    endpoint: Type.Optional(address),
    publicEndpoint: Type.Optional(address),
    region: Type.Optional(words),
    accessKeyId: Type.Optional(secret),
    secretAccessKey: Type.Optional(secret),
    forcePathStyle: Type.Optional(Type.Boolean()),
    prefix: Type.Optional(words),
    equalParts: Type.Optional(Type.Boolean()),
  }),
};

type Secret = Static<typeof secret>;

/** What a storage is opened with. */
export type StorageSettings =
  | { readonly type: 'local'; readonly directory: string }
  | {
      readonly type: 's3';
      readonly bucket: string;
      readonly endpoint?: string | undefined;
      readonly publicEndpoint?: string | undefined;
      readonly region?: string | undefined;
      readonly accessKeyId?: string | undefined;
      readonly secretAccessKey?: string | undefined;
      readonly forcePathStyle?: boolean | undefined;
      readonly prefix?: string | undefined;
      readonly equalParts?: boolean | undefined;
    };

/** All storages by their ids. */
export type Storages = Readonly<Record<string, StorageSettings>> & { readonly default: StorageSettings };

/** Ids stand in paths of URLs. */
const idPattern = /^[\w.-]{1,64}$/;

/** Throws `ConfigError` with every problem of the file. */
export const loadStorages = (config: Config, env: Env = process.env): Storages => {
  const storages = config.storagesFile === undefined ? {} : readStorages(config.storagesFile, env);
  if (config.s3Bucket !== undefined && 'default' in storages) {
    throw new ConfigError(['STORAGES_FILE has a storage "default", and S3_BUCKET is set too: leave one of them out']);
  }
  return { default: defaultStorage(config), ...storages };
};

/** A bucket when there is one, else a directory. */
const defaultStorage = (config: Config): StorageSettings =>
  config.s3Bucket === undefined
    ? { type: 'local', directory: join(config.dataDirectory, 'files') }
    : {
        type: 's3',
        bucket: config.s3Bucket,
        endpoint: config.s3Endpoint,
        publicEndpoint: config.s3PublicEndpoint,
        region: config.s3Region,
        accessKeyId: config.s3AccessKeyId,
        secretAccessKey: config.s3SecretAccessKey,
        forcePathStyle: config.s3ForcePathStyle,
        prefix: config.s3Prefix,
        equalParts: config.s3EqualParts,
      };

const readStorages = (path: string, env: Env): Record<string, StorageSettings> => {
  const problems: string[] = [];
  const storages: Record<string, StorageSettings> = {};
  for (const [id, value] of Object.entries(readFile(path))) {
    const found = problemsOf(id, value);
    problems.push(...found.map((problem) => `STORAGES_FILE: "${id}" ${problem}`));
    if (found.length > 0) continue;
    try {
      storages[id] = withSecrets(value as StorageSettings, env);
    } catch (error) {
      problems.push(`STORAGES_FILE: "${id}": ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return storages;
};

/** YAML, of which JSON is a part. */
const readFile = (path: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new ConfigError([`STORAGES_FILE cannot be read: ${(error as Error).message}`]);
  }
  throw new ConfigError(['STORAGES_FILE must hold storages by their ids']);
};

const problemsOf = (id: string, value: unknown): readonly string[] => {
  if (!idPattern.test(id)) return ['is no id: letters, digits, ".", "_" and "-", at most 64'];
  const { type } = (value ?? {}) as { readonly type?: unknown };
  if (type !== 'local' && type !== 's3') return ['must have the type "local" or "s3"'];
  const errors = Value.Errors(kinds[type], value).filter(({ schemaPath }) => !schemaPath.includes('/anyOf/'));
  return errors.map(({ instancePath, message, params }) => {
    const { additionalProperties: unknown } = params as { readonly additionalProperties?: readonly string[] };
    if (unknown !== undefined) return `has the unknown field ${unknown.join(', ')}`;
    return `${instancePath.slice(1)} ${message}`.trim();
  });
};

const withSecrets = (storage: StorageSettings, env: Env): StorageSettings =>
  Object.fromEntries(
    Object.entries<Secret | boolean | undefined>(storage).map(([key, value]) => [
      key,
      typeof value === 'object' ? readSecret(value.secret, env) : value,
    ]),
  ) as StorageSettings;
