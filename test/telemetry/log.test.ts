import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const log = fileURLToPath(new URL('../../src/telemetry/log.ts', import.meta.url));

t.test('the log is one JSON object a line, with the level by name and the time in ISO 8601', (t) => {
  const program = `import { createLog } from ${JSON.stringify(log)};
    const log = createLog('info'); log.debug('hidden'); log.info({ a: 1 }, 'shown'); log.flush();`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(lines.length, 1);
  t.match(lines[0], { level: 'info', a: 1, msg: 'shown', time: /^\d{4}-\d\d-\d\dT.*Z$/ });
  t.strictSame(Object.keys(lines[0]).toSorted(), ['a', 'level', 'msg', 'time'], 'nothing about the machine');
  t.end();
});
