import { randomBytes } from 'node:crypto';
import t from 'tap';
import { s3Server } from '../../../services/s3.ts';
import { KeptRecord, leftovers, openS3, patchRecord, s3Options } from '../../../support/s3-store.ts';

const server = await s3Server();
const skip = server === undefined ? 'there is no S3 server' : false;

t.test('what no record knows of is removed, when it is old enough', { skip }, async (t) => {
  if (server === undefined) return;
  const options = s3Options(server);
  const store = await openS3(t, server, options);
  const records = new Map<string, KeptRecord>();
  for (const key of ['uploads/alive', 'uploads/dead']) {
    const record = new KeptRecord();
    // Two parts and a tail each.
    await patchRecord(store, key, record, randomBytes(17_000_000), undefined);
    records.set(key, record);
  }
  await patchRecord(store, 'uploads/done', new KeptRecord(), randomBytes(100), 100);
  const before = await leftovers(server, options.prefix);
  t.strictSame([before.objects.length, before.uploads.length], [3, 2]);
  const stateOf = async (key: string) => (key === 'uploads/alive' ? records.get(key)?.last.state : undefined);

  await store.sweep?.({ before: Date.now() - 60_000, stateOf });
  t.strictSame(await leftovers(server, options.prefix), before, 'nothing that is young');

  await store.sweep?.({ before: Date.now() + 60_000, stateOf });
  const after = await leftovers(server, options.prefix);
  t.strictSame(after.uploads, ['uploads/alive']);
  t.strictSame(
    after.objects.filter((name) => !name.startsWith('~tails/uploads/alive/')),
    ['uploads/done'],
  );
  t.equal(after.objects.length, 2);
});
