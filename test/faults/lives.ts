/** One directory of data and the service over it, as often as it is killed and started again. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningService, startService } from '../support/running-service.ts';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';

export interface Lives {
  /** `DATA_DIR`. */
  readonly data: string;
  /** `FLOWS_DIR`, empty at first. */
  readonly flows: string;
  /** The next life. Whatever is left of it is ended with the test. */
  start(): Promise<RunningService>;
}

/**
 * Gives each owner its own directories. One start in advance fills a cache of compiled modules, since starting is most
 * of what these tests do; Node writes it only when a process exits by itself.
 */
export const prepareLives = async (t: Owner, env: Readonly<Record<string, string>>) => {
  const cached = { ...env, NODE_COMPILE_CACHE: await temporaryDirectory(t) };
  const first = await openLives(t, cached);
  await (await first.start()).stop();
  return (owner: Owner): Promise<Lives> => openLives(owner, cached);
};

const openLives = async (t: Owner, env: Readonly<Record<string, string>>): Promise<Lives> => {
  const directory = await temporaryDirectory(t);
  const [data, flows] = [join(directory, 'data'), join(directory, 'flows')];
  await mkdir(flows);
  return {
    data,
    flows,
    start: async () => {
      const service = await startService({ ...env, DATA_DIR: data, FLOWS_DIR: flows });
      t.teardown(async () => {
        await service.stop('SIGKILL');
      });
      return service;
    },
  };
};
