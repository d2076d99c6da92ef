/**
 * A client that costs next to nothing, so that the server is what is measured: it writes prepared buffers to sockets and
 * reads of an answer only where it ends, its status and its `Location`; what else is in it is for the caller to read.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One keep-alive connection; one request at a time. */
export interface Connection {
  /**
   * Sends the head and these bytes, or so many of filling; resolves once the whole answer is there, with its body as
   * latin1. Rejects unless it is 2xx.
   */
  request(head: string, body?: number | Buffer): Promise<{ readonly location: string; readonly body: string }>;
  close(): void;
}

/** What bodies are made of. Written again and again, so it is never copied. */
const filling = Buffer.alloc(1_048_576, 'sluice');

export const openConnection = async (url: string): Promise<Connection> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  await once(socket, 'connect');
  const answers = readAnswers(socket);
  return {
    async request(head, body = 0) {
      const answer = answers.next(head.startsWith('HEAD '));
      socket.cork();
      socket.write(head, 'latin1');
      const sent = typeof body === 'number' ? sendFilling(socket, body) : void socket.write(body);
      socket.uncork();
      const [{ status, text }] = await Promise.all([answer, sent]);
      if (status >= 300) throw new Error(`${head.split('\r\n')[0]} was answered:\n${text}`);
      return { location: headerOf(text, 'location') ?? '', body: text.slice(text.indexOf('\r\n\r\n') + 4) };
    },
    close: () => socket.destroy(),
  };
};

const sendFilling = async (socket: Socket, bytes: number): Promise<void> => {
  for (let left = bytes; left > 0; left -= filling.length) {
    const more = socket.write(left < filling.length ? filling.subarray(0, left) : filling);
    if (!more && left > filling.length) await once(socket, 'drain');
  }
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Cuts what arrives into answers; `bare`: the next is a head only, whatever it says of its body. */
const readAnswers = (socket: Socket): { next(bare: boolean): Promise<Answer> } => {
  let text = '';
  let waiting: PromiseWithResolvers<Answer> | undefined;
  let headOnly = false;

  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    const length = lengthOf(text, headOnly);
    if (length === undefined || text.length < length) return;
    waiting?.resolve({ status: Number(text.slice(9, 12)), text: text.slice(0, length) });
    text = text.slice(length);
  });
  const fail = (error?: Error) => waiting?.reject(error ?? new Error('The server has closed the connection'));
  socket.on('error', fail).on('close', () => fail());
  return {
    next: (bare) => {
      headOnly = bare;
      waiting = Promise.withResolvers<Answer>();
      return waiting.promise;
    },
  };
};

/** Bytes of the whole first answer in `text`, once it can be told. */
const lengthOf = (text: string, headOnly: boolean): number | undefined => {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end + 2);
  if (headOnly) return end + 4;
  if (headerOf(head, 'transfer-encoding') === 'chunked') return chunkedLength(text, end);
  return end + 4 + Number(headerOf(head, 'content-length') ?? 0);
};

/** @tus/server sends even empty bodies in chunks. `end`: of the head. */
const chunkedLength = (text: string, end: number): number | undefined => {
  const last = text.indexOf('\r\n0\r\n\r\n', end + 2);
  return last < 0 ? undefined : last + 7;
};

const headerOf = (head: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, 'im').exec(head)?.[1];
