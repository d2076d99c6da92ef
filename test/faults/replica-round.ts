/** One round of `replica-loop`: a job and an upload at one replica, what happens to it, and what the other one makes of them. */
import { call, download, ended, patch, startFlow } from '../support/api.ts';
import { openEvents } from '../support/event-socket.ts';
import type { GatedKind } from '../support/gated-kind.ts';
import { contentOf } from '../support/random.ts';
import type { Replicas } from '../support/replicas.ts';
import { sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { isAlive } from '../workers/children.ts';
import { Wrong } from './transfer.ts';

export interface Lane {
  readonly replicas: Replicas;
  readonly gated: GatedKind;
}

export interface RoundOptions {
  readonly number: number;
  /** `stop`: the process stands still (SIGSTOP) until the other one has taken over, and then goes on. */
  readonly fault: 'kill' | 'stop';
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/** A job is taken over within so many milliseconds: its lock, two looks for lost ones, and the start of the node. */
const takeoverMs = 16_000;

const mebibyte = 1_048_576;

const require = (holds: boolean, what: string): void => {
  if (!holds) throw new Wrong(what);
};

/** Gives the job's id, and how long it took to be taken over, milliseconds. */
export const playRound = async (
  { replicas, gated }: Lane,
  { number, fault, random }: RoundOptions,
): Promise<{ readonly jobId: string; readonly takeover: number }> => {
  const note = `note-${number}`;
  const jobId = await startJob(replicas.url, note);
  await until(async () => (await gated.runs(note)).length === 1);
  const [first] = await gated.runs(note);
  const victim = replicas.all.findIndex(({ pid }) => pid === first?.replica);
  const [held, survivor] = [replicas.all[victim], replicas.all[1 - victim]];
  if (held === undefined || survivor === undefined || first === undefined) throw new Wrong('nobody runs the job');

  const upload = await beginUpload(
    held.url,
    survivor.url,
    contentOf(number, Math.ceil((17 + 20 * random()) * mebibyte)),
  );
  process.kill(held.pid, fault === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  const begin = performance.now();
  const rescued = resumeUpload(survivor.url, upload);
  await until(async () => (await gated.runs(note)).length === 2, 3 * takeoverMs);
  const takeover = performance.now() - begin;
  require(takeover <= takeoverMs, `the job was taken over after ${takeover} ms`);
  await rescued;

  // The one that stood still may come back while the other one works, or when all is done.
  const late = random() < 0.5;
  if (fault === 'stop' && !late) process.kill(held.pid, 'SIGCONT');
  await gated.open(note);
  await requireDone(survivor.url, jobId, note);
  if (fault === 'stop' && late) process.kill(held.pid, 'SIGCONT');
  if (fault === 'kill') {
    await until(() => !isAlive(first.worker));
    await held.stop('SIGKILL');
    await replicas.restart(victim);
  }
  await upload.answered();
  await requireWhole(replicas, upload);
  const runs = await gated.runs(note);
  require(runs.length === 2, `the node ran ${runs.length} times`);
  return { jobId, takeover };
};

const startJob = async (url: string, note: string): Promise<string> => {
  const file = { name: 'note.txt', type: 'text/plain', size: note.length };
  const { jobId, uploadId } = await startFlow(url, 'gated-flow', 'note', file);
  await patch(url, uploadId, Buffer.from(note));
  return jobId;
};

interface Upload {
  readonly id: string;
  readonly content: Buffer;
  /** So many bytes were told to be there before the fault. */
  readonly committed: number;
  /** Cuts the connection of the first client, which must have got no success. */
  answered(): Promise<void>;
}

/** A PATCH that the first replica has in its hands, without its last bytes; the other one has heard of some of it. */
const beginUpload = async (held: string, survivor: string, content: Buffer): Promise<Upload> => {
  const { id } = await uploadClient(held).create({ fileName: 'a.bin', size: content.length });
  const http = await uploadClient(held).begin(id, { 'upload-offset': 0, 'content-length': content.length });
  void http.send(content.subarray(0, content.length - mebibyte / 2));
  let committed = 0;
  await until(async () => {
    committed = (await uploadClient(survivor).get(id)).offset;
    return committed > 0;
  });
  return {
    ...{ id, content, committed },
    async answered() {
      void http.send(content.subarray(content.length - mebibyte / 2));
      const status = await http.response().then(
        (response) => response.status,
        () => undefined,
      );
      http.cut();
      require(status === undefined || status >= 400, `the first PATCH got ${status}`);
    },
  };
};

const resumeUpload = async (url: string, { id, content, committed }: Upload): Promise<void> => {
  const uploads = uploadClient(url);
  const offset = await uploads.offset(id);
  require(offset >= committed, `${committed} bytes were committed, the offset is ${offset}`);
  require(offset < content.length, `the offset is ${offset}, which nobody has sent`);
  const response = await uploads.patch(id, content.subarray(offset), { offset });
  require(response.status === 200, `PATCH answers ${response.status}: ${await response.text()}`);
};

/** Every replica serves the same bytes, also when the first one has woken up with old ones in its hands. */
const requireWhole = async ({ all }: Replicas, { id, content }: Upload): Promise<void> => {
  for (const { url } of all) {
    require(sha256(await uploadClient(url).download(id)) === sha256(content), 'the upload has other bytes');
  }
};

const requireDone = async (url: string, jobId: string, note: string): Promise<void> => {
  const job = await ended(url, jobId);
  require(job.status === 'completed', `the job has ended as ${JSON.stringify(job)}`);
  const keys = Object.keys(job.outputs).toSorted().join(' ');
  require(keys === 'after before gate', `the outputs are ${keys}`);
  for (const key of ['after', 'before', 'gate']) {
    require(String(await download(url, job.outputs[key].url)) === note, `${key} has other bytes`);
  }
};

/** What each replica tells of the job: in order, every node and the job ended once. */
export const requireStories = async ({ replicas }: Lane, jobId: string): Promise<void> => {
  for (const { url } of replicas.all) {
    const events = openEvents(url, `/ws/flow/${jobId}`);
    await events.until('flow_complete');
    events.socket.send(JSON.stringify({ type: 'ping' }));
    await events.until('pong');
    events.socket.terminate();
    const told = events.frames.slice(1).filter(({ type }) => type !== 'pong');
    const ends = told.filter(({ type }) => /^(node_completed|flow_complete|flow_error|node_failed)$/.test(type));
    const names = ends
      .map(({ type, nodeId }) => `${type} ${nodeId ?? ''}`.trim())
      .toSorted()
      .join(', ');
    const expected = ['after', 'before', 'gate', 'note'].map((nodeId) => `node_completed ${nodeId}`).join(', ');
    require(names === `flow_complete, ${expected}`, `the log tells ${names}`);
    require(told.every(
      ({ seq }, index) => index === 0 || seq > (told[index - 1]?.seq ?? 0),
    ), `it is numbered ${told.map(({ seq }) => seq)}`);
    const { body } = await call(url, 'GET', `/api/jobs/${jobId}/status`);
    require(body.status === 'completed', `afterwards it is ${body.status}`);
  }
};
