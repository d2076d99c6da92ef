/** Programs that tests need: what is installed, else Debian's package of it. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** `undefined` where the environment says TEST_SERVICES=embedded and the program is missing: the test is skipped. */
export const findProgram = (name: string, packageName: string = name): string | undefined =>
  findOrInstall(packageName, () => onPath(name)[0]);

/** What `find` finds now, or once Debian's packages (with a space between) are installed. Fails when that cannot be. */
export const findOrInstall = (packageName: string, find: () => string | undefined): string | undefined => {
  const found = find();
  if (found !== undefined || process.env['TEST_SERVICES'] === 'embedded') return found;
  try {
    aptGet('update', '-q');
    aptGet('install', '-q', '-y', '--no-install-recommends', ...packageName.split(' '));
  } catch (error) {
    throw new Error(
      `${packageName} is missing and could not be installed from Debian's packages; TEST_SERVICES=embedded skips its tests`,
      { cause: error },
    );
  }
  return find();
};

/** One at a time on this machine: test files run side by side, and the second one would find the lists locked. */
const aptGet = (...args: string[]): void => {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('flock', [join(tmpdir(), 'sluice-apt.lock'), 'apt-get', ...args], { stdio: 'pipe', env });
};

/** All programs of that name, those that would be run first at the front. */
export const onPath = (name: string): readonly string[] =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .filter((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
