/** Every setting of the service; `.env.example` and the README's table show the same rows, and tests keep them equal. */
import { availableParallelism } from 'node:os';
import {
  bytes,
  choice,
  duration,
  hosts,
  key,
  list,
  onOff,
  optional,
  origin,
  redisAddress,
  secret,
  text,
  whole,
} from './setting.ts';

export const settings = {
  host: text({ name: 'HOST', fallback: '0.0.0.0', description: 'Address to listen on' }),
  port: whole({
    name: 'PORT',
    fallback: '3000',
    min: 0,
    max: 65535,
    description: 'Port to listen on; 0 takes a free one',
  }),
  basePath: text({ name: 'BASE_PATH', fallback: 'sluice', description: 'First segment of every path; / for none' }),
  publicUrl: origin({
    name: 'PUBLIC_URL',
    description: 'Scheme and host that clients use; makes Location and file addresses absolute',
  }),
  logLevel: choice({
    name: 'LOG_LEVEL',
    fallback: 'info',
    words: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    description: 'Least severe level that is logged',
  }),
  dataDirectory: text({ name: 'DATA_DIR', fallback: './data', description: 'Directory of the embedded stores' }),
  dataDirectoryShared: onOff({
    name: 'DATA_DIR_SHARED',
    fallback: 'off',
    description: 'Whether DATA_DIR is on a file system that all replicas at REDIS_URL share; off allows one replica',
  }),
  scratchDirectory: optional(text, {
    name: 'SCRATCH_DIR',
    description: 'Directory for the work of nodes; default: in DATA_DIR, where results need no copy',
  }),
  scratchMax: bytes({
    name: 'SCRATCH_MAX',
    fallback: '20GiB',
    description:
      'What the work of nodes may take there at a time, bytes: the node that takes most is ended with RESOURCE_EXHAUSTED',
  }),
  flowsDirectory: text({ name: 'FLOWS_DIR', fallback: './flows', description: 'Directory of the flow definitions' }),
  flowsOnError: choice({
    name: 'FLOWS_ON_ERROR',
    fallback: 'fail',
    words: ['fail', 'skip'],
    description: 'Whether a flow file with an error stops the start or is left out',
  }),
  plugins: list({
    name: 'PLUGINS',
    fallback: '',
    description:
      'Modules with node kinds of your own, with commas between them: paths such as ./my-kinds.ts, or packages',
  }),
  durability: choice({
    name: 'DURABILITY',
    fallback: 'full',
    words: ['full', 'process'],
    description: 'What an acknowledged byte survives: full: power loss; process: a crash of the service',
  }),
  redisUrl: optional(redisAddress, {
    name: 'REDIS_URL',
    description: 'Redis or Valkey for records, jobs and events of several replicas; rediss:// for TLS; default: none',
  }),
  redisUsername: optional(text, {
    name: 'REDIS_USERNAME',
    description: 'User at Redis, instead of the one in REDIS_URL',
  }),
  redisPassword: optional(secret, {
    name: 'REDIS_PASSWORD',
    description: 'Password at Redis, instead of the one in REDIS_URL',
  }),
  redisKeyPrefix: text({
    name: 'REDIS_KEY_PREFIX',
    fallback: 'sluice',
    description: 'In front of all names in Redis; the same for all replicas',
  }),
  redisTlsCa: optional(secret, {
    name: 'REDIS_TLS_CA',
    description: 'PEM of the authority that signed the certificate of Redis; default: those of Node',
  }),
  redisTlsCert: optional(secret, {
    name: 'REDIS_TLS_CERT',
    description: 'PEM of a certificate to show to Redis',
  }),
  redisTlsKey: optional(secret, { name: 'REDIS_TLS_KEY', description: 'PEM of the key of REDIS_TLS_CERT' }),
  redisSentinels: optional(hosts, {
    name: 'REDIS_SENTINELS',
    description:
      'Sentinels that know where the master is, host:port with commas between; REDIS_URL then gives the rest',
  }),
  redisSentinelName: text({
    name: 'REDIS_SENTINEL_NAME',
    fallback: 'mymaster',
    description: 'What the sentinels call the master',
  }),
  redisSentinelPassword: optional(secret, {
    name: 'REDIS_SENTINEL_PASSWORD',
    description: 'Password at the sentinels',
  }),
  s3Bucket: optional(text, {
    name: 'S3_BUCKET',
    description: 'Bucket for all files, made when it is missing; default: none, files are in DATA_DIR',
  }),
  s3Endpoint: origin({
    name: 'S3_ENDPOINT',
    aliases: ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'],
    description: 'Address of the S3 server; default: AWS',
  }),
  s3PublicEndpoint: origin({
    name: 'S3_PUBLIC_ENDPOINT',
    description: 'Address of the S3 server for clients, where FILES_MODE sends them there; default: S3_ENDPOINT',
  }),
  s3Region: optional(text, {
    name: 'S3_REGION',
    aliases: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
    description: 'Region of the bucket; default: us-east-1',
  }),
  s3AccessKeyId: optional(secret, {
    name: 'S3_ACCESS_KEY_ID',
    description: 'Access key; default: as AWS clients find it (AWS_*, profile, role)',
  }),
  s3SecretAccessKey: optional(secret, { name: 'S3_SECRET_ACCESS_KEY', description: 'Secret of S3_ACCESS_KEY_ID' }),
  s3ForcePathStyle: optional(onOff, {
    name: 'S3_FORCE_PATH_STYLE',
    description: 'The bucket in the path instead of the host name; default: on with S3_ENDPOINT',
  }),
  s3Prefix: optional(text, { name: 'S3_PREFIX', description: 'Before the names of all objects; default: none' }),
  s3EqualParts: onOff({
    name: 'S3_EQUAL_PARTS',
    fallback: 'off',
    description: 'Parts of an upload all have the same size, as Cloudflare R2 demands',
  }),
  storagesFile: optional(text, {
    name: 'STORAGES_FILE',
    description: 'YAML or JSON file of further storages by their ids, see below; default: only the storage "default"',
  }),
  filesMode: choice({
    name: 'FILES_MODE',
    fallback: 'proxy',
    words: ['proxy', 'redirect'],
    description: 'proxy: files come through the service; redirect: from S3 itself, by an address that it signs',
  }),
  filesUrlSecret: optional(key, {
    name: 'FILES_URL_SECRET',
    description:
      'Signs the addresses of files, which then cannot be read without; 32 characters or more, the same for all replicas; default: none is signed',
  }),
  filesUrlTtl: duration({
    name: 'FILES_URL_TTL',
    fallback: '1h',
    max: 7 * 86_400_000,
    description: "So long a signed address of a file works, the service's or that of S3; at most 7 days",
  }),
  maxUploadSize: bytes({ name: 'MAX_UPLOAD_SIZE', fallback: '5GiB', description: 'Largest upload, bytes' }),
  uploadIdleTimeout: duration({
    name: 'UPLOAD_IDLE_TIMEOUT',
    fallback: '60s',
    description: 'A body that sends nothing for so long is ended; what arrived is kept',
  }),
  uploadMinRate: bytes({
    name: 'UPLOAD_MIN_RATE',
    fallback: '256',
    description: 'Bytes a second that a body must bring, on average over UPLOAD_IDLE_TIMEOUT; 0: no such rule',
  }),
  uploadTtl: duration({
    name: 'UPLOAD_TTL',
    fallback: '24h',
    max: 366 * 24 * 3_600_000,
    description: 'An upload to which nothing is added for so long, and which is not complete, is removed',
  }),
  quotaOpenUploads: optional(whole, {
    name: 'QUOTA_OPEN_UPLOADS',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    description: 'Uploads of one client that may be unfinished at a time; default: no limit',
  }),
  quotaStoredBytes: optional(bytes, {
    name: 'QUOTA_STORED_BYTES',
    description: 'Bytes that the uploads of one client may take up, announced sizes included; default: no limit',
  }),
  workers: whole({
    name: 'WORKERS',
    fallback: String(availableParallelism()),
    min: 0,
    max: 256,
    description:
      'Child processes that run nodes; 0: none, other replicas at REDIS_URL run the jobs; default: the processors',
  }),
  workerMemory: bytes({
    name: 'WORKER_MEMORY',
    fallback: '2GiB',
    description: 'Memory of one child before it is ended',
  }),
  maxImagePixels: whole({
    name: 'MAX_IMAGE_PIXELS',
    fallback: '100000000',
    min: 1,
    max: 1_000_000_000,
    description: 'Largest image that nodes decode, pixels, all frames together',
  }),
  flowTimeout: duration({
    name: 'FLOW_TIMEOUT',
    fallback: '10m',
    description: 'Time in running after which a job fails, for flows that say nothing',
  }),
  flowRetries: whole({
    name: 'FLOW_RETRIES',
    fallback: '2',
    min: 0,
    max: 20,
    description: 'Tries after the first of a node, for flows that say nothing',
  }),
  retryTtl: duration({
    name: 'RETRY_TTL',
    fallback: '24h',
    max: 366 * 24 * 3_600_000,
    description: 'For so long a failed job can be tried again; then its uploads and files are removed',
  }),
  pauseTtl: duration({
    name: 'PAUSE_TTL',
    fallback: '24h',
    max: 366 * 24 * 3_600_000,
    description: 'A job that its user has stopped for so long fails with TIMEOUT; it can still be tried again',
  }),
  resultTtl: optional(duration, {
    name: 'RESULT_TTL',
    max: 3660 * 24 * 3_600_000,
    description: 'So long after its end a job is removed with all its outputs; default: never',
  }),
  shutdownTimeout: duration({
    name: 'SHUTDOWN_TIMEOUT',
    fallback: '10s',
    description: 'After SIGTERM the process exits after so long at the latest',
  }),
  console: onOff({ name: 'CONSOLE', fallback: 'on', description: 'The built-in page at the base path' }),
  docs: onOff({ name: 'API_DOCS', fallback: 'off', description: 'A page that shows the API at /api/docs' }),
} as const;
