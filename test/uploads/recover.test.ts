import { createHash } from 'node:crypto';
import t from 'tap';
import { uploadRig } from '../support/upload-rig.ts';

const flow = { flowId: 'f', nodeId: 'n', jobId: 'j' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const soon = () => Date.now() + 60_000;

t.test('a verification that a crash cut off is finished', async (t) => {
  const { uploads, append, change, told, events, errors } = await uploadRig(t);
  const good = await uploads.create({ size: 10, checksum: sha256('hello'), flow });
  const bad = await uploads.create({ size: 10, checksum: sha256('other'), flow });
  for (const { id } of [good, bad]) {
    await append(id, 'hello');
    // As if `hello` had been all of it, and the process had died while it read it back.
    await change(id, { size: 5, status: 'finalizing' }, 1);
  }
  await uploads.recover(soon());
  t.match(await uploads.get(good.id, undefined), { status: 'completed', offset: 5 });
  t.match(await uploads.get(bad.id, undefined), { status: 'failed', error: { code: 'CHECKSUM_MISMATCH' } });
  t.strictSame(told.map(({ status }) => status).sort(), ['completed', 'failed']);
  t.equal((await events(good.id)).at(-1)?.type, 'upload_complete');
  t.match(errors, [{ code: 'CHECKSUM_MISMATCH' }], 'which the log may know');
  told.length = 0;
  await uploads.recover(soon());
  t.strictSame(told, [], 'and then there is nothing left to do');
});

t.test('a job that was not told of its upload is told', async (t) => {
  let broken = true;
  const { uploads, append, told, kvStore } = await uploadRig(t, {
    tellJob: async () => {
      if (broken) throw new Error('the process dies here');
    },
  });
  const { id } = await uploads.create({ size: 5, flow });
  await t.rejects(append(id, 'hello'));
  broken = false;
  told.length = 0;
  await uploads.recover(soon());
  t.match(told, [{ id, status: 'completed' }]);
  t.strictSame(await kvStore.due('uploads', Number.MAX_SAFE_INTEGER, 10), []);
});

t.test('what is not due yet is left alone', async (t) => {
  const { uploads, append, told } = await uploadRig(t, { tellJob: () => Promise.reject(new Error('no')) });
  const { id } = await uploads.create({ size: 5, flow });
  await t.rejects(append(id, 'hello'));
  told.length = 0;
  await uploads.recover(Date.now());
  t.strictSame(told, []);
});

t.test('one that fails does not hold up the others', async (t) => {
  const failing = new Set<string>();
  const { uploads, append, change, errors } = await uploadRig(t, {
    tellJob: async ({ id }) => {
      if (failing.has(id)) throw new Error(`no ${id}`);
    },
  });
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { id } = await uploads.create({ size: 5, flow });
    await append(id, 'hello');
    await change(id, {}, count);
    ids.push(id);
  }
  failing.add(String(ids[0]));
  await uploads.recover(soon());
  t.match(errors, [{ message: `no ${ids[0]}` }]);
  t.equal(errors.length, 1);
});
