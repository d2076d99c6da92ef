import { join } from 'node:path';
import t from 'tap';
import { openStorages } from '../../../src/drivers/data/open.ts';
import { s3Server } from '../../services/s3.ts';
import { s3Options } from '../../support/s3-store.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const server = await s3Server();
const skip = server === undefined ? 'there is no S3 server' : false;

t.test('directories and buckets side by side, each with its own files', { skip }, async (t) => {
  if (server === undefined) return;
  const directory = await temporaryDirectory(t);
  const storages = await openStorages(
    {
      one: { type: 'local', directory: join(directory, 'one') },
      two: { type: 'local', directory: join(directory, 'two') },
      bucket: { type: 's3', ...s3Options(server) },
    },
    { durability: 'process' },
  );
  for (const [id, store] of Object.entries(storages)) {
    const sink = await store.append(`uploads/${id}`, { offset: 0 });
    sink.write(Buffer.from(id));
    await sink.finish({ length: id.length });
    await sink.close();
  }
  for (const [id, store] of Object.entries(storages)) {
    t.strictSame(await store.list(''), [`uploads/${id}`]);
    await store.close();
  }
  t.strictSame([storages.one.type, storages.bucket.type], ['local', 's3']);
});

t.test('one that cannot be opened stops the start', async (t) => {
  const directory = '/dev/null/files';
  await t.rejects(openStorages({ default: { type: 'local', directory } }, { durability: 'process' }), /ENOTDIR/);
});
