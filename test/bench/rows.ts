/** What is done to each server: one row of the table each. */
import { type Connection, openConnection } from './client.ts';

export interface Row {
  readonly name: string;
  readonly unit: string;
  /** What the processor time is given for, and how often `work` does that. */
  readonly per: string;
  readonly times: number;
  /** How much of the unit `work` does. */
  readonly amount: number;
  /** Brings the server to its usual speed. */
  warmUp(url: string): Promise<void>;
  /** Resolves with the seconds that it has taken. */
  work(url: string): Promise<number>;
}

const mebibyte = 1_048_576;

const createHead = (url: URL, size: number): string => {
  const body = JSON.stringify({ size });
  return `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

const patchHead = (url: URL, path: string, size: number): string =>
  `PATCH ${path} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\nContent-Length: ${size}\r\n\r\n`;

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

const onePatch = async (address: string, size: number): Promise<number> => {
  const connection = await openConnection(address);
  const url = new URL(address);
  try {
    const { location } = await connection.request(createHead(url, size));
    return await seconds(() => connection.request(patchHead(url, location, size), size));
  } finally {
    connection.close();
  }
};

/** `size`: MiB. */
export const largeRow = (size: number): Row => ({
  name: `${size} MiB in one PATCH`,
  unit: 'MiB/s',
  per: 'GiB',
  times: size / 1024,
  amount: size,
  warmUp: async (url) => {
    await onePatch(url, Math.min(size, 64) * mebibyte);
  },
  work: (url) => onePatch(url, size * mebibyte),
});

const smallSize = 10_240;
const connections = 8;

const manySmall = async (address: string, uploads: number): Promise<number> => {
  const url = new URL(address);
  const create = createHead(url, smallSize);
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(address)));
  let left = uploads;
  const uploadAll = async (connection: Connection) => {
    while (left-- > 0) {
      const { location } = await connection.request(create);
      await connection.request(patchHead(url, location, smallSize), smallSize);
    }
  };
  try {
    return await seconds(() => Promise.all(open.map(uploadAll)));
  } finally {
    for (const connection of open) connection.close();
  }
};

export const smallRow = (uploads: number): Row => ({
  name: `create + PATCH of 10 KiB, ${connections} connections`,
  unit: 'uploads/s',
  per: '1000 uploads',
  times: uploads / 1000,
  amount: uploads,
  warmUp: async (url) => {
    await manySmall(url, Math.min(uploads, 500));
  },
  work: (url) => manySmall(url, uploads),
});
