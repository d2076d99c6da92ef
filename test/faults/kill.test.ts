/** The kill loop, in its short form. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';

// The loop ends by itself long before, except on the slowest machines.
t.setTimeout(300_000);

const program = fileURLToPath(new URL('run.ts', import.meta.url));

const faults = async (...args: readonly string[]) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, output, errors };
};

void t.test('forty kills lose nothing and leave nothing behind', async (t) => {
  const { code, output, errors } = await faults('kill');
  t.comment(output);
  t.equal(code, 0, errors);
  t.match(
    output,
    /^--kills 40 --seed \d+\n40 kills, [1-9]\d* requests cut off: [1-9]\d* uploads whole, [1-9]\d* delet/,
  );
});

void t.test('what is not a number, or not a command, is refused', async (t) => {
  t.match(await faults('kill', '--kills', 'many'), { code: 1, errors: /many is not a number/ });
  t.match(await faults('stop'), { code: 1, errors: /The command is: kill/ });
});
