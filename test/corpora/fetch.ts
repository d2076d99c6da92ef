/** Gets the archives of the sources once, through the clients of their registries, and unpacks what is asked of them. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Source } from './sources.ts';

const cache = fileURLToPath(new URL('../../node_modules/.cache/sluice-corpora', import.meta.url));

/** Debian's own downloader: it knows the proxies and the mirror that the machine is set up for. */
const aptHelper = '/usr/lib/apt/apt-helper';

/** The folder with the files of the source; got when it is not there yet. */
export const fetchSource = async (source: Source): Promise<string> => {
  const folder = join(cache, `${source.name}-${source.sha256.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, 'getting-'));
  try {
    const archive = await download(source, work);
    await checkHash(source, archive);
    await unpack(source, archive, join(work, 'files'));
    // Only a whole folder ever has the name.
    await rename(join(work, 'files'), folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return folder;
};

const download = (source: Source, work: string): Promise<string> =>
  'pypi' in source.from ? fromPypi(source.from.pypi, work) : fromDebian(source, source.from.debian, work);

const fromPypi = async (requirement: string, work: string): Promise<string> => {
  const to = join(work, 'pypi');
  run('pip', ['download', '-q', '--no-deps', '--no-binary', ':all:', '--dest', to, requirement]);
  const [archive] = await readdir(to);
  if (archive === undefined) throw new Error(`pip has got nothing for ${requirement}`);
  return join(to, archive);
};

const fromDebian = async ({ sha256 }: Source, path: string, work: string): Promise<string> => {
  const archive = join(work, path.slice(path.lastIndexOf('/') + 1));
  const listed = run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Identifier: Packages']).split('\n');
  const mirrors = new Set(listed.filter((uri) => uri !== ''));
  for (const mirror of mirrors) {
    const url = `${mirror.replace(/\/?$/, '/')}pool/main/${path}`;
    const isThere = attempt(() => run(aptHelper, ['download-file', url, archive, `SHA256:${sha256}`]));
    if (isThere && existsSync(archive)) return archive;
  }
  throw new Error(`${path} is in none of the ${mirrors.size} archives that apt is set up for`);
};

const run = (program: string, parameters: readonly string[]): string =>
  execFileSync(program, parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const attempt = (work: () => unknown): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

const checkHash = async ({ name, sha256 }: Source, archive: string): Promise<void> => {
  const actual = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex');
  if (actual !== sha256) throw new Error(`${name}: the archive has the hash ${actual} instead of ${sha256}`);
};

const unpack = async ({ folders }: Source, archive: string, to: string): Promise<void> => {
  await mkdir(to);
  const wanted = folders.map((folder) => `*/${folder}/*`);
  run('tar', ['-xf', archive, '-C', to, '--strip-components=1', '--no-same-owner', '--wildcards', ...wanted]);
};
