import { createHash } from 'node:crypto';
import t from 'tap';
import { createDigests } from '../../src/uploads/digests.ts';
import { observe } from '../../src/uploads/observe.ts';
import { sampleUpload } from '../support/sample-records.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

t.test('a body without an offset has a hash of its own, any other has none', async (t) => {
  const without = observe(createDigests(), sampleUpload({ offset: 5 }), true);
  for (const part of ['hel', 'lo']) without.add(Buffer.from(part));
  t.strictSame(without.body(5), { length: 5, sha256: sha256('hello') });
  t.equal(observe(createDigests(), sampleUpload({ offset: 5 }), false).body(5), undefined);
});

t.test('the hash of a file with a declared checksum goes on from body to body', async (t) => {
  const digests = createDigests();
  const upload = sampleUpload({ checksum: sha256('helloworld') });
  const first = observe(digests, upload, false);
  first.add(Buffer.from('hello'));
  first.keep(5);
  const second = observe(digests, { ...upload, offset: 5 }, false);
  second.add(Buffer.from('world'));
  t.match(second.known(10), { sha256: sha256('helloworld') });
  const elsewhere = observe(createDigests(), { ...upload, offset: 5 }, false);
  elsewhere.add(Buffer.from('world'));
  t.strictSame(elsewhere.known(10), {}, 'and is not known where not all bytes were seen');
});

t.test('without a checksum nothing is hashed', async (t) => {
  const digests = createDigests();
  const upload = sampleUpload();
  const observer = observe(digests, upload, false);
  observer.add(Buffer.from('hello'));
  observer.keep(5);
  t.equal(digests.resume(upload.id, 5), undefined);
  t.equal('sha256' in observer.known(5), false);
  t.equal(String(observer.known(5).head), 'hello');
});
