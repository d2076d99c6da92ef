/** The signals that end a command: the first one lets it clean up, the second one ends it at once. */
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupt {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** What shells expect of a process that was interrupted; `undefined` while it was not. */
  exitCode(): number | undefined;
  /** Gives the signals back. */
  end(): void;
}

export const onInterrupt = (): Interrupt => {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const stop = (name: NodeJS.Signals) => {
    if (exitCode !== undefined) process.exit(exitCode);
    exitCode = 128 + constants.signals[name];
    controller.abort();
  };
  for (const name of signals) process.on(name, stop);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    end() {
      for (const name of signals) process.off(name, stop);
    },
  };
};
