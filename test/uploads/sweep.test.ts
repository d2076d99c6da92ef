import t from 'tap';
import type { SweepOptions } from '../../src/ports/data-store.ts';
import { uploadRig } from '../support/upload-rig.ts';

t.test('a store is told what the records of incomplete uploads keep for it', async (t) => {
  const { uploads, append, change } = await uploadRig(t);
  const open = await uploads.create({ size: 10 });
  const done = await uploads.create({ size: 5 });
  await append(done.id, 'hello');
  for (const { id } of [open, done]) await change(id, { sink: { uploadId: 'u' } });
  let swept: SweepOptions | undefined;
  await uploads.sweep({
    sweep: async (options) => {
      swept = options;
    },
  });
  t.ok(swept !== undefined && swept.before <= Date.now() - 24 * 3_600_000, 'of what is older than a day');
  t.strictSame(await swept?.stateOf(`uploads/${open.id}`), { uploadId: 'u' });
  t.equal(await swept?.stateOf(`uploads/${done.id}`), undefined);
  t.equal(await swept?.stateOf('uploads/unknown'), undefined);
  t.equal(await swept?.stateOf('jobs/j1/n/0-abc.jpg'), undefined);
});

t.test('a store that leaves nothing behind is not asked', async (t) => {
  const { uploads } = await uploadRig(t);
  await t.resolves(uploads.sweep({}));
});
