/** An S3 server that fails until the PATCH does: the next one goes on from what was acknowledged. */
import t from 'tap';
import { KeptRecord, openS3, patchRecord } from '../support/s3-store.ts';
import { attempts, faults, sha256, skip, stored, there, writing } from './s3-faults.ts';
import { startS3Proxy } from './s3-proxy.ts';

for (const [what, action] of Object.entries(faults)) {
  t.test(`the server ${what} again and again, and then works`, { skip }, async (t) => {
    const proxy = await startS3Proxy(t, there.endpoint);
    const store = await openS3(t, there, { endpoint: proxy.url, attempts: { ...attempts, tries: 2 } });
    for (const [operation, bytes] of writing) {
      const key = `uploads/${operation}`;
      const record = new KeptRecord();
      // The first part gets through, so that there is something to lose.
      const from = operation === 'UploadPart' ? 2 : 1;
      proxy.set((one, count) => (one === operation && count >= from ? action : undefined));
      const failed = await patchRecord(store, key, record, bytes, bytes.length).then(
        () => undefined,
        (e) => e,
      );
      // A look at the object tells when only the answer to the last step was lost.
      if (!(operation === 'CompleteMultipartUpload' && ('answerAfter' in action || 'loseAnswer' in action))) {
        t.match(failed, { code: 'UNAVAILABLE', status: 503 }, operation);
      }
      proxy.set();
      await patchRecord(store, key, record, bytes.subarray(record.last.offset), bytes.length);
      t.equal(await stored(store, key), sha256(bytes), operation);
    }
  });
}
