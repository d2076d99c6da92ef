import { execFile } from 'node:child_process';
import { cp, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import sharp from 'sharp';
import t from 'tap';
import { findProgram } from '../services/debian.ts';
import { startDeployment } from '../support/deployment.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const curl = findProgram('curl');

t.test("the README's walk-through does what it says", { skip: curl === undefined && 'curl is missing' }, async (t) => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const script = /## Walk through it with curl[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme)?.[1];
  if (script === undefined) throw new Error('the README has no walk-through');

  const directory = await temporaryDirectory(t);
  const service = await startDeployment({ DATA_DIR: join(directory, 'data') });
  t.teardown(() => service.stop());
  await cp(join(root, 'docs/sample.jpg'), join(directory, 'docs/sample.jpg'));
  const env = { PATH: process.env['PATH'], SLUICE: service.url };
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: directory, env, timeout: 60_000 });

  const safe = Number(/^(\d+) bytes are safe$/m.exec(stdout)?.[1]);
  const { size } = await stat(join(root, 'docs/sample.jpg'));
  t.ok(safe > 0 && safe < size, `the connection was cut on the way, at ${safe} of ${size}`);
  t.match(stdout, new RegExp(`"offset":${size},"status":"completed"`));
  t.match(await sharp(join(directory, 'small.webp')).metadata(), { format: 'webp', width: 400 });
});
