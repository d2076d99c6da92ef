/** Wake-ups within one process: a set of listeners per upload and per job. */
import { ServiceError } from '../../../domain/errors.ts';
import type { Topic } from '../../../domain/event.ts';
import type { EventBroadcaster } from '../../../ports/event-broadcaster.ts';

type Listener = () => void;

interface Subscription {
  readonly listener: Listener;
}

/** A broadcaster for a single process. */
export const localEvents = (): EventBroadcaster => {
  const topics: Record<Topic, Map<string, Set<Subscription>>> = { uploads: new Map(), jobs: new Map() };
  let closed = false;

  const check = (): void => {
    if (closed) throw new ServiceError('UNAVAILABLE');
  };
  const subscribe = (topic: Topic, id: string, listener: Listener): (() => void) => {
    const subscriptions = topics[topic].get(id) ?? new Set();
    topics[topic].set(id, subscriptions);
    // An object of its own, so that one listener may subscribe twice.
    const subscription = { listener };
    subscriptions.add(subscription);
    return () => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && topics[topic].get(id) === subscriptions) topics[topic].delete(id);
    };
  };

  return {
    notify: async (topic, id) => {
      const subscriptions = topics[topic].get(id);
      if (subscriptions === undefined) return;
      for (const subscription of subscriptions) {
        // Looked up again: it may end between the notification and the call.
        queueMicrotask(() => subscriptions.has(subscription) && call(subscription.listener));
      }
    },
    subscribe: async (topic, id, listener) => {
      check();
      return subscribe(topic, id, listener);
    },
    ping: async () => check(),
    close: async () => {
      closed = true;
      for (const topic of Object.values(topics)) {
        for (const subscriptions of topic.values()) subscriptions.clear();
        topic.clear();
      }
    },
  };
};

/** Calls a listener outside the notifier's own steps. What it throws stays with it, but does not go unseen. */
const call = async (listener: Listener): Promise<void> => {
  try {
    await listener();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
};
