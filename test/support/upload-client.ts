/** Uploads in the native dialect, as a client of the service makes them. Knows nothing of the service but its address. */
import { createHash } from 'node:crypto';
import { type HttpSocket, openSocket } from './http-socket.ts';

export const patchType = 'application/offset+octet-stream';

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Bytes that are not all the same and tell where they belong. */
export const sampleBytes = (length: number): Buffer => {
  const bytes = Buffer.allocUnsafe(length);
  for (let index = 0; index < length; index += 1) bytes[index] = (index * 31 + (index >> 8) * 7 + (index >> 16)) & 0xff;
  return bytes;
};

export interface UploadView {
  readonly id: string;
  readonly offset: number;
  readonly status: string;
  readonly size?: number;
  readonly url?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface ErrorBody {
  readonly error: string;
  readonly code: string;
  readonly message: string;
  readonly timestamp: string;
  readonly requestId: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface PatchOptions {
  readonly offset?: number | string | undefined;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const uploadClient = (url: string) => {
  const at = (id: string) => `${url}/api/upload/${id}`;

  const post = (fields: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${url}/api/upload`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof fields === 'string' ? fields : JSON.stringify(fields),
    });

  /** Creates an upload, which must succeed. */
  const create = async (fields: Readonly<Record<string, unknown>>): Promise<UploadView> => {
    const response = await post(fields);
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as UploadView;
  };

  const patch = (id: string, bytes: Uint8Array | string, options: PatchOptions = {}): Promise<Response> =>
    fetch(at(id), {
      method: 'PATCH',
      headers: {
        'content-type': options.type ?? patchType,
        ...(options.offset === undefined ? {} : { 'upload-offset': String(options.offset) }),
        ...options.headers,
      },
      body: bytes as Uint8Array<ArrayBuffer>,
    });

  const get = async (id: string): Promise<UploadView> => (await (await fetch(at(id))).json()) as UploadView;

  return {
    post,
    create,
    patch,
    get,
    /** The offset as HEAD tells it. */
    async offset(id: string): Promise<number> {
      const response = await fetch(at(id), { method: 'HEAD' });
      if (response.status !== 200) throw new Error(`HEAD answered ${response.status}`);
      return Number(response.headers.get('upload-offset'));
    },
    head: (id: string) => fetch(at(id), { method: 'HEAD' }),
    remove: (id: string) => fetch(at(id), { method: 'DELETE' }),
    /** The bytes of a completed upload. */
    async download(id: string): Promise<Buffer> {
      const response = await fetch(`${url}/api/files/${id}`);
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return Buffer.from(await response.arrayBuffer());
    },
    /** Creates an upload of these bytes and sends them all. */
    async upload(bytes: Uint8Array | string, fields: Readonly<Record<string, unknown>> = {}): Promise<UploadView> {
      const { id, offset } = await create({ fileName: 'file.bin', size: Buffer.byteLength(bytes), ...fields });
      const response = await patch(id, bytes, { offset });
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return (await response.json()) as UploadView;
    },
    /**
     * Begins a PATCH and gives its connection once the service has agreed to take the body, of which nothing was sent.
     */
    async begin(id: string, headers: Readonly<Record<string, string | number>>): Promise<HttpSocket> {
      const http = await openSocket(url);
      const all = { 'content-type': patchType, expect: '100-continue', ...headers };
      await http.request('PATCH', `/api/upload/${id}`, all);
      const { status, body } = await http.response();
      if (status !== 100) throw new Error(`${status} instead of 100: ${body}`);
      return http;
    },
  };
};

export type UploadClient = ReturnType<typeof uploadClient>;

/** One piece of a chunked body. */
export const chunk = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

export const lastChunk = '0\r\n\r\n';
