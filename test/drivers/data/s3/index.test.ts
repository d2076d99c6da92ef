/** The S3 data store: the port's suite over a real server. */
import t from 'tap';
import { s3DataStore } from '../../../../src/drivers/data/s3/index.ts';
import { testDataStore } from '../../../conformance/data-store.ts';
import { s3Server } from '../../../services/s3.ts';
import { KeptRecord, openS3, patchRecord, s3Options } from '../../../support/s3-store.ts';

const server = await s3Server();

const make = (equalParts: boolean) => async () => {
  if (server === undefined) throw new Error('There is no S3 server');
  const driver = await s3DataStore({ ...s3Options(server), equalParts });
  return { driver, teardown: () => driver.close() };
};

if (server !== undefined) {
  testDataStore('s3', make(false));
  testDataStore('s3, equal parts', make(true));
}

const skip = server === undefined ? 'there is no S3 server' : false;
const there = server ?? { endpoint: '', region: '', accessKeyId: '', secretAccessKey: '' };

t.test('the bucket is made when it is missing', { skip }, async (t) => {
  const bucket = `sluice-new-${Date.now()}`;
  for (let replica = 0; replica < 2; replica += 1) {
    const store = await openS3(t, there, { bucket });
    await t.resolves(store.ping());
  }
});

t.test('a bucket that cannot be used stops the start', { skip }, async (t) => {
  await t.rejects(openS3(t, there, { secretAccessKey: 'wrong' }), { message: /bucket "sluice-tests" cannot be used/ });
  await t.rejects(openS3(t, there, { accessKeyId: undefined }), { message: /needs its secret/ });
});

t.test('keys that are none are refused', { skip }, async (t) => {
  const store = await openS3(t, there);
  const refused = { code: 'STORAGE_ERROR', cause: { message: /is not a key/ } };
  for (const key of ['', '..', '../x', 'a/../x', '/a', 'a/', 'a//b', 'a\nb', '~tails/x', 'ä']) {
    const title = JSON.stringify(key);
    await t.rejects(store.append(key, { offset: 0 }), refused, `append ${title}`);
    await t.rejects(store.read(key), refused, `read ${title}`);
    await t.rejects(store.materialize(key, '/tmp'), refused, `materialize ${title}`);
    await t.rejects(store.publish(key, '/tmp/none'), refused, `publish ${title}`);
    await t.rejects(store.remove(key), refused, `remove ${title}`);
  }
  for (const prefix of ['../', '/', '~tails/']) await t.rejects(store.list(prefix), refused, `list ${prefix}`);
});

t.test('stores with different prefixes do not see each other', { skip }, async (t) => {
  const [one, other] = [await openS3(t, there), await openS3(t, there)];
  await patchRecord(one, 'uploads/x', new KeptRecord(), Buffer.from('one'), 3);
  t.strictSame(await one.list(''), ['uploads/x']);
  t.strictSame(await other.list(''), []);
  await t.rejects(other.read('uploads/x'), { code: 'FILE_NO_LONGER_EXISTS' });
});
