import type { FlowDefinition } from '../../domain/flow.ts';
import { FlowLoadError, formatProblem } from './flow-problem.ts';

type Flows = Readonly<Record<string, FlowDefinition>>;

export interface ReloadDeps {
  /** Rejects when the flows cannot be taken: then those that are in use stay. */
  readonly load: () => Promise<Flows>;
  /** Puts them into use, all at once or not at all. */
  readonly replace: (flows: Flows) => void | Promise<void>;
  readonly log: {
    info(message: string): void;
    error(context: Readonly<Record<string, unknown>>, message: string): void;
  };
}

/**
 * Loads the flows anew and puts them into use. One reload runs at a time; what is asked for meanwhile is one more after
 * it, whose result is newer and the only one that counts. Resolves when that is done, and never rejects.
 */
export type ReloadFlows = () => Promise<void>;

export const createReloadFlows = (deps: ReloadDeps): ReloadFlows => {
  let asked = false;
  let working: Promise<void> | undefined;
  const work = async () => {
    while (asked) {
      asked = false;
      await reload(deps, () => asked);
    }
    working = undefined;
  };
  return () => {
    asked = true;
    working ??= work();
    return working;
  };
};

const reload = async ({ load, replace, log }: ReloadDeps, isOutdated: () => boolean): Promise<void> => {
  try {
    const flows = await load();
    if (isOutdated()) return;
    await replace(flows);
    log.info(`The flows were loaded again: ${Object.keys(flows).join(', ') || 'none'}`);
  } catch (error) {
    if (!isOutdated()) log.error(whatIsWrong(error), 'The flows could not be loaded again and stay as they were');
  }
};

const whatIsWrong = (error: unknown) =>
  error instanceof FlowLoadError ? { problems: error.problems.map(formatProblem) } : { err: error };
