/**
 * An image in place of the Node image that the Dockerfile names, for machines that reach no registry of images: Debian,
 * and the Node and npm of this machine with what they need to reach its registry of packages.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onPath } from '../services/debian.ts';
import type { Buildah } from './buildah.ts';

const cache = fileURLToPath(new URL('../../node_modules/.cache/sluice-image', import.meta.url));

/** Builds it below `directory` and gives its tag. `mmdebstrap` is the path of that program; it is run once only. */
export const buildStandIn = async (buildah: Buildah, mmdebstrap: string, directory: string): Promise<string> => {
  const context = join(directory, 'stand-in');
  const npm = join(await realpath(onPath('npm')[0] ?? 'npm'), '../..');
  await cp(await debian(mmdebstrap), join(context, 'debian.tar'));
  await cp(process.execPath, join(context, 'node'));
  await cp(npm, join(context, 'npm'), { recursive: true, dereference: true });
  await cp(
    process.env['NODE_EXTRA_CA_CERTS'] ?? '/etc/ssl/certs/ca-certificates.crt',
    join(context, 'authorities.crt'),
  );
  await writeFile(join(context, 'Dockerfile'), dockerfile());
  const tag = 'localhost/sluice-stand-in';
  buildah.build({ context, tag });
  return tag;
};

/** Debian without anything beside its package manager; it has no user 1000, as only the number counts. */
const debian = async (mmdebstrap: string): Promise<string> => {
  const archive = join(cache, 'debian.tar');
  if (existsSync(archive)) return archive;
  await mkdir(cache, { recursive: true });
  const half = join(cache, `${process.pid}.tar`);
  const [, suite = 'stable'] = /^VERSION_CODENAME=(\S+)$/m.exec(await readFile('/etc/os-release', 'utf8')) ?? [];
  execFileSync(mmdebstrap, ['--variant=minbase', suite, half], { stdio: ['ignore', 'ignore', 'pipe'] });
  await rename(half, archive);
  return archive;
};

const dockerfile = (): string => {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  return `FROM scratch
ADD debian.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.crt /etc/ssl/authorities.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/authorities.crt npm_config_registry=${registry}
`;
};
