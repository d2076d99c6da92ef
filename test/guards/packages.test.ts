import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };

/** The packages that the source imports, by the files that do. */
const imported = (): Map<string, string> => {
  const packages = new Map<string, string>();
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file, 'utf8').replaceAll(/^\s*(?:\*|\/\/).*$/gm, '');
    for (const [, specifier = ''] of text.matchAll(/(?:from|import\(|import\.meta\.resolve\()\s*'([@a-z][^']*)'/g)) {
      if (isBuiltin(specifier)) continue;
      packages.set(
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
        file,
      );
    }
  }
  return packages;
};

t.test('the source imports only what is installed with it, and all of that', (t) => {
  const packages = imported();
  for (const [name, file] of packages) t.ok(name in dependencies, `${name}, imported by ${file}`);
  for (const name of Object.keys(dependencies)) t.ok(packages.has(name), `${name} is imported`);
  t.end();
});

t.test('the image runs as a user without rights, from a pinned base, and says whether it is well', (t) => {
  const dockerfile = read('Dockerfile');
  t.match(dockerfile, /^ARG NODE_IMAGE=node:24-/m);
  t.notMatch(dockerfile, /:latest/);
  t.match(dockerfile, /^USER 1000:1000$/m);
  t.match(dockerfile, /^HEALTHCHECK /m);
  t.match(dockerfile, /^STOPSIGNAL SIGTERM$/m);
  t.match(dockerfile, /^CMD \["node", "src\/main\.ts"\]$/m, 'no npm between the signals and the service');
  t.notMatch(dockerfile, /(?:ARG|ENV) .*(?:SECRET|TOKEN|PASSWORD)/);
  t.end();
});
