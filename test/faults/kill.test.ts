/** The kill loop, in its short form. */
import t from 'tap';
import { faults } from './command.ts';

// The loop ends by itself long before, except on the slowest machines.
t.setTimeout(300_000);

void t.test('forty kills lose nothing and leave nothing behind', async (t) => {
  const { code, output, errors } = await faults('kill');
  t.comment(output);
  t.equal(code, 0, errors);
  t.match(
    output,
    /^kill --kills 40 --seed \d+\n40 kills, [1-9]\d* requests cut off: [1-9]\d* uploads whole, [1-9]\d* delet/,
  );
});

void t.test('what is not a number, or not a command, is refused', async (t) => {
  t.match(await faults('kill', '--kills', 'many'), { code: 1, errors: /many is not a number/ });
  t.match(await faults('stop'), { code: 1, errors: /The command is one of: kill, replicas, redis, s3/ });
});
