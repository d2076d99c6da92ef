/** The requests that a server is sent, as text. Paths are those of its `Location` headers. */
export interface Requests {
  /** Creates an upload of so many bytes. */
  create(size: number): string;
  /** The head of a PATCH of so many bytes. */
  append(path: string, offset: number, size: number): string;
}

const lines = (first: string, headers: Readonly<Record<string, string | number>>): string =>
  `${first} HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

const patchHeaders = (host: string, offset: number, size: number) => ({
  Host: host,
  'Content-Type': 'application/offset+octet-stream',
  'Upload-Offset': offset,
  'Content-Length': size,
});

/** Sluice's own dialect. The floor takes it too and reads only the offset. */
export const nativeRequests = ({ host, pathname }: URL): Requests => ({
  create(size) {
    const body = JSON.stringify({ size });
    const headers = { Host: host, 'Content-Type': 'application/json', 'Content-Length': body.length };
    return lines(`POST ${pathname}`, headers) + body;
  },
  append: (path, offset, size) => lines(`PATCH ${path}`, patchHeaders(host, offset, size)),
});

const tusVersion = { 'Tus-Resumable': '1.0.0' };

export const tusRequests = ({ host, pathname }: URL): Requests => ({
  create: (size) =>
    lines(`POST ${pathname}`, { Host: host, ...tusVersion, 'Upload-Length': size, 'Content-Length': 0 }),
  append: (path, offset, size) => lines(`PATCH ${path}`, { ...tusVersion, ...patchHeaders(host, offset, size) }),
});
