/**
 * Wake-ups over all replicas: one pub/sub channel per upload and per job.
 *
 * Redis keeps no message for who is not connected. So after every reconnection the channels are subscribed to again,
 * and then every listener is woken once: it reads the log, and has missed nothing.
 */
import type { Redis } from 'ioredis';
import { ServiceError } from '../../../domain/errors.ts';
import type { Topic } from '../../../domain/event.ts';
import type { EventBroadcaster } from '../../../ports/event-broadcaster.ts';
import { answer, connect, prefixOf, type RedisAddress, reconnect } from '../../redis.ts';
import { createListeners } from '../listeners.ts';

/** Milliseconds between two looks at whether the subscriptions still have a connection: a lost one makes no sound. */
const beat = 2000;

/** A broadcaster for all replicas at one Redis. */
export const redisEvents = (address: RedisAddress): EventBroadcaster => {
  const publisher = connect(address);
  const subscriber = connect(address);
  const channelOf = (topic: Topic, id: string): string => `${prefixOf(address)}:wake:${topic}:${id}`;
  const listeners = createListeners();
  const subscriptions = createSubscriptions(subscriber, listeners);
  const timer = setInterval(() => void subscriptions.beat(), beat).unref();
  let closed = false;

  return {
    notify: async (topic, id) => {
      await answer(publisher, () => publisher.publish(channelOf(topic, id), ''));
    },
    subscribe: async (topic, id, listener) => {
      if (closed) throw new ServiceError('UNAVAILABLE');
      const channel = channelOf(topic, id);
      const end = listeners.add(channel, listener);
      const leave = (): void => {
        if (end()) subscriptions.leave(channel);
      };
      try {
        await subscriptions.join(channel);
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    ping: async () => {
      await Promise.all([publisher, subscriber].map((client) => answer(client, () => client.ping())));
    },
    close: async () => {
      closed = true;
      clearInterval(timer);
      listeners.clear();
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
};

/** Keeps Redis in step with what is listened to. */
const createSubscriptions = (client: Redis, listeners: ReturnType<typeof createListeners>) => {
  // A connection that has failed at this cannot be told from a good one later: it is made anew.
  const anew = () => reconnect(client);
  let connected = false;
  const renew = async (): Promise<void> => {
    // Those who came before the first connection wait for it themselves.
    const again = connected;
    connected = true;
    if (!again) return;
    const channels = listeners.names();
    if (channels.length === 0) return;
    await client.subscribe(...channels);
    for (const channel of channels) listeners.wake(channel);
  };
  client.on('ready', () => void renew().catch(anew));
  client.on('message', (channel: string) => listeners.wake(channel));

  return {
    /** Resolves once messages of the channel arrive. Asked of Redis each time, which does no harm: it may be underway. */
    join: (channel: string) => answer(client, () => client.subscribe(channel)),
    leave: (channel: string): void => {
      if (client.status === 'ready') void client.unsubscribe(channel).catch(anew);
    },
    beat: async (): Promise<void> => {
      // The connection gives itself up when nothing comes back.
      if (client.status === 'ready') await client.ping().catch(() => {});
    },
  };
};
