/** Drivers that a test takes away in the middle of the work, as the death of their process does. */

export interface Mortal {
  /** The driver, as long as it lives: after that every call is refused. */
  lend<T extends object>(driver: T): T;
  /** Resolves once the calls that were under way are over: nothing of this life is written later. */
  end(): Promise<void>;
}

export const mortal = (): Mortal => {
  const pending = new Set<Promise<unknown>>();
  let isDead = false;

  const guarded =
    (call: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      if (isDead) return Promise.reject(new Error('The process is dead'));
      const answer = call(...args);
      if (answer instanceof Promise) watch(answer);
      return answer;
    };
  const watch = (answer: Promise<unknown>): void => {
    pending.add(answer);
    const forget = () => pending.delete(answer);
    answer.then(forget, forget);
  };
  return {
    lend: (driver) =>
      new Proxy(driver, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? guarded(value.bind(target)) : value;
        },
      }),
    end: async () => {
      isDead = true;
      await Promise.allSettled(pending);
    },
  };
};
