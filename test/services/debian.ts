/** Programs that tests need: what is installed, else Debian's package of it. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `undefined` where the environment says TEST_SERVICES=embedded and the program is missing: the test is skipped. */
export const findProgram = (name: string, packageName: string = name): string | undefined => {
  const found = onPath(name);
  if (found !== undefined) return found;
  if (process.env['TEST_SERVICES'] === 'embedded') return undefined;
  try {
    execFileSync('apt-get', ['update', '-q'], { stdio: 'pipe' });
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    execFileSync('apt-get', ['install', '-q', '-y', '--no-install-recommends', packageName], { stdio: 'pipe', env });
  } catch (error) {
    throw new Error(
      `${name} is missing and could not be installed from Debian's packages; TEST_SERVICES=embedded skips its tests`,
      { cause: error },
    );
  }
  return onPath(name);
};

const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
