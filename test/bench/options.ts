/** What the command line asks for. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import type { FlowOptions } from './flows/rounds.ts';
import {
  chainRow,
  engineRow,
  type FlowRow,
  type FlowRowName,
  flowRowNames,
  imageRow,
  photoOf,
  sizesRow,
  webpSizesRow,
} from './flows/rows.ts';
import { chunksRow, concurrentRow, largeRow, type Row, smallRow } from './rows.ts';
import type { S3Options, S3Row } from './s3/rounds.ts';
import { s3ServerNames } from './s3/servers.ts';
import { type ServerName, serverNames } from './servers.ts';

/** Names of `--rows`, in the order in which they run, by what `--group` calls them. */
const groups = {
  uploads: ['large', 'chunks', 'small', 'memory', 'memory-16x', 'concurrent', 'latency'],
  flows: [...flowRowNames, 'idle-memory'],
  s3: ['s3-large', 's3-concurrent', 's3-calls'],
} as const;
const groupNames = ['uploads', 'flows', 's3'] as const;
/** The other one needs an S3 server. */
const defaultGroups = 'uploads,flows';
const rowNames = [...groups.uploads, ...groups.flows, ...groups.s3] as const;
type Chosen = (typeof groups)['uploads'][number];

/** Those that compare the servers by speed, processor time and memory. */
export type RowName = Exclude<Chosen, 'latency'>;

export interface Options {
  readonly rounds: number;
  readonly servers: readonly ServerName[];
  readonly directories: readonly string[];
  readonly rows: readonly { readonly id: RowName; readonly row: Row }[];
  /** Left out unless the row is chosen. */
  readonly latency?: LatencyOptions;
  /** Left out unless one of their rows is chosen. */
  readonly flows?: FlowOptions;
  /** Left out unless one of their rows is chosen. */
  readonly s3?: S3Options;
}

export interface LatencyOptions {
  /** Of each kind of request, idle as well as busy. */
  readonly requests: number;
  /** Pixels of the longer side of the largest photograph. */
  readonly photo: number;
}

/** Of each option: as it is measured, and with `--short`. */
const numbers = {
  rounds: [5, 1],
  size: [1024, 16],
  chunked: [512, 16],
  uploads: [4000, 200],
  memory: [256, 16],
  concurrent: [200, 8],
  requests: [1500, 50],
  photo: [6000, 1200],
  flows: [4000, 400],
  images: [60, 2],
  camera: [4000, 300],
  kept: [200, 12],
  settle: [10, 1],
  's3-size': [1024, 16],
  's3-uploads': [20, 2],
  's3-each': [256, 9],
  's3-calls': [20, 2],
} as const;
type NumberName = keyof typeof numbers;

const whole = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is not a number above 0`);
  return Number(text);
};

/** The chosen of `all`, in their order; all when nothing is chosen. */
const chosen = <Name extends string>(list: string | undefined, all: readonly Name[]): readonly Name[] => {
  const names = list?.split(',') ?? all;
  const unknown = names.find((name) => !all.includes(name as Name));
  if (unknown !== undefined) throw new Error(`${unknown} is none of ${all.join(', ')}`);
  return all.filter((name) => names.includes(name));
};

/** A directory on the disk, and memory where the system has such a file system. */
const defaultDirectories = (): string[] => [tmpdir(), '/dev/shm'].filter((directory) => existsSync(directory));

const text = { type: 'string' } as const;

export const readOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ rounds: text, size: text, chunked: text, uploads: text },
      ...{ memory: text, concurrent: text, requests: text, photo: text },
      ...{ flows: text, images: text, camera: text, kept: text, settle: text, group: text },
      ...{ 's3-size': text, 's3-uploads': text, 's3-each': text, 's3-calls': text },
      ...{ rows: text, servers: text, short: { type: 'boolean' }, dir: { type: 'string', multiple: true } },
    },
  });
  const number = (name: NumberName): number => whole(values[name] ?? String(numbers[name][values.short ? 1 : 0]));
  const rows: Readonly<Record<RowName, Row>> = {
    large: largeRow(number('size')),
    chunks: chunksRow(number('chunked')),
    small: smallRow(number('uploads')),
    memory: largeRow(number('memory')),
    'memory-16x': largeRow(16 * number('memory')),
    concurrent: concurrentRow(number('concurrent')),
  };
  const names = chosen(values.rows ?? namesOf(values.group ?? defaultGroups), rowNames);
  const latency = { requests: number('requests'), photo: number('photo') };
  return {
    rounds: number('rounds'),
    servers: chosen(values.servers, serverNames),
    directories: values.dir ?? defaultDirectories(),
    rows: names.filter(isUploads).map((id) => ({ id, row: rows[id] })),
    ...(names.includes('latency') && { latency }),
    ...(names.some(isFlows) && { flows: flowOptions(names, number) }),
    ...(names.some(isS3) && { s3: s3Options(names, number) }),
  };
};

/** The rows of the groups. */
const namesOf = (list: string): string =>
  chosen(list, groupNames)
    .flatMap((group) => groups[group])
    .join();

type Name = (typeof rowNames)[number];
const isUploads = (name: Name): name is RowName => name !== 'latency' && !isFlows(name) && !isS3(name);
const isFlows = (name: Name): boolean => groups.flows.some((one) => one === name);

const isS3 = (name: Name): boolean => groups.s3.some((one) => one === name);

const s3Options = (names: readonly Name[], number: (name: NumberName) => number): S3Options => {
  const rows: readonly S3Row[] = [
    { id: 's3-large', row: largeRow(number('s3-size')), servers: s3ServerNames },
    { id: 's3-concurrent', row: concurrentRow(number('s3-uploads'), number('s3-each')), servers: ['sluice'] },
  ];
  return {
    rows: rows.filter(({ id }) => names.includes(id)),
    ...(names.includes('s3-calls') && { calls: number('s3-calls') }),
  };
};

const flowOptions = (names: readonly Name[], number: (name: NumberName) => number): FlowOptions => {
  const photo = photoOf(number('camera'));
  const images = number('images');
  const rows: Readonly<Record<FlowRowName, FlowRow>> = {
    engine: engineRow(number('flows')),
    image: imageRow(images, photo),
    chain: chainRow(images, photo),
    sizes: sizesRow(images, photo),
    'sizes-webp': webpSizesRow(images, photo),
  };
  const memory = { images: number('kept'), photo, settle: 1000 * number('settle') };
  return {
    rows: Object.values(rows).filter(({ id }) => names.includes(id)),
    ...(names.includes('idle-memory') && { memory }),
  };
};
