import t from 'tap';
import { createRoom } from '../../../../src/drivers/data/local/room.ts';

t.test('few have a MiB each, many share 64, and nobody has less than a chunk', async (t) => {
  const room = createRoom();
  const enter = (count: number) => Array.from({ length: count }, room.enter);
  const first = enter(64);
  t.equal(room.each(), 1_048_576);
  const more = enter(64);
  t.equal(room.each(), 524_288);
  const crowd = enter(5000);
  t.equal(room.each(), 65_536);
  for (const leave of [...more, ...crowd]) leave();
  t.equal(room.each(), 1_048_576);
  for (const leave of first) leave();
});
