/** Sends the bytes of a file in chunks and resumes after network errors. */
import { backoff, Problem, pause, problemOf, request } from './api.ts';

const chunkBytes = 8 * 1024 * 1024;
/** Tries in a row that bring no byte further; about two minutes. */
const maxTries = 10;
/** A request that moves nothing for so long is given up, milliseconds. */
const stallMs = 60_000;

export interface Sending {
  readonly signal: AbortSignal;
  /** So many bytes have left, or been acknowledged. */
  sent(bytes: number): void;
  /** What the reader should know; empty: all is well again. */
  say(words: string): void;
}

/** Rejects with the last `Problem` when the tries are used up. */
export const sendFile = async (id: string, file: File, { signal, sent, say }: Sending): Promise<void> => {
  const path = `api/upload/${id}`;
  let reached = 0;
  for (let offset: number | undefined = 0, failures = 0; offset === undefined || offset < file.size; ) {
    try {
      offset ??= await askOffset(path);
      signal.throwIfAborted();
      if (failures > 0) say('');
      // A cut request may still have brought bytes: then the network is poor, not gone.
      if (offset > reached) failures = 0;
      reached = offset;
      sent(offset);
      if (offset < file.size) offset = await sendChunk(path, file, offset, { signal, sent });
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (!(error instanceof Problem) || error.retry === undefined || failures > maxTries) throw error;
      await requireReadable(file);
      const ms = backoff(failures, error.retry.after);
      say(`${error.message}. Trying again in ${Math.ceil(ms / 1000)} s`);
      await pause(ms, signal);
      offset = undefined;
    }
  }
  sent(file.size);
};

/** HEAD also displaces a request that hangs on the other side. */
const askOffset = async (path: string): Promise<number> =>
  Number((await request('HEAD', path)).headers.get('upload-offset'));

/** A file that was changed or removed meanwhile looks like a network error to the request. */
const requireReadable = async (file: File): Promise<void> => {
  const bytes = file.slice(0, 1).arrayBuffer();
  await bytes.catch(() => Promise.reject(new Problem('The file cannot be read')));
};

/** XMLHttpRequest, because fetch tells nothing of the bytes on their way. Resolves with the new offset. */
const sendChunk = (path: string, file: File, offset: number, { signal, sent }: Omit<Sending, 'say'>): Promise<number> =>
  new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const stop = () => xhr.abort();
    // Runs from the first bytes on: before them the request may wait for a free connection.
    let stall: ReturnType<typeof setTimeout> | undefined;
    xhr.upload.onprogress = ({ loaded }) => {
      clearTimeout(stall);
      stall = setTimeout(stop, stallMs);
      sent(offset + loaded);
    };
    xhr.onloadend = () => {
      clearTimeout(stall);
      signal.removeEventListener('abort', stop);
      const next = Number(xhr.getResponseHeader('upload-offset'));
      if (xhr.status === 200 && next > offset) resolve(next);
      else reject(problemOf(xhr.status, xhr.responseText, xhr.getResponseHeader('retry-after')));
    };
    signal.addEventListener('abort', stop);
    xhr.open('PATCH', path);
    xhr.setRequestHeader('content-type', 'application/offset+octet-stream');
    xhr.setRequestHeader('upload-offset', String(offset));
    xhr.send(file.slice(offset, offset + chunkBytes));
  });
