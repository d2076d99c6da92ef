/** The files that are made from the source: `npm run generate` writes them, `test/guards` compares them. */
import { settings } from '../../src/config/schema.ts';
import type { Setting } from '../../src/config/setting.ts';
import { errorTable } from '../../src/domain/errors.ts';
import { flowFileSchema } from '../../src/engine/load/flow-schema.ts';
import { kinds } from '../../src/nodes/index.ts';
import { serviceInProcess } from './service-in-process.ts';

const rows = Object.values<Setting<unknown>>(settings);

/** Depends on the machine, so the file names the rule instead. */
const shownDefault = ({ name, fallback }: Setting<unknown>): string => (name === 'WORKERS' ? '' : (fallback ?? ''));

/** A secret may be in a file. */
const shownDescription = ({ name, description, secret }: Setting<unknown>): string =>
  secret === true ? `${description}; or the file ${name}_FILE` : description;

const envExample = (): string => {
  const lines = rows.map((setting) => `# ${shownDescription(setting)}\n#${setting.name}=${shownDefault(setting)}\n`);
  return `# Every setting of Sluice with its default. Copy to .env and uncomment what you change.\n\n${lines.join('\n')}`;
};

const table = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const configuration = (): string => {
  const body = rows.map((setting) => {
    const value = shownDefault(setting);
    return [`\`${setting.name}\``, value === '' ? '' : `\`${value}\``, shownDescription(setting)];
  });
  return `# Configuration

Environment variables; a \`.env\` file in the working directory is read too, and what is set already wins. Durations
are written as \`500ms\`, \`30s\`, \`10m\`, \`1d\`, sizes as a number of bytes or with \`KiB\`, \`MiB\`, \`GiB\`. All problems are
reported at once, each with the variable's name, and the process exits with code 1.

${table(['Variable', 'Default', 'What it does'], body)}

## Several storages

Uploads and flows name a storage by its id (\`storageId\`); without one it is \`default\`: the bucket of \`S3_BUCKET\`,
else the directory \`files\` in \`DATA_DIR\`. \`STORAGES_FILE\` adds others, and may say itself what \`default\` is:

\`\`\`yaml
disk: { type: local, directory: /mnt/disk }
archive:
  type: s3
  bucket: archive
  endpoint: https://s3.example.org
  accessKeyId: { secret: ARCHIVE_KEY }
  secretAccessKey: { secret: ARCHIVE_SECRET }
\`\`\`

A storage in S3 also takes \`publicEndpoint\`, \`region\`, \`forcePathStyle\`, \`prefix\` and \`equalParts\`, which mean what the settings of
that name mean. \`{ secret: ARCHIVE_KEY }\` is the variable \`SECRET_ARCHIVE_KEY\`, or the content of the file that
\`SECRET_ARCHIVE_KEY_FILE\` names. All replicas need the same file. A job keeps its files in the storage that its start
names, wherever its inputs are.
`;
};

const errors = (): string => {
  const body = Object.entries(errorTable).map(([code, { status, message, remedy, retryable }]) => [
    `\`${code}\``,
    String(status),
    message,
    remedy,
    retryable ? 'yes' : '',
  ]);
  return `# Errors

Every error has the body \`{error, code, message, timestamp, requestId, details?}\`; with \`Accept:
application/problem+json\` it carries that type. A failed job has \`error: {nodeId, message, code}\` with the same codes.
"Retried" is what the engine does with a node that ends so.

${table(['Code', 'Status', 'Meaning', 'What to do', 'Retried'], body)}
`;
};

interface OptionSchema {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly anyOf?: readonly OptionSchema[];
}

/** What an option may be, in a word or two. */
const valuesOf = ({ enum: words, anyOf, minimum, maximum, type = '' }: OptionSchema): string => {
  if (anyOf !== undefined) return anyOf.map(valuesOf).join(' or ');
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(' ');
  return minimum === undefined ? type : `${type} from ${minimum}${maximum === undefined ? '' : ` to ${maximum}`}`;
};

const nodes = (): string => {
  const sections = Object.values(kinds).map((kind) => {
    const options = Object.entries(kind.options.properties as Record<string, OptionSchema>);
    const body = options.map(([name, schema]) => [
      `\`${name}\``,
      valuesOf(schema),
      schema.default === undefined ? '' : `\`${schema.default}\``,
      schema.description ?? '',
    ]);
    const accepts = kind.accepts.length === 0 ? 'uploads' : kind.accepts.map((glob) => `\`${glob}\``).join(', ');
    const list = body.length === 0 ? 'No options.' : table(['Option', 'Values', 'Default', 'What it does'], body);
    return `## ${kind.name} (\`${kind.kind}\`)\n\nTakes ${accepts}.\n\n${list}\n`;
  });
  return `# Node kinds

Every node may also carry \`keepOutput\`, \`retries\` and \`timeout\` (milliseconds).

${sections.join('\n')}`;
};

const openapi = async (): Promise<string> => {
  const service = await serviceInProcess();
  try {
    const response = await fetch(`${service.url}/api/openapi.json`);
    return `${JSON.stringify(await response.json(), null, 2)}\n`;
  } finally {
    await service.close();
  }
};

/** Their content by their path in the repository. */
export const generatedFiles = async (): Promise<Readonly<Record<string, string>>> => ({
  '.env.example': envExample(),
  'docs/configuration.md': configuration(),
  'docs/errors.md': errors(),
  'docs/nodes.md': nodes(),
  'docs/openapi.json': await openapi(),
  'flows/flow.schema.json': `${JSON.stringify(flowFileSchema(kinds), null, 2)}\n`,
});
