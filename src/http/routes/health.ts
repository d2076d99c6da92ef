/** Liveness and readiness (WIRE 4). */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { HttpContext, Probes } from '../context.ts';
import { answers } from '../schemas/common.ts';
import { healthSchema } from '../schemas/health.ts';

type State = 'healthy' | 'degraded' | 'unhealthy';

interface Component {
  readonly status: State;
  /** Milliseconds. */
  readonly latency: number;
  readonly message?: string;
}

const cacheMs = 1000;
const probeMs = 1000;

export const healthRoutes: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  const body = (status: State) => ({
    status,
    timestamp: new Date().toISOString(),
    version: context.version,
    uptime: Math.round(process.uptime() * 1000),
  });
  const check = cached(() => probeAll(context.probes));
  const response = { 200: healthSchema };

  for (const url of ['/api/health', '/health', '/healthz']) {
    app.get(
      url,
      { exposeHeadRoute: true, schema: { tags: ['health'], summary: 'Is the process alive?', response } },
      () => body('healthy'),
    );
  }
  const readyAnswers = answers({ ...response, 503: healthSchema });
  for (const url of ['/api/ready', '/ready', '/readyz']) {
    app.get(
      url,
      { exposeHeadRoute: true, schema: { tags: ['health'], summary: 'Can it serve?', response: readyAnswers } },
      async (_, reply) => {
        const components = await check();
        const well = Object.values(components).every(({ status }) => status === 'healthy') && !context.isDraining();
        reply.code(well ? 200 : 503).header('cache-control', 'no-store');
        return { ...body(well ? 'healthy' : 'unhealthy'), components };
      },
    );
  }
  done();
};

const cached = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | undefined;
  let at = Number.NEGATIVE_INFINITY;
  return () => {
    if (loaded === undefined || performance.now() - at > cacheMs) {
      at = performance.now();
      loaded = load();
    }
    return loaded;
  };
};

const probeAll = async (probes: Probes): Promise<Record<string, Component>> => {
  const entries = Object.entries(probes).map(async ([name, probe]) => [name, await runProbe(probe)] as const);
  return Object.fromEntries(await Promise.all(entries));
};

const runProbe = async (probe: () => Promise<void>): Promise<Component> => {
  const start = performance.now();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer in time')), probeMs);
  const failed = await Promise.race([probe(), late]).then(
    () => undefined,
    (error: Error) => error.message,
  );
  clearTimeout(timer);
  const latency = Math.round((performance.now() - start) * 100) / 100;
  return failed === undefined ? { status: 'healthy', latency } : { status: 'unhealthy', latency, message: failed };
};
