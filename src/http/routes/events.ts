/** The sockets (WIRE 5): a snapshot, what is in the log, then what happens, until the end. */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { WebSocket } from '@fastify/websocket';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable, ServiceError } from '../../domain/errors.ts';
import type { Topic } from '../../domain/event.ts';
import type { Batch } from '../../events/follow.ts';
import type { HttpContext } from '../context.ts';
import { type Frame, jobFrame, uploadFrame } from '../frames.ts';
import { viewJob, viewUpload } from '../views.ts';

/** How long a socket stays open after its terminal frame, milliseconds. */
const lingerMs = 3000;
/** Between protocol pings; two that go unanswered end the socket. */
const pingMs = 25_000;
/** A frame that the peer has not taken after so long means that it reads too slowly. */
const sendMs = 30_000;

export const eventRoutes: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  const route = { websocket: true, onRequest: requireUpgrade } as const;

  app.get<{ Params: { uploadId: string } }>('/ws/upload/:uploadId', route, (socket, request) =>
    serve(context, socket, request, 'uploads', request.params.uploadId, async ({ record, steps }, first) => {
      const snapshot = { type: 'upload_snapshot', seq: record.seq, timestamp: record.updatedAt };
      const frames = steps.map((step) => uploadFrame(step, record, context.links));
      return first ? [{ ...viewUpload(context, record), ...snapshot }, ...frames] : frames;
    }),
  );

  app.get<{ Params: { jobId: string } }>('/ws/flow/:jobId', route, (socket, request) =>
    serve(context, socket, request, 'jobs', request.params.jobId, async ({ record, steps }, first) => {
      const { nodes } = await context.engine.definition(record);
      const kindOf = (nodeId: string) => nodes[nodeId]?.type ?? '';
      const snapshot = { type: 'flow_snapshot', seq: record.seq, timestamp: record.updatedAt };
      const frames = steps.map((step) => jobFrame(step, record, context.links, kindOf));
      return first ? [{ ...(await viewJob(context, record)), ...snapshot }, ...frames] : frames;
    }),
  );
  done();
};

const requireUpgrade = (request: FastifyRequest, _reply: FastifyReply, next: (error?: Error) => void): void =>
  next(request.ws ? undefined : new ServiceError('NOT_FOUND', 'This address speaks WebSocket only'));

type ToFrames<T extends Topic> = (batch: Batch<T>, first: boolean) => Promise<readonly Frame[]>;

const serve = <T extends Topic>(
  context: HttpContext,
  socket: WebSocket,
  request: FastifyRequest,
  topic: T,
  id: string,
  toFrames: ToFrames<T>,
): void => {
  const closed = new AbortController();
  answerPings(socket);
  const stopPings = keepAlive(socket);
  socket.on('close', () => {
    stopPings();
    closed.abort();
  });
  // The error of a broken socket is followed by `close`.
  socket.on('error', (error) => request.log.debug({ err: error }, 'socket error'));
  const { since = '0' } = request.query as { since?: string };
  if (!/^\d{1,15}$/.test(since)) {
    socket.close(1008, 'since is not a number');
    return;
  }
  send(context, socket, request, topic, id, Number(since), closed.signal, toFrames).catch((error: unknown) => {
    // What is told meanwhile stays in the log, for the client who comes back with `since`.
    const isPassing = isUnavailable(error);
    request.log[isPassing ? 'warn' : 'error']({ err: error }, 'socket failed');
    if (isPassing) socket.close(1013, 'try again later');
    else socket.close(1011, 'internal error');
  });
};

const send = async <T extends Topic>(
  context: HttpContext,
  socket: WebSocket,
  request: FastifyRequest,
  topic: T,
  id: string,
  since: number,
  signal: AbortSignal,
  toFrames: ToFrames<T>,
): Promise<void> => {
  let first = true;
  for await (const batch of context.follow(topic, id, { since, signal })) {
    if (batch.record.clientId !== request.clientId) break;
    for (const frame of await toFrames(batch, first)) {
      if (!(await deliver(socket, frame))) return socket.close(1013, 'reader too slow');
    }
    first = false;
  }
  // No batch at all: nothing of that id, or nothing of this client's.
  if (first) return socket.close(4004, 'unknown id');
  const linger = setTimeout(() => socket.close(1000, 'done'), lingerMs);
  socket.on('close', () => clearTimeout(linger));
};

/** Resolves when the frame has left the process, so that a slow reader slows its own feed and fills no memory. */
const deliver = (socket: WebSocket, frame: Frame): Promise<boolean> => {
  if (socket.readyState !== socket.OPEN) return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), sendMs);
  socket.send(JSON.stringify(frame), () => resolve(true));
  return promise.finally(() => clearTimeout(timer));
};

/** The only message that clients send. Who reads nothing gets no answers that would pile up; ws guards its own pongs. */
const answerPings = (socket: WebSocket): void => {
  socket.on('message', (data, isBinary) => {
    if (isBinary || socket.bufferedAmount > 0) return;
    if (/^\s*\{\s*"type"\s*:\s*"ping"/.test(String(data))) {
      socket.send(JSON.stringify({ type: 'pong', timestamp: new Date().toISOString() }));
    }
  });
};

const keepAlive = (socket: WebSocket): (() => void) => {
  let unanswered = 0;
  socket.on('pong', () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    if (++unanswered > 2) return socket.terminate();
    socket.ping();
  }, pingMs);
  return () => clearInterval(timer);
};
