/** The service's API as a client without a library calls it. */
import { setTimeout as sleep } from 'node:timers/promises';

// biome-ignore lint/suspicious/noExplicitAny: a black box answers with whatever it answers; tests look into it
export type Answer = any;

export interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Answer;
}

/** One JSON request; `path` is relative to the service's address. */
export const call = async (url: string, method: string, path: string, body?: unknown): Promise<Response> => {
  const init =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { method, ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
};

/** Appends bytes at an offset. */
export const patch = async (url: string, id: string, bytes: Uint8Array, offset = 0): Promise<Response> => {
  const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
  const body = new Uint8Array(bytes);
  const response = await fetch(`${url}/api/upload/${id}`, { method: 'PATCH', headers, body });
  return { status: response.status, headers: response.headers, body: await response.json() };
};

/** Starts a flow whose one input waits for an upload of these bytes, and gives its job and the upload's id. */
export const startFlow = async (
  url: string,
  flowId: string,
  nodeId: string,
  file: { readonly name: string; readonly type: string; readonly size: number },
): Promise<{ readonly jobId: string; readonly uploadId: string }> => {
  const metadata = { originalName: file.name, mimeType: file.type, size: file.size };
  const inputs = { [nodeId]: { operation: 'init', metadata } };
  const { status, body } = await call(url, 'POST', `/api/flow/${flowId}/default`, { inputs });
  if (status !== 201) throw new Error(`the flow did not start: ${JSON.stringify(body)}`);
  const task = body.tasks.find((one: Answer) => one.nodeId === nodeId);
  return { jobId: body.jobId, uploadId: task.result.id };
};

/** The job record once the job has ended. */
export const ended = async (url: string, jobId: string, limitMs = 60_000): Promise<Answer> => {
  for (const start = Date.now(); Date.now() - start < limitMs; await sleep(50)) {
    const { body } = await call(url, 'GET', `/api/jobs/${jobId}/status`);
    if (['completed', 'failed', 'cancelled'].includes(body.status)) return body;
  }
  throw new Error(`job ${jobId} has not ended within ${limitMs} ms`);
};

/** A file by the `url` of a record, which is relative to the host. */
export const download = async (url: string, fileUrl: string): Promise<Buffer> => {
  const response = await fetch(new URL(fileUrl, url));
  if (response.status !== 200) throw new Error(`${fileUrl} answers ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
};
