import t from 'tap';
import { createPresigner } from '../../../../src/drivers/data/s3/presign.ts';
import { s3Server } from '../../../services/s3.ts';
import { KeptRecord, openS3, patchRecord, testBucket } from '../../../support/s3-store.ts';

const server = await s3Server();
const skip = server === undefined ? 'there is no S3 server' : false;
const there = server ?? { endpoint: '', region: '', accessKeyId: '', secretAccessKey: '' };
const contentDisposition = `attachment; filename="a_.txt"; filename*=UTF-8''%C3%A4.txt`;
const options = { expiresIn: 60, contentType: 'text/plain; charset=utf-8', contentDisposition };

t.test('whoever has the address gets that file, as it is to be called', { skip }, async (t) => {
  const store = await openS3(t, there);
  await patchRecord(store, 'uploads/x', new KeptRecord(), Buffer.from('0123456789'), 10);
  const address = String(await store.presign?.('uploads/x', options));
  const response = await fetch(address);
  t.equal(await response.text(), '0123456789');
  t.match(Object.fromEntries(response.headers), {
    'content-type': options.contentType,
    'content-disposition': contentDisposition,
    'cache-control': 'private, no-cache',
  });
  const range = await fetch(address, { headers: { range: 'bytes=2-4' } });
  t.strictSame([range.status, await range.text()], [206, '234']);
  t.equal((await fetch(address.replace('uploads/x', 'uploads/y'))).status, 403, 'and no other file');
  t.equal((await fetch(address.replace('X-Amz-Expires=60', 'X-Amz-Expires=61'))).status, 403, 'nor for longer');
  t.equal((await fetch(address, { method: 'DELETE' })).status, 403, 'nor for anything else');
});

t.test('the server may have another address for clients', async (t) => {
  const connection = { endpoint: 'http://s3:9000', region: 'eu-central-1', accessKeyId: 'a', secretAccessKey: 'b' };
  const presigner = createPresigner({ ...connection, publicEndpoint: 'https://files.example.org' }, testBucket);
  const address = new URL(await presigner.presign('a/b.c', options));
  t.equal(address.origin + address.pathname, 'https://files.example.org/sluice-tests/a/b.c');
  t.equal(address.searchParams.get('X-Amz-Expires'), '60');
  presigner.close();
  const inside = createPresigner(connection, testBucket);
  t.match(await inside.presign('a/b.c', options), /^http:\/\/s3:9000\//);
  inside.close();
});
