/** Listeners of one process, by what they listen to. */

type Listener = () => void;

interface Subscription {
  readonly listener: Listener;
}

export const createListeners = () => {
  const subscriptions = new Map<string, Set<Subscription>>();

  return {
    /** What is listened to now. */
    names: (): string[] => [...subscriptions.keys()],
    has: (name: string): boolean => subscriptions.has(name),
    /** The function it gives ends the subscription, and says whether nobody is left. */
    add: (name: string, listener: Listener): (() => boolean) => {
      const ofName = subscriptions.get(name) ?? new Set();
      subscriptions.set(name, ofName);
      // An object of its own, so that one listener may subscribe twice.
      const subscription = { listener };
      ofName.add(subscription);
      return () => {
        if (!ofName.delete(subscription) || ofName.size > 0 || subscriptions.get(name) !== ofName) return false;
        return subscriptions.delete(name);
      };
    },
    wake: (name: string): void => {
      const ofName = subscriptions.get(name);
      if (ofName === undefined) return;
      for (const subscription of ofName) {
        // Looked up again: it may end between the notification and the call.
        queueMicrotask(() => ofName.has(subscription) && call(subscription.listener));
      }
    },
    clear: (): void => {
      for (const ofName of subscriptions.values()) ofName.clear();
      subscriptions.clear();
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
