/** An S3 server that fails once: nobody notices. */
import t from 'tap';
import { KeptRecord, openS3, patchRecord } from '../support/s3-store.ts';
import { attempts, faults, sha256, skip, stored, there, writing } from './s3-faults.ts';
import { startS3Proxy } from './s3-proxy.ts';

for (const [what, action] of Object.entries(faults)) {
  t.test(`the server ${what} once`, { skip }, async (t) => {
    const proxy = await startS3Proxy(t, there.endpoint);
    const store = await openS3(t, there, { endpoint: proxy.url, attempts });
    for (const [operation, bytes] of writing) {
      const key = `uploads/${operation}`;
      proxy.set((one, count) => (one === operation && count === 1 ? action : undefined));
      await patchRecord(store, key, new KeptRecord(), bytes, bytes.length);
      t.ok(proxy.operations.includes(operation), operation);
      proxy.set();
      t.equal(await stored(store, key), sha256(bytes), operation);
    }
  });
}
