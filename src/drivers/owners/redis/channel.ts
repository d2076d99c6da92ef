/** The channel on which this replica is told: one subscription, made anew after every lost connection. */
import type { Redis } from 'ioredis';
import { connect, type RedisAddress, reconnect } from '../../redis.ts';
import { decode, type Message } from './messages.ts';

/** Milliseconds between two looks at whether the connection still answers: a lost one makes no sound. */
const beat = 2000;

export const openChannel = (address: RedisAddress, name: string, onMessage: (message: Message) => void) => {
  const client: Redis = connect(address);
  const subscribed = Promise.withResolvers<void>();
  const again = (error: unknown): void => {
    subscribed.reject(error);
    reconnect(client);
  };
  client.on('ready', () => void client.subscribe(name).then(() => subscribed.resolve(), again));
  client.on('message', (_, text: string) => {
    const message = decode(text);
    if (message !== undefined) onMessage(message);
  });
  const timer = setInterval(() => {
    if (client.status === 'ready') void client.ping().catch(() => {});
  }, beat).unref();
  return {
    /** Resolves once messages arrive, or rejects when the first try to hear them fails. */
    opened: subscribed.promise,
    close: (): void => {
      clearInterval(timer);
      client.disconnect();
    },
  };
};
