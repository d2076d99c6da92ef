/** What is done to each server: one row of the table each. */
import { type Connection, openConnection } from './client.ts';
import type { Server } from './servers.ts';

export interface Row {
  readonly name: string;
  readonly unit: string;
  /** What the processor time is given for, and how often `work` does that. */
  readonly per: string;
  readonly times: number;
  /** How much of the unit `work` does. */
  readonly amount: number;
  /** Bytes of room that it needs on the file system. */
  readonly bytes: number;
  /** Brings the server to its usual speed. */
  warmUp(server: Server): Promise<unknown>;
  /** Resolves with the seconds that it has taken. */
  work(server: Server): Promise<number>;
}

export const mebibyte = 1_048_576;

/** Of uploads of so many MiB in all. */
const inMebibytes = (size: number) => ({
  unit: 'MiB/s',
  per: 'GiB',
  times: size / 1024,
  amount: size,
  bytes: size * mebibyte,
});

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

const withConnections = async (
  { url }: Server,
  count: number,
  work: (open: readonly Connection[]) => Promise<number>,
): Promise<number> => {
  const open = await Promise.all(Array.from({ length: count }, () => openConnection(url)));
  try {
    return await work(open);
  } finally {
    for (const connection of open) connection.close();
  }
};

/** One upload in successive PATCHes of `chunk` bytes on one connection. */
const oneUpload = (server: Server, size: number, chunk: number): Promise<number> =>
  withConnections(server, 1, async (open) => {
    const connection = open[0] as Connection;
    const { location } = await connection.request(server.requests.create(size));
    return seconds(async () => {
      for (let offset = 0; offset < size; offset += chunk) {
        const bytes = Math.min(chunk, size - offset);
        await connection.request(server.requests.append(location, offset, bytes), bytes);
      }
    });
  });

/** `size`: MiB. */
export const largeRow = (size: number): Row => ({
  ...inMebibytes(size),
  name: `${size} MiB in one PATCH`,
  warmUp: (server) => oneUpload(server, Math.min(size, 64) * mebibyte, size * mebibyte),
  work: (server) => oneUpload(server, size * mebibyte, size * mebibyte),
});

const chunkSize = 8;

/** `size`: MiB. */
export const chunksRow = (size: number): Row => ({
  ...inMebibytes(size),
  name: `${size} MiB in PATCHes of ${chunkSize} MiB`,
  warmUp: (server) => oneUpload(server, Math.min(size, 64) * mebibyte, chunkSize * mebibyte),
  work: (server) => oneUpload(server, size * mebibyte, chunkSize * mebibyte),
});

const smallSize = 10_240;
const smallConnections = 8;

const manySmall = (server: Server, uploads: number): Promise<number> => {
  const create = server.requests.create(smallSize);
  let left = uploads;
  const uploadAll = async (connection: Connection) => {
    while (left-- > 0) {
      const { location } = await connection.request(create);
      await connection.request(server.requests.append(location, 0, smallSize), smallSize);
    }
  };
  return withConnections(server, smallConnections, (open) => seconds(() => Promise.all(open.map(uploadAll))));
};

export const smallRow = (uploads: number): Row => ({
  name: `create + PATCH of 10 KiB, ${smallConnections} connections`,
  unit: 'uploads/s',
  per: '1000 uploads',
  times: uploads / 1000,
  amount: uploads,
  bytes: uploads * smallSize,
  // As many again: until some thousand requests have passed, the compiler takes most of the processor.
  warmUp: (server) => manySmall(server, uploads),
  work: (server) => manySmall(server, uploads),
});

/** `size`: bytes of each. */
const atOnce = (server: Server, uploads: number, size: number): Promise<number> =>
  withConnections(server, uploads, async (open) => {
    const create = server.requests.create(size);
    const created = await Promise.all(open.map((connection) => connection.request(create)));
    const append = (connection: Connection, index: number) =>
      connection.request(server.requests.append(created[index]?.location ?? '', 0, size), size);
    return seconds(() => Promise.all(open.map(append)));
  });

/** `size`: MiB of each. */
export const concurrentRow = (uploads: number, size: number = chunkSize): Row => ({
  ...inMebibytes(uploads * size),
  name: `${uploads} uploads of ${size} MiB at once`,
  warmUp: (server) => atOnce(server, Math.min(uploads, 4), chunkSize * mebibyte),
  work: (server) => atOnce(server, uploads, size * mebibyte),
});
