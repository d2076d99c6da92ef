import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { loadStorages } from '../../src/config/storages.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** The storages that a file with this content and this environment make. */
const load = async (t: Test, content: string, env: Readonly<Record<string, string>> = {}) => {
  const path = join(await temporaryDirectory(t), 'storages.yaml');
  await writeFile(path, content);
  return loadStorages(loadConfig({ STORAGES_FILE: path, ...env }), env);
};

t.test('without a file there is one storage: a directory, or a bucket', (t) => {
  t.strictSame(loadStorages(loadConfig({ DATA_DIR: '/data' }), {}), {
    default: { type: 'local', directory: '/data/files' },
  });
  t.match(loadStorages(loadConfig({ S3_BUCKET: 'files', S3_PREFIX: 'a' }), {}), {
    default: { type: 's3', bucket: 'files', prefix: 'a', equalParts: false },
  });
  t.end();
});

t.test('a file brings storages beside it, in YAML or JSON, with secrets from the environment', async (t) => {
  const secretFile = join(await temporaryDirectory(t), 'secret');
  await writeFile(secretFile, 'of the file\n');
  const env = { DATA_DIR: '/data', SECRET_KEY: 'the key', SECRET_ARCHIVE_FILE: secretFile };
  const archive = {
    type: 's3',
    bucket: 'archive',
    endpoint: 'http://s3:9000',
    region: 'eu-central-1',
    accessKeyId: { secret: 'KEY' },
    secretAccessKey: { secret: 'ARCHIVE' },
    forcePathStyle: false,
    prefix: 'sluice',
    equalParts: true,
  };
  const yaml = await load(
    t,
    `disk: { type: local, directory: /mnt } # another disk\narchive: ${JSON.stringify(archive)}`,
    env,
  );
  t.strictSame(yaml, {
    default: { type: 'local', directory: '/data/files' },
    disk: { type: 'local', directory: '/mnt' },
    archive: { ...archive, accessKeyId: 'the key', secretAccessKey: 'of the file' },
  });
  t.strictSame(await load(t, JSON.stringify({ archive, disk: { type: 'local', directory: '/mnt' } }), env), yaml);
});

t.test('a file may say what the default is, once', async (t) => {
  const content = 'default: { type: local, directory: /mnt }';
  t.strictSame(await load(t, content), { default: { type: 'local', directory: '/mnt' } });
  await t.rejects(load(t, content, { S3_BUCKET: 'files' }), { message: /"default", and S3_BUCKET is set too/ });
});

t.test('all problems are told at once, and no secret with them', async (t) => {
  const content = `
a/b: { type: local, directory: x }
ftp: { type: ftp }
none:
wide: { type: local, directory: x, depth: 1 }
bare: { type: s3 }
odd: { type: s3, bucket: b, endpoint: nowhere, secretAccessKey: 5 }
open: { type: s3, bucket: b, accessKeyId: { secret: MISSING } }
`;
  const { message } = (await load(t, content).catch((error) => error)) as Error;
  for (const line of [
    /"a\/b" is no id/,
    /"ftp" must have the type "local" or "s3"/,
    /"none" must have the type/,
    /"wide" has the unknown field depth/,
    /"bare" .*bucket/,
    /"odd" endpoint must match/,
    /"odd" secretAccessKey must/,
    /"open": SECRET_MISSING is not set, nor is SECRET_MISSING_FILE/,
  ]) {
    t.match(message, line);
  }
});

t.test('a file that is none is told', async (t) => {
  for (const content of ['- a', 'text', ''])
    await t.rejects(load(t, content), { message: /must hold storages/ }, content);
  await t.rejects(load(t, '{'), { message: /STORAGES_FILE cannot be read/ });
  t.throws(() => loadStorages(loadConfig({ STORAGES_FILE: '/none' }), {}), { message: /cannot be read: ENOENT/ });
});
