/**
 * `docker-compose.yml` done by processes on the loopback interface: commands, environments, volumes, order and health
 * checks are those of the file (and of the Dockerfile, for the service), so that it cannot drift from what is tested.
 * In the place of Valkey a Redis may run; without VersityGW the files are in the S3 server of the other tests, which
 * `.env` names then.
 */
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { findProgram, onPath } from '../services/debian.ts';
import { findNginx, startNginx } from '../services/nginx.ts';
import { freePort } from '../services/port.ts';
import { findRedis } from '../services/redis.ts';
import { s3Server } from '../services/s3.ts';
import { until } from '../support/wait.ts';
import { type ComposeService, readComposeFile, readDockerfile } from './file.ts';
import { mountsOf, type Place, project, translate } from './place.ts';
import { type ProcessPlan, type Running, startProcess, succeeds } from './process.ts';

export interface Container extends Running {
  readonly service: string;
  /** Of the loopback interface. */
  readonly port: number;
  /** What its health check says now. */
  isWell(): Promise<boolean>;
}

export interface Stack {
  /** Where nginx serves, such as `http://127.0.0.1:40123/sluice`. */
  readonly url: string;
  /** In the order of their start. */
  readonly containers: readonly Container[];
  /** Ends all, the last one first, and gives their exit codes. */
  stop(): Promise<readonly (number | null)[]>;
}

type Services = Readonly<Record<string, ComposeService>>;

type DotEnv = Readonly<Record<string, string>>;

/** The services, with an S3 server that is here. `undefined`: TEST_SERVICES=embedded, and something is missing. */
const findServices = async (dotEnv: DotEnv): Promise<Services | undefined> => {
  if ([findRedis(), findNginx(), findProgram('curl'), findProgram('wget')].includes(undefined)) return undefined;
  if (onPath('versitygw').length > 0) return readComposeFile(dotEnv).services;
  const s3 = await s3Server();
  if (s3 === undefined) return undefined;
  const { s3: _, ...services } = readComposeFile({
    ...dotEnv,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }).services;
  return services;
};

/**
 * Starts all that has no profile; `dotEnv` is what `.env` says. Volumes are below `directory`: a second start there finds
 * what they hold.
 */
export const startStack = async (directory: string, dotEnv: DotEnv = {}): Promise<Stack | undefined> => {
  const services = await findServices(dotEnv);
  if (services === undefined) return undefined;
  const containers: Container[] = [];
  const stop = async () => {
    const codes = [];
    for (const container of containers.toReversed()) codes.push(await container.stop());
    return codes;
  };
  try {
    for (const name of inOrder(services)) {
      const started = await startService(name, services[name] ?? {}, directory, containers);
      containers.push(...started);
      for (const one of started) await becomesWell(one);
    }
  } catch (error) {
    const said = containers.map(({ service, output }) => `${service}: ${output()}`).join('\n');
    await stop();
    throw new Error(`the services did not start:\n${said}`, { cause: error });
  }
  const base = dotEnv['BASE_PATH'] ?? 'sluice';
  return { url: `http://127.0.0.1:${containers.at(-1)?.port}/${base}`, containers, stop };
};

/** Milliseconds for one container to start on a busy machine. */
const patience = 60_000;

/** The port is asked first: health checks are processes, and take from those that start what time there is. */
const becomesWell = async ({ port, isWell }: Container): Promise<void> => {
  await until(() => isListening(port), patience);
  await until(isWell, patience);
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Services without a profile, each behind what it waits for. */
const inOrder = (services: Services): readonly string[] => {
  const order = new Set<string>();
  const add = (name: string) => {
    const { profiles, depends_on: needs = {} } = services[name] ?? { profiles: [] };
    if (profiles !== undefined) return;
    for (const need of Object.keys(needs)) add(need);
    order.add(name);
  };
  for (const name of Object.keys(services)) add(name);
  return [...order];
};

/** All replicas of one service. */
const startService = (name: string, service: ComposeService, directory: string, before: readonly Container[]) =>
  Promise.all(
    Array.from({ length: service.deploy?.replicas ?? 1 }, async (_, index): Promise<Container> => {
      const mounts = mountsOf(service.volumes ?? [], directory, `${name}-${index + 1}`);
      const asNginx = name === 'nginx' ? await startProxy(before) : undefined;
      const place = { service: name, port: asNginx?.port ?? (await freePort()), mounts };
      for (const one of Object.values(mounts)) if (one.startsWith(directory)) await mkdir(one, { recursive: true });
      const others = new Map(before.map((container) => [container.service, container.port]));
      const plan = (words: readonly string[]) => planOf(service, place, others, words);
      const running = asNginx ?? startProcess(plan(commandOf(service, place)));
      return { ...place, ...running, isWell: () => succeeds(plan(healthCommandOf(service, place))) };
    }),
  );

/** The compose file mounts the configuration that is started here (`test/guards/compose.test.ts`). */
const startProxy = async (before: readonly Container[]): Promise<Running & { readonly port: number }> => {
  const replicas = before.filter(({ service }) => service === 'sluice');
  const { url, stop } = await startNginx(
    findNginx() ?? '',
    replicas.map(({ port }) => `http://127.0.0.1:${port}`),
  );
  return { port: Number(new URL(url).port), pid: () => 0, output: () => '', stop: () => stop().then(() => 0) };
};

const planOf = (
  service: ComposeService,
  place: Place,
  others: ReadonlyMap<string, number>,
  words: readonly string[],
): ProcessPlan => {
  const ofImage = place.service === 'sluice' ? readDockerfile().env : {};
  const env = Object.entries({ ...ofImage, ...service.environment });
  return {
    words: words.map((word) => translate(word, place, others)),
    env: Object.fromEntries(env.map(([name, value]) => [name, translate(String(value), place, others)])),
    // Where the images of Valkey and of the service say.
    cwd: place.service === 'valkey' ? (place.mounts['/data'] ?? '') : project,
  };
};

/** The words of the file behind what the image puts in front of them. */
const commandOf = ({ command = [] }: ComposeService, { service, port }: Place): readonly string[] => {
  if (service === 'sluice') return [process.execPath, ...readDockerfile().command.slice(1)];
  if (service === 'valkey') return [findRedis() ?? '', ...command.slice(1), '--bind', '127.0.0.1', '--port', `${port}`];
  return ['versitygw', ...command];
};

const healthCommandOf = ({ healthcheck }: ComposeService, { service, port }: Place): readonly string[] => {
  if (service === 'sluice') return [process.execPath, ...readDockerfile().healthCommand.slice(1)];
  const [, program = '', ...args] = healthcheck?.test ?? [];
  if (service !== 'valkey') return [program, ...args];
  // Redis has a client of its own name.
  return [findRedis()?.replace(/-server$/, '-cli') ?? program, '-p', `${port}`, ...args];
};
