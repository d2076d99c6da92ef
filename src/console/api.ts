/** What the page asks of the service. Addresses are relative to the page, so that any base path works. */

type Fields<T> = { readonly [K in keyof T]: T[K] };

export type Flow = Fields<{
  flowId: string;
  name: string;
  description?: string;
  nodes: Readonly<Record<string, { type: string; name: string; options?: { maxFiles?: number } }>>;
}>;
export type Upload = Fields<{
  id: string;
  metadata: { fileName: string; type: string };
  detectedType?: string;
  url?: string;
}>;
export type Task = Fields<{ nodeId: string; status: string; result?: Upload; results?: readonly Upload[] }>;
export type Job = Fields<{ jobId: string; tasks: readonly Task[] }>;
export type Output = Fields<{
  url: string;
  size: number;
  mimeType: string;
  fileName: string;
  nodeId?: string;
  meta?: { width?: number; height?: number };
}>;

/** A failure in words for the reader, and the node that it happened at. */
export class Problem extends Error {
  readonly code: string;
  readonly nodeId: string | undefined;
  /** Whether the same request may succeed later, and the seconds to wait that the service asks for. */
  readonly retry: { readonly after: number } | undefined;

  constructor(message: string, code = '', nodeId?: string, retry?: { after: number }) {
    super(message);
    this.code = code;
    this.nodeId = nodeId;
    this.retry = retry;
  }
}

/** An answer that is no success; status 0 stands for none at all. */
export const problemOf = (status: number, body = '', retryAfter?: string | null): Problem => {
  const error = parse(body);
  const message = status === 0 ? 'The service cannot be reached' : `The service answered with status ${status}`;
  const temporary = status === 0 || status === 423 || status >= 500 || error.code === 'INVALID_OFFSET';
  const retry = temporary ? { after: Number(retryAfter) || 0 } : undefined;
  return new Problem(error.message ?? message, error.code, error.details?.nodeId, retry);
};

const parse = (body: string): { message?: string; code?: string; details?: { nodeId?: string } } => {
  try {
    return JSON.parse(body);
  } catch {
    return {}; // HEAD, or a proxy's own page
  }
};

/** Sends a request without a body, or with one of JSON; rejects with a `Problem`. */
export const request = async (method: string, path: string, body?: unknown): Promise<Response> => {
  const json =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, cache: 'no-store', ...json }).catch(() => undefined);
  if (response?.ok === true) return response;
  throw problemOf(response?.status ?? 0, await response?.text(), response?.headers.get('retry-after'));
};

export const read = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await request(method, path, body)).json() as Promise<T>;

/** How long to wait before try number `failures` (from 1), milliseconds: 0.5 s, doubling to 16 s. */
export const backoff = (failures: number, leastSeconds = 0): number =>
  Math.max(500 * 2 ** Math.min(failures - 1, 5), leastSeconds * 1000);

/** Resolves after `ms`, or at once when the network is back. */
export const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    window.addEventListener('online', resolve, { once: true });
    signal.addEventListener('abort', () => reject(signal.reason));
  });
