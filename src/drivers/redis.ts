/**
 * Connections to Redis, as all drivers over it make them: what fails does so within two seconds, and nothing is sent
 * twice. A command whose answer was lost may have been carried out; whoever sent it reads the record again.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { Redis, type RedisOptions, ReplyError } from 'ioredis';
import { isUnavailable, ServiceError } from '../domain/errors.ts';
import { StartError } from './start-error.ts';

/** Where Redis is and how it is entered. */
export interface RedisAddress {
  /** `redis://` or `rediss://`, with user, password and the number of the database where needed. */
  readonly url: string;
  /** In front of all names, so that several services can share a Redis; default `sluice`. */
  readonly prefix?: string | undefined;
  /** Instead of the user and the password of the URL. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** For `rediss://`: the authority that has signed the server's certificate, and a certificate of the client's own. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'> | undefined;
  /** The sentinels to ask where the master is; host and port of the URL then count for nothing. */
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[] | undefined;
  /** What the sentinels call the master; default `mymaster`. */
  readonly sentinelName?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  /** Hears of a connection that is lost or cannot be made, once per outage. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Milliseconds. A command may wait for a connection first, and both together stay under two seconds. */
const readyMs = 500;
const commandMs = 1400;
/** Milliseconds between two tries to connect: doubling to one second, with some chance. */
const retryStrategy = (times: number): number => Math.min(25 * 2 ** Math.min(times, 6), 1000) + Math.random() * 100;

const optionsOf = (address: RedisAddress): RedisOptions => {
  const url = new URL(address.url);
  const secure = url.protocol === 'rediss:';
  const username = address.username ?? decodeURIComponent(url.username);
  const password = address.password ?? decodeURIComponent(url.password);
  return {
    ...(address.sentinels === undefined
      ? { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6379) }
      : {
          sentinels: [...address.sentinels],
          name: address.sentinelName ?? 'mymaster',
          ...(address.sentinelPassword === undefined ? {} : { sentinelPassword: address.sentinelPassword }),
          enableTLSForSentinelMode: secure,
          ...(secure ? { sentinelTLS: address.tls ?? {} } : {}),
        }),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(secure ? { tls: address.tls ?? {} } : {}),
    db: Number(url.pathname.slice(1) || 0),
    connectTimeout: 2000,
    retryStrategy,
    // A master that has become a replica, or that its replicas have left for another one (min-replicas-to-write): the
    // connection is made anew, to where the master is now. Not ioredis's `failoverDetector`: a connection that is being
    // made when a sentinel speaks would end for good.
    reconnectOnError: ({ message }) =>
      message.startsWith('READONLY') || (address.sentinels !== undefined && message.startsWith('NOREPLICAS')),
  };
};

/** A connection for commands of requests: nothing waits for a reconnection, and nothing is sent again after one. */
export const connect = (address: RedisAddress): Redis =>
  watched(address, {
    ...optionsOf(address),
    commandTimeout: commandMs,
    // A connection that answers nothing is given up, so that a new one can be tried.
    socketTimeout: 2000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
  });

/** A connection whose commands wait until Redis is back: for loops that have nobody to answer to. */
export const connectPatiently = (address: RedisAddress): Redis =>
  watched(address, { ...optionsOf(address), maxRetriesPerRequest: null });

const watched = (address: RedisAddress, options: RedisOptions): Redis => {
  const client = new Redis({ ...options, replyMapping: 'legacy' });
  let told = false;
  client.on('ready', () => {
    told = false;
  });
  client.on('error', (error) => {
    if (!told) address.onError?.(bare(error));
    told = true;
  });
  return client;
};

/** Resolves once the connection can be used; fails with `UNAVAILABLE` when that takes too long. */
export const ready = async (client: Redis, ms: number = readyMs): Promise<void> => {
  if (client.status === 'ready') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = () => reject(unavailable(new Error(`Redis has not been reached within ${ms} ms`)));
  const timer = setTimeout(fail, ms);
  client.once('ready', resolve).once('end', fail);
  if (client.status === 'end') fail();
  return promise.finally(() => {
    clearTimeout(timer);
    client.off('ready', resolve).off('end', fail);
  });
};

/**
 * Runs commands behind an asynchronous port. They are sent within this very call when the connection is up, so that
 * they come to Redis in the order of the calls.
 */
export const answer = async <T>(client: Redis, work: () => Promise<T>): Promise<T> => {
  try {
    if (client.status !== 'ready') await ready(client);
    return await work();
  } catch (error) {
    throw redisFailure(error);
  }
};

/** Milliseconds between two tries of a start. */
const betweenStarts = 250;

/**
 * For starts: does `work` again for as long as it fails with lost connections and lost answers, and not longer than `ms`.
 * A machine that starts everything at once may take more than the two seconds that a request is worth.
 */
export const patiently = async <T>(work: () => Promise<T>, ms: number): Promise<T> => {
  const end = performance.now() + ms;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const failure = redisFailure(error);
      if (!isUnavailable(failure) || performance.now() > end) throw failure;
      await sleep(betweenStarts);
    }
  }
};

const unavailable = (cause: unknown): ServiceError =>
  new ServiceError('UNAVAILABLE', undefined, { retryAfter: 1, cause });

/** What Redis says when only a mistake in the program explains it. */
const mistake = /^(ERR|WRONGTYPE|NOSCRIPT|EXECABORT)\b/;

/** Without the command that ioredis keeps with an error: passwords and the data of clients would come into the log. */
const bare = (error: unknown): unknown => {
  if (error instanceof Error && 'command' in error) delete error.command;
  return error;
};

/** Lost connections, lost answers and refusals of Redis as an error that clients may see. */
export const redisFailure = (error: unknown): unknown => {
  const ours = [ServiceError, StartError, TypeError, RangeError, SyntaxError].some((kind) => error instanceof kind);
  if (ours) return error;
  if (error instanceof ReplyError && mistake.test((error as Error).message)) return bare(error);
  return unavailable(bare(error));
};

/** The text of a script beside the module; tsc does not copy it, so it is in `src` in both cases. */
export const script = (path: string): string =>
  readFileSync(new URL(`../../src/drivers/${path}`, import.meta.url), 'utf8');

/** Ends a connection without waiting for what was asked over it. */
export const disconnect = (client: Redis): void => client.disconnect();

/**
 * Has the connection made anew, to hear of its `ready` again. One that is being made is left alone: while a sentinel is
 * asked for the master, ioredis would end it for good.
 */
export const reconnect = (client: Redis): void => {
  if (client.status === 'ready') client.disconnect(true);
};

/** Every name in Redis begins with this. */
export const prefixOf = ({ prefix = 'sluice' }: RedisAddress): string => prefix;
