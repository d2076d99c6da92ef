/** One run: files go to the service, a flow works on them, results come back. */
import { type Flow, type Job, type Output, Problem, read, request, type Upload } from './api.ts';
import { type Card, openCard } from './card.ts';
import { sendFile } from './upload.ts';
import { type Frame, watchJob } from './watch.ts';

interface Run {
  readonly files: readonly File[];
  readonly card: Card;
  /** Aborts when the reader cancels. */
  readonly signal: AbortSignal;
}

interface Done {
  readonly words: string;
  readonly outputs: readonly Output[];
}

/** The keys of the nodes that take files. */
export const inputsOf = (flow: Flow): readonly string[] =>
  Object.keys(flow.nodes).filter((nodeId) => flow.nodes[nodeId]?.type === 'file-input');

/** Resolves when it is over, however it ended. Without a flow the first file is stored. */
export const startRun = async (files: readonly File[], flow: Flow | undefined): Promise<void> => {
  const card = openCard(files, flow);
  const stop = new AbortController();
  card.onCancel(() => stop.abort());
  card.enter('sending', 'Sending');
  const run = { files, card, signal: stop.signal };
  try {
    const { words, outputs } = await (flow === undefined ? store(run) : work(run, flow));
    card.showResults(outputs);
    card.enter('completed', words);
  } catch (error) {
    if (error === stop.signal.reason) return card.enter('cancelled', 'Cancelled');
    card.showProblem(error instanceof Problem ? error : new Problem(String(error)));
    card.enter('failed', 'Failed');
  }
};

/** No flow: the upload itself is the result. */
const store = async (run: Run): Promise<Done> => {
  const [{ name, size, type } = new File([], '')] = run.files;
  const { id } = await read<Upload>('POST', 'api/upload', { fileName: name, size, type });
  try {
    await sendAll(run, [id]);
  } catch (error) {
    if (run.signal.aborted) await request('DELETE', `api/upload/${id}`);
    throw error;
  }
  const { url = '', metadata, detectedType } = await read<Upload>('GET', `api/upload/${id}`);
  const mimeType = detectedType ?? (metadata.type || 'unknown type');
  return { words: 'Stored', outputs: [{ url, size, mimeType, fileName: metadata.fileName }] };
};

const work = async (run: Run, flow: Flow): Promise<Done> => {
  const [input = ''] = inputsOf(flow);
  const inits = run.files.map(({ name, type, size }) => ({
    operation: 'init',
    metadata: { originalName: name, mimeType: type, size },
  }));
  const path = `api/flow/${encodeURIComponent(flow.flowId)}/default`;
  const job = await read<Job>('POST', path, { inputs: { [input]: inits } });
  const { result, results = [result] } = job.tasks.find(({ nodeId }) => nodeId === input) ?? {};
  const ids = results.map((upload) => upload?.id ?? '');
  const { type, error, outputs = {}, duration = 0 } = await sendAndWatch(run, job.jobId, ids);
  if (type === 'flow_cancelled') throw run.signal.reason ?? new Problem('Somebody else cancelled it');
  if (error !== undefined) throw new Problem(error.message, error.code, error.nodeId);
  return { words: `Done in ${(duration / 1000).toFixed(1)} s`, outputs: Object.values(outputs) };
};

/** Side by side: a job may end before its bytes are there. Resolves with its terminal frame. */
const sendAndWatch = async (run: Run, jobId: string, ids: readonly string[]): Promise<Frame> => {
  const { card, signal } = run;
  const over = new AbortController();
  const sending = AbortSignal.any([signal, over.signal]);
  const ended = watchJob(jobId, over.signal, (frame) => showFrame(card, frame));
  const cancel = () => request('POST', `api/jobs/${jobId}/cancel`);
  // The job has the last word: it may have been faster than the reader.
  const cancelled = aborted(signal)
    .then(cancel)
    .then(() => ended);
  const sent = sendAll({ ...run, signal: sending }, ids).then(
    () => {
      card.enter('working', 'Working');
      return ended;
    },
    (error: unknown) => (signal.aborted ? cancelled : Promise.reject(error)),
  );
  try {
    return await Promise.race([ended, sent, cancelled]);
  } catch (error) {
    // Without its bytes the job would wait for ever.
    await cancel().catch(() => undefined);
    throw error;
  } finally {
    over.abort();
  }
};

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', resolve);
  });

const nodeStates: Readonly<Record<string, string>> = {
  node_started: 'running',
  node_completed: 'completed',
  node_retrying: 'retrying',
  node_failed: 'failed',
  node_skipped: 'skipped',
};

/** No frame: the connection is lost; the first one after it is a snapshot. */
const showFrame = (card: Card, frame?: Frame): void => {
  card.connected(frame !== undefined);
  for (const task of frame?.tasks ?? []) card.setNode(task.nodeId, task.status);
  const state = nodeStates[frame?.type ?? ''];
  if (frame?.nodeId !== undefined && state !== undefined) card.setNode(frame.nodeId, state);
};

const sendAll = async ({ files, card, signal }: Run, ids: readonly string[]): Promise<void> => {
  let before = 0;
  const say = (words: string) => card.enter('sending', words || 'Sending');
  for (const [index, file] of files.entries()) {
    const start = before;
    await sendFile(ids[index] ?? '', file, { signal, say, sent: (bytes) => card.sent(start + bytes) });
    before += file.size;
  }
};
