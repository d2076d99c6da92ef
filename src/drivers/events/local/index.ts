/** Wake-ups within one process: a set of listeners per upload and per job. */
import { ServiceError } from '../../../domain/errors.ts';
import type { EventBroadcaster } from '../../../ports/event-broadcaster.ts';
import { createListeners } from '../listeners.ts';

/** A broadcaster for a single process. */
export const localEvents = (): EventBroadcaster => {
  const listeners = createListeners();
  let closed = false;

  const check = (): void => {
    if (closed) throw new ServiceError('UNAVAILABLE');
  };

  return {
    notify: async (topic, id) => listeners.wake(`${topic}:${id}`),
    subscribe: async (topic, id, listener) => {
      check();
      const end = listeners.add(`${topic}:${id}`, listener);
      return () => void end();
    },
    ping: async () => check(),
    close: async () => {
      closed = true;
      listeners.clear();
    },
  };
};
