import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const program = fileURLToPath(new URL('../../src/cli/health.ts', import.meta.url));

const exitCode = (env: Record<string, string>): Promise<number> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program], { env }, (error) => resolve(error === null ? 0 : Number(error.code)));
  });

t.test('the health check exits with 0 while the service answers, else with 1', async (t) => {
  const service = await startService({ DATA_DIR: await temporaryDirectory(t), BASE_PATH: 'files/v1' });
  const env = { PORT: new URL(service.url).port, BASE_PATH: 'files/v1' };
  t.equal(await exitCode(env), 0);
  t.equal(await exitCode({ ...env, BASE_PATH: 'elsewhere' }), 1);
  await service.stop();
  t.equal(await exitCode(env), 1);
});
