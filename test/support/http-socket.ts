/** HTTP by hand over one connection, for what no client library sends: halves of requests, cuts, forbidden bytes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpSocket {
  readonly socket: Socket;
  /** Resolves when the system has taken the bytes; never rejects, since being cut off is what many tests want. */
  send(data: string | Buffer): Promise<void>;
  /** Sends a request line and headers; the service's host is added. */
  request(method: string, path: string, headers?: Readonly<Record<string, string | number>>): Promise<void>;
  /** The next response, an interim one included. Rejects when the connection ends without one. */
  response(): Promise<RawResponse>;
  /** Resolves when the connection has ended, from whichever side. */
  readonly closed: Promise<void>;
  /** Says that nothing more will come, after all that was sent. */
  end(): void;
  /** Cuts the connection. */
  cut(): void;
}

/**
 * `url`: the address of the service with its base path, to which the paths of requests are added. `deaf`: nothing is
 * taken from the connection before a response is asked for.
 */
export const openSocket = async (url: string, { deaf = false } = {}): Promise<HttpSocket> => {
  const { hostname, port, host, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.setNoDelay(true);
  if (deaf) socket.pause();
  await once(socket, 'connect');
  const reader = readFrom(socket);
  const send = (data: string | Buffer): Promise<void> =>
    new Promise((resolve) => (socket.writable ? socket.write(data, () => resolve()) : resolve()));
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  // Followed by `close`.
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  return {
    socket,
    send,
    request: (method, path, headers = {}) => {
      const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      return send(`${method} ${pathname.replace(/\/$/, '')}${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    },
    response: reader,
    closed,
    end: () => socket.end(),
    cut: () => socket.destroy(),
  };
};

/** One request with all its bytes, one response, and the connection is gone. */
export const exchange = async (url: string, request: string | Buffer): Promise<RawResponse> => {
  const http = await openSocket(url);
  await http.send(request);
  try {
    return await http.response();
  } finally {
    http.cut();
  }
};

const readFrom = (socket: Socket): (() => Promise<RawResponse>) => {
  let buffer = Buffer.alloc(0);
  let ended = false;
  let wake = () => {};
  socket.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    wake();
  });
  for (const event of ['end', 'close']) {
    socket.on(event, () => {
      ended = true;
      wake();
    });
  }
  return async () => {
    socket.resume();
    for (;;) {
      const parsed = parse(buffer, ended);
      if (parsed !== undefined) {
        buffer = buffer.subarray(parsed.length);
        return parsed.response;
      }
      if (ended) throw new Error(`the connection ended after ${JSON.stringify(buffer.toString('latin1'))}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
};

const parse = (buffer: Buffer, ended: boolean): { response: RawResponse; length: number } | undefined => {
  const split = buffer.indexOf('\r\n\r\n');
  if (split < 0) return undefined;
  const [line = '', ...fields] = buffer.subarray(0, split).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const status = Number(line.split(' ')[1]);
  const start = split + 4;
  const declared = headers['content-length'];
  const bodyless = status < 200 || status === 204 || status === 304;
  if (!bodyless && declared === undefined && !ended) return undefined;
  const end = bodyless ? start : declared === undefined ? buffer.length : start + Number(declared);
  if (buffer.length < end) return undefined;
  return { response: { status, headers, body: buffer.subarray(start, end).toString() }, length: end };
};
