/**
 * Answering before the body has come. Closing the connection at once would lose the answer (the peer's unread bytes
 * make the kernel reset it), so the answer goes out whole first and a little of the body is thrown away (DESIGN 3).
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** At most so much of a refused body is discarded before the connection is closed. */
const discardBytes = 4 * 1024 * 1024;
const discardMs = 2000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers given ahead of their bodies whose connections are still open; the end of the service waits for them. */
    refusals: Set<Promise<void>>;
  }
}

/** Whether the request announced a body that has not been read to its end. */
export const hasUnreadBody = (request: IncomingMessage): boolean => {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return !request.readableEnded && (encoding !== undefined || (length !== undefined && length !== '0'));
};

export const answerWithoutBody = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  headers: Record<string, string>,
  payload: string,
): void => {
  reply.hijack();
  const { raw } = reply;
  raw.statusCode = status;
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...headers })) {
    if (value !== undefined) raw.setHeader(name, value as string);
  }
  raw.setHeader('content-length', Buffer.byteLength(payload));
  raw.setHeader('connection', 'close');
  // The response is complete for the peer now, but it is not ended, so Node does not close the connection yet.
  if (request.method !== 'HEAD') raw.write(payload);
  const { refusals } = request.server;
  const refusal = discard(request.raw).then(() => {
    raw.end(() => request.raw.destroy());
    refusals.delete(refusal);
  });
  refusals.add(refusal);
};

const discard = (body: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    let bytes = 0;
    const finish = () => {
      clearTimeout(timer);
      body.off('data', count).off('end', finish).off('close', finish);
      resolve();
    };
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > discardBytes) finish();
    };
    const timer = setTimeout(finish, discardMs);
    body.on('data', count).on('end', finish).on('close', finish).resume();
    if (body.destroyed) finish();
  });
