/** An S3 server that misbehaves when told: an HTTP proxy in front of a real one. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '../support/temporary.ts';

export type Operation =
  | 'PutObject'
  | 'UploadPart'
  | 'CreateMultipartUpload'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'List'
  | 'Bucket';

/** What happens to a request instead of passing. */
export type Action =
  /** The proxy answers so, after the whole body, and the server hears nothing of it. */
  | { readonly answer: number; readonly code?: string }
  /** The server does it, and the proxy answers so. */
  | { readonly answerAfter: number; readonly code?: string }
  /** The connection is reset after so many bytes of the request's body. */
  | { readonly resetAfter: number }
  /** The server does it, and the connection is reset before the answer. */
  | { readonly loseAnswer: true }
  /** Of the body of the answer so many bytes come, and then the connection is reset. */
  | { readonly truncateAt: number }
  /** The body goes to the server at this rate. */
  | { readonly bytesPerSecond: number }
  /** Nothing is ever answered. */
  | { readonly silence: true };

/** `count`: how often this operation came since the fault was set, this one included. */
export type Fault = (operation: Operation, count: number) => Action | undefined;

export interface S3Proxy {
  readonly url: string;
  /** The operations so far, since the last `set`. */
  readonly operations: readonly Operation[];
  set(fault?: Fault): void;
}

/** Closes with the test. */
export const startS3Proxy = async (t: Owner, endpoint: string): Promise<S3Proxy> => {
  const target = new URL(endpoint);
  let operations: Operation[] = [];
  let fault: Fault = () => undefined;
  const server = createServer(async (incoming, answer) => {
    const { socket } = incoming;
    const operation = operationOf(incoming);
    operations.push(operation);
    const count = operations.filter((one) => one === operation).length;
    // A connection that breaks is what this is about.
    await handle(target, incoming, answer, fault(operation, count)).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get operations() {
      return operations;
    },
    set(next = () => undefined) {
      operations = [];
      fault = next;
    },
  };
};

const operationOf = ({ method = '', url = '' }: IncomingMessage): Operation => {
  const { pathname, searchParams } = new URL(url, 'http://s3');
  if (searchParams.has('list-type') || (searchParams.has('uploads') && method === 'GET')) return 'List';
  if (pathname.split('/').filter(Boolean).length < 2) return 'Bucket';
  const upload = searchParams.has('uploadId');
  if (method === 'POST') return upload ? 'CompleteMultipartUpload' : 'CreateMultipartUpload';
  if (method === 'PUT') return upload ? 'UploadPart' : 'PutObject';
  if (method === 'DELETE') return upload ? 'AbortMultipartUpload' : 'DeleteObject';
  return method === 'HEAD' ? 'HeadObject' : 'GetObject';
};

const handle = async (
  target: URL,
  incoming: IncomingMessage,
  answer: ServerResponse,
  action: Action = neverTruncated,
): Promise<void> => {
  const { socket } = incoming;
  if ('silence' in action) return void incoming.resume();
  if ('answer' in action) {
    await swallow(incoming, Number.POSITIVE_INFINITY);
    return refuse(answer, action.answer, action.code);
  }
  if ('resetAfter' in action) {
    await swallow(incoming, action.resetAfter);
    return void socket.resetAndDestroy();
  }
  const response = await forward(target, incoming, 'bytesPerSecond' in action ? action.bytesPerSecond : undefined);
  if ('loseAnswer' in action) return void socket.resetAndDestroy();
  if ('answerAfter' in action) return refuse(answer, action.answerAfter, action.code);
  return relay(response, answer, 'truncateAt' in action ? action.truncateAt : Number.POSITIVE_INFINITY);
};

const neverTruncated: Action = { truncateAt: Number.POSITIVE_INFINITY };

const swallow = async (incoming: IncomingMessage, bytes: number): Promise<void> => {
  let left = bytes;
  for await (const chunk of incoming) {
    left -= (chunk as Buffer).length;
    if (left <= 0) return;
  }
};

/** A status of 200 makes it one of those answers that only their body tells from a success. */
const refuse = (answer: ServerResponse, status: number, code = 'InternalError'): void => {
  answer.writeHead(status, { 'content-type': 'application/xml' });
  answer.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>told to</Message></Error>`);
};

const forward = async (target: URL, incoming: IncomingMessage, bytesPerSecond?: number): Promise<IncomingMessage> => {
  const { method, url, headers } = incoming;
  const outgoing = send({ host: target.hostname, port: target.port, method, path: url, headers });
  const answered = once(outgoing, 'response');
  (bytesPerSecond === undefined ? incoming : Readable.from(slowly(incoming, bytesPerSecond))).pipe(outgoing);
  incoming.on('close', () => incoming.complete || outgoing.destroy());
  const [response] = await answered;
  return response;
};

async function* slowly(incoming: IncomingMessage, bytesPerSecond: number) {
  for await (const chunk of incoming) {
    await sleep(((chunk as Buffer).length / bytesPerSecond) * 1000);
    yield chunk;
  }
}

const relay = async (response: IncomingMessage, answer: ServerResponse, most: number): Promise<void> => {
  answer.writeHead(response.statusCode ?? 500, response.headers);
  let left = most;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (chunk.length > left) {
      answer.write(chunk.subarray(0, left), () => answer.socket?.resetAndDestroy());
      return;
    }
    left -= chunk.length;
    answer.write(chunk);
  }
  answer.end();
};
