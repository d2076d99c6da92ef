/** Where a container of the compose file is on this machine, and what its words become there. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the compose file. */
export const project = fileURLToPath(new URL('../..', import.meta.url));

/** What each service listens on in its own container. */
const innerPorts: Readonly<Record<string, number>> = { nginx: 80, sluice: 3000, valkey: 6379, s3: 9000 };

export interface Place {
  readonly service: string;
  /** Of the loopback interface. */
  readonly port: number;
  /** Directories of this machine by the path that the container sees them at. */
  readonly mounts: Readonly<Record<string, string>>;
}

/** Named volumes become directories below `directory`; one without a name becomes `unnamed` there. */
export const mountsOf = (volumes: readonly string[], directory: string, unnamed: string): Place['mounts'] =>
  Object.fromEntries(
    volumes.map((volume) => {
      const [source = '', target] = volume.split(':');
      if (target === undefined) return [source, resolve(directory, unnamed)];
      return [target, resolve(source.startsWith('.') ? project : directory, source)];
    }),
  );

/**
 * A word of a command or a value of the environment: the container's own address and those of services (`others`: their
 * ports here) become addresses of the loopback interface, paths of its volumes become those of the directories.
 */
export const translate = (word: string, place: Place, others: ReadonlyMap<string, number>): string => {
  const { service, port, mounts } = place;
  const inner = innerPorts[service];
  if (word === '0.0.0.0') return '127.0.0.1';
  if (word === `${inner}`) return `${port}`;
  if (word === `:${inner}`) return `127.0.0.1:${port}`;
  for (const [target, directory] of Object.entries(mounts))
    if (`${word}/`.startsWith(`${target}/`)) return word.replace(target, directory);
  return word.replace(/(?<=:\/\/)([\w.]+):(\d+)/, (address, host: string, told: string) => {
    if (host === '127.0.0.1' && told === `${inner}`) return `${host}:${port}`;
    const other = others.get(host);
    if (other === undefined) return address;
    if (told !== `${innerPorts[host]}`) throw new Error(`${host} does not listen on ${told}`);
    return `127.0.0.1:${other}`;
  });
};
