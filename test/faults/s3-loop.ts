/**
 * Two replicas whose S3 refuses, slows down, breaks off, or says 200 and means an error, under load and again and again:
 * clients get the documented answers meanwhile, lose nothing, and are served again at once.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Connection } from '../services/s3-server.ts';
import { type Surroundings, startReplicas } from '../support/replicas.ts';
import { s3Settings } from '../support/s3-settings.ts';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';
import { smallFlow } from './load.ts';
import { type Outage, type OutageResult, playOutages, requireRefusal, requireUnready } from './outages.ts';
import { type Fault, type S3Proxy, startS3Proxy } from './s3-proxy.ts';
import { Wrong } from './transfer.ts';

export interface S3LoopOptions extends Surroundings {
  readonly rounds: number;
  readonly seed: number;
  readonly s3: S3Connection;
}

/** So long a request may hang that needs S3, which is asked five times, milliseconds. */
const answerMs = 20_000;

/** Rejects when anything is not as it must be. What it starts ends with `owner`. */
export const runS3Loop = async (owner: Owner, options: S3LoopOptions): Promise<OutageResult> => {
  const [data, flows] = [await temporaryDirectory(owner), await temporaryDirectory(owner)];
  await writeFile(join(flows, 'small.json'), JSON.stringify(smallFlow));
  const proxy = await startS3Proxy(owner, options.s3.endpoint);
  const settings = s3Settings({ ...options.s3, endpoint: proxy.url });
  const env = { DATA_DIR: data, FLOWS_DIR: flows, WORKERS: '1', ...settings };
  const replicas = await startReplicas(options, { count: 2, env });
  owner.teardown(async () => void (await replicas.stop('SIGKILL')));
  const { id } = await uploadClient(replicas.url).upload('hello');
  return playOutages(replicas, { ...options, outages: outagesOf(proxy, id) });
};

const outagesOf = (proxy: S3Proxy, stored: string): readonly Outage[] => {
  const outage = (fault: Fault): Outage => ({
    async begin() {
      proxy.set(fault);
      return async () => proxy.set();
    },
  });
  const refusing = { during: (url: string) => requireRefusals(url, stored) };
  return [
    { ...outage(() => ({ answer: 500 })), ...refusing },
    outage((operation) => (/^(Put|Upload|Complete)/.test(operation) ? { answer: 200 } : undefined)),
    outage((operation) => (operation === 'GetObject' ? { truncateAt: 1000 } : undefined)),
    { ...outage(() => ({ answer: 503, code: 'SlowDown' })), ...refusing },
    outage((operation) => (operation === 'GetObject' ? undefined : { loseAnswer: true })),
    outage((operation) => (/^(Put|Upload)/.test(operation) ? { bytesPerSecond: 4_000_000 } : undefined)),
  ];
};

/** While S3 refuses everything: alive, not ready; what the records know is told, and bytes are refused for now. */
const requireRefusals = async (url: string, stored: string): Promise<void> => {
  const { create, head, patch } = uploadClient(url);
  const { id } = await create({ size: 5 });
  const known = await head(stored);
  if (known.status !== 200) throw new Wrong(`HEAD answers ${known.status}`);
  await Promise.all([
    requireRefusal('PATCH', answerMs, () => patch(id, 'hello', { offset: 0 })),
    requireRefusal('GET file', answerMs, () => fetch(`${url}/api/files/${stored}`)),
    requireUnready(url),
  ]);
  if ((await head(id)).headers.get('upload-offset') !== '0') throw new Wrong('what was refused is there');
};
