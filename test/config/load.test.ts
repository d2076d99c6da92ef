import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chdir, cwd } from 'node:process';
import t from 'tap';
import { ConfigError, loadConfig, loadEnvFile, loadPlugins } from '../../src/config/load.ts';
import { settings } from '../../src/config/schema.ts';
import { temporaryDirectory } from '../support/temporary.ts';

t.test('an empty environment gives the defaults', (t) => {
  const config = loadConfig({});
  t.match(config, {
    host: '0.0.0.0',
    port: 3000,
    basePath: 'sluice',
    maxUploadSize: 5 * 2 ** 30,
    flowTimeout: 600_000,
    uploadIdleTimeout: 60_000,
    uploadTtl: 86_400_000,
    durability: 'full',
    console: true,
    docs: false,
  });
  const { publicUrl, scratchDirectory, quotaOpenUploads, quotaStoredBytes } = config;
  for (const unset of [publicUrl, scratchDirectory, quotaOpenUploads, quotaStoredBytes]) t.equal(unset, undefined);
  t.equal(Object.isFrozen(config), true);
  t.end();
});

t.test('every variable is read', (t) => {
  const config = loadConfig({
    PORT: ' 8080 ',
    PUBLIC_URL: 'https://files.example.org/',
    MAX_UPLOAD_SIZE: '2 KiB',
    FLOW_TIMEOUT: '90s',
    CONSOLE: 'off',
    DURABILITY: 'process',
    SCRATCH_DIR: '/scratch',
    HOST: '',
    QUOTA_OPEN_UPLOADS: '0',
    QUOTA_STORED_BYTES: '1TiB',
    PLUGINS: ' ./kinds.ts, @shop/kinds,, ',
  });
  t.match(config, {
    port: 8080,
    publicUrl: 'https://files.example.org',
    maxUploadSize: 2048,
    flowTimeout: 90_000,
    console: false,
    durability: 'process',
    scratchDirectory: '/scratch',
    quotaOpenUploads: 0,
    quotaStoredBytes: 2 ** 40,
    host: '0.0.0.0',
    plugins: ['./kinds.ts', '@shop/kinds'],
  });
  t.same(loadPlugins({ PLUGINS: './kinds.ts', PORT: 'none of its business' }), ['./kinds.ts']);
  t.same([loadPlugins({}), loadConfig({}).plugins], [[], []]);
  t.end();
});

t.test('all problems are reported at once, each with its variable', (t) => {
  const bad = {
    PORT: '70000',
    WORKERS: '-1',
    DURABILITY: 'maybe',
    MAX_UPLOAD_SIZE: '5 apples',
    FLOW_TIMEOUT: '1 week',
    CONSOLE: 'yes',
    PUBLIC_URL: 'https://example.org/path',
    LOG_LEVEL: 'loud',
    QUOTA_OPEN_UPLOADS: '-1',
    QUOTA_STORED_BYTES: 'all',
  };
  try {
    loadConfig(bad);
    t.fail('it was accepted');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    t.equal(error.problems.length, Object.keys(bad).length);
    for (const [name, value] of Object.entries(bad)) {
      const line = error.problems.find((problem) => problem.startsWith(`${name} must be`));
      t.match(line, new RegExp(`"${value}"`), name);
      t.match(error.message, line);
    }
  }
  t.end();
});

t.test('sizes and durations have bounds', (t) => {
  for (const env of [
    { MAX_UPLOAD_SIZE: '99999999TiB' },
    { MAX_UPLOAD_SIZE: '-5' },
    { FLOW_TIMEOUT: '0s' },
    { FLOW_TIMEOUT: '25d' },
    { FLOW_TIMEOUT: '10' },
    { UPLOAD_TTL: '367d' },
    { PORT: '1e3' },
    { PORT: '80.5' },
  ]) {
    t.throws(() => loadConfig(env), { name: 'ConfigError' }, JSON.stringify(env));
  }
  t.end();
});

t.test('a deadline may be further away than a timer can count', (t) => {
  t.equal(loadConfig({ UPLOAD_TTL: '366d' }).uploadTtl, 366 * 86_400_000);
  t.throws(() => loadConfig({ FLOW_TIMEOUT: '366d' }), /at most 24 days/);
  t.end();
});

t.test('a .env file is read, and what is set already wins', async (t) => {
  const before = cwd();
  const directory = await temporaryDirectory(t);
  await writeFile(join(directory, '.env'), 'SLUICE_TEST_ONE=file\nSLUICE_TEST_TWO=file\n');
  process.env['SLUICE_TEST_TWO'] = 'set';
  t.teardown(() => {
    chdir(before);
    delete process.env['SLUICE_TEST_ONE'];
    delete process.env['SLUICE_TEST_TWO'];
  });
  chdir(directory);
  loadEnvFile();
  t.strictSame([process.env['SLUICE_TEST_ONE'], process.env['SLUICE_TEST_TWO']], ['file', 'set']);
});

t.test('a secret may be in a file, and no error shows it', async (t) => {
  const path = join(await temporaryDirectory(t), 'secret');
  await writeFile(path, 'redis://:hidden@redis:6379/2\n');
  t.equal(loadConfig({ REDIS_URL_FILE: path }).redisUrl, 'redis://:hidden@redis:6379/2');
  t.throws(
    () => loadConfig({ REDIS_URL_FILE: path, REDIS_URL: 'redis://redis' }),
    /REDIS_URL is set, and REDIS_URL_FILE/,
  );
  t.throws(() => loadConfig({ REDIS_PASSWORD_FILE: `${path}-none` }), /REDIS_PASSWORD cannot be read .*ENOENT/);
  t.throws(() => loadConfig({ HOST_FILE: path, PORT: 'x' }), /PORT must be .*, not "x"/);
  for (const url of ['http://:hidden@redis', 'redis://', 'redis://:hidden@redis/db', 'hidden']) {
    const { message } = t.throws(() => loadConfig({ REDIS_URL: url })) as unknown as Error;
    t.match(message, /REDIS_URL must be an address/);
    t.notMatch(message, /hidden/);
  }
});

t.test('sentinels are hosts with ports', (t) => {
  const { redisSentinels } = loadConfig({ REDIS_SENTINELS: 'one.example.org:26379, [::1]:26380' });
  t.same(redisSentinels, [
    { host: 'one.example.org', port: 26379 },
    { host: '::1', port: 26380 },
  ]);
  for (const wrong of ['one', 'one:', 'one:99999', 'a b:1', 'user@one:1']) {
    t.throws(() => loadConfig({ REDIS_SENTINELS: wrong }), /REDIS_SENTINELS must be hosts/);
  }
  t.end();
});

t.test('no two settings share a variable', (t) => {
  const names = Object.values(settings).map(({ name }) => name);
  t.equal(new Set(names).size, names.length);
  t.end();
});

t.test('a secret that signs is long, and is not shown', (t) => {
  t.equal(loadConfig({ FILES_URL_SECRET: 'x'.repeat(32) }).filesUrlSecret, 'x'.repeat(32));
  const { message } = t.throws(() => loadConfig({ FILES_URL_SECRET: 'too short' })) as unknown as Error;
  t.match(message, /FILES_URL_SECRET must have 32 characters or more/);
  t.notMatch(message, /too short/);
  t.end();
});

t.test('a setting can have other names, its own first', (t) => {
  t.equal(loadConfig({ AWS_DEFAULT_REGION: 'a' }).s3Region, 'a');
  t.equal(loadConfig({ AWS_REGION: 'b', AWS_DEFAULT_REGION: 'a' }).s3Region, 'b');
  t.equal(loadConfig({ S3_REGION: 'c', AWS_REGION: 'b' }).s3Region, 'c');
  t.throws(() => loadConfig({ AWS_ENDPOINT_URL: 'nowhere' }), { message: /AWS_ENDPOINT_URL must be/ });
  t.end();
});
