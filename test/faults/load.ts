/** Clients of several replicas who upload, run flows and watch, and who come again when the service cannot answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, download } from '../support/api.ts';
import { openEvents, type ReceivedFrame } from '../support/event-socket.ts';
import { makePhoto } from '../support/photo.ts';
import { contentOf, dice } from '../support/random.ts';
import { advance, anyTransfer, requireStatus, Unavailable, Wrong } from './transfer.ts';

/** A flow that the clients run: a picture goes in, a small one and the same one come out. */
export const smallFlow = {
  flowId: 'small',
  name: 'Small',
  nodes: {
    photo: { type: 'file-input' },
    web: { type: 'resize', options: { width: 16 } },
    same: { type: 'output' },
  },
  edges: [
    { source: 'photo', target: 'web' },
    { source: 'photo', target: 'same' },
  ],
};

export interface LoadResult {
  /** Ids of uploads and of jobs. */
  readonly completed: readonly string[];
  readonly jobs: readonly string[];
  /** How often a request was refused for now, or broke off. */
  readonly refused: number;
}

export interface Load {
  /** Lets what is under way come to its end; rejects when anything was not as it must be. */
  finish(): Promise<LoadResult>;
  /** Rejects as soon as anything is not as it must be. */
  readonly failed: Promise<never>;
}

const [uploaders, runners] = [3, 2];

/** Every request goes to the next of the replicas. */
export const startLoad = async (urls: readonly string[], seed: number): Promise<Load> => {
  const photo = await makePhoto({ width: 64, height: 48 });
  const [completed, jobs]: [string[], string[]] = [[], []];
  let [turn, refused] = [0, 0];
  let done = false;
  const next = (): string => {
    turn += 1;
    return urls[turn % urls.length] ?? '';
  };
  /** One step, as often as it takes. */
  const persist = async <T>(step: (url: string) => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await step(next());
      } catch (error) {
        if (!isPassing(error)) throw error;
        refused += 1;
        await sleep(100);
      }
    }
  };
  const uploadMany = async (client: number): Promise<void> => {
    const random = dice(seed + client);
    for (let number = client; !done; number += uploaders) {
      const transfer = anyTransfer(random, (length) => contentOf(seed + number, length));
      let ending: Awaited<ReturnType<typeof advance>>;
      do ending = await persist((url) => advance(url, transfer, random));
      while (ending === undefined);
      if (ending === 'completed') completed.push(transfer.id ?? '');
    }
  };
  const runMany = async (client: number): Promise<void> => {
    for (let number = 0; !done; number += 1) jobs.push(await runJob(persist, photo, `${seed}-${client}-${number}`));
  };
  const clients = [
    ...Array.from({ length: uploaders }, (_, client) => uploadMany(client)),
    ...Array.from({ length: runners }, (_, client) => runMany(client)),
  ];
  const all = Promise.all(clients);
  all.catch(() => {});
  const failed = all.then(() => new Promise<never>(() => {}));
  failed.catch(() => {});
  return {
    failed,
    async finish() {
      done = true;
      await all;
      return { completed, jobs, refused };
    },
  };
};

/** The service cannot answer now, or has closed a connection whose body it does not want. */
const isPassing = (error: unknown): boolean => {
  if (error instanceof Wrong) return false;
  if (error instanceof Unavailable || (error instanceof TypeError && error.message === 'fetch failed')) return true;
  return error instanceof Error && /^503 instead of 100|ECONNRESET|EPIPE|ended without/.test(error.message);
};

type Persist = <T>(step: (url: string) => Promise<T>) => Promise<T>;

/** Starts a job, sends its picture, and follows it to its end, which must be the right one; gives its id. */
const runJob = async (persist: Persist, photo: Buffer, key: string): Promise<string> => {
  const metadata = { originalName: 'a.jpg', mimeType: 'image/jpeg', size: photo.length };
  const request = { inputs: { photo: { operation: 'init', metadata } }, idempotencyKey: key };
  const job = await persist(async (url) => {
    const answer = await call(url, 'POST', '/api/flow/small/default', request);
    requireStatus('POST flow', answer, [201]);
    return answer.body;
  });
  const watched = watchToEnd(persist, job.jobId);
  // Another step may fail first.
  watched.catch(() => {});
  const id = job.tasks.find(({ nodeId }: { nodeId: string }) => nodeId === 'photo').result.id;
  await persist(async (url) => {
    const head = await fetch(`${url}/api/upload/${id}`, { method: 'HEAD' });
    requireStatus('HEAD', head, [200]);
    const offset = Number(head.headers.get('upload-offset'));
    const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
    const body = new Uint8Array(photo.subarray(offset));
    requireStatus('PATCH', await fetch(`${url}/api/upload/${id}`, { method: 'PATCH', headers, body }), [200]);
  });
  const frames = await watched;
  const numbers = frames.map(({ seq }) => seq);
  if (!numbers.every((seq, index) => seq === index + 1)) throw new Wrong(`job ${job.jobId} tells ${numbers}`);
  await persist(async (url) => {
    const { status, headers, body } = await call(url, 'GET', `/api/jobs/${job.jobId}/status`);
    requireStatus('GET job', { status, headers }, [200]);
    if (body.status !== 'completed') throw new Wrong(`job ${job.jobId} has ended as ${JSON.stringify(body)}`);
    const same = await download(url, body.outputs.same.url).catch(asUnavailable);
    if (!same.equals(photo)) throw new Wrong(`job ${job.jobId} has other bytes`);
  });
  return job.jobId;
};

const asUnavailable = (error: Error): never => {
  throw / answers 503$/.test(error.message) ? new Unavailable(error.message) : error;
};

/** All frames of a job, from a client who comes back for the rest when its socket is closed. */
const watchToEnd = async (persist: Persist, jobId: string): Promise<readonly ReceivedFrame[]> => {
  const seen: ReceivedFrame[] = [];
  await persist(async (url) => {
    const events = openEvents(url, `/ws/flow/${jobId}?since=${seen.at(-1)?.seq ?? 0}`);
    const closed = events.closed.then(({ code }) => code);
    const code = await Promise.race([
      events.until('flow_complete').then(
        () => 1000,
        () => closed,
      ),
      closed,
    ]);
    events.socket.terminate();
    seen.push(...events.frames.filter(({ type }) => type !== 'flow_snapshot'));
    if (code === 1013) throw new Unavailable('socket');
    if (code !== 1000) throw new Wrong(`the socket of ${jobId} was closed with ${code}`);
  });
  return seen;
};
