/** An upload on its way, over however many lives of the service it takes, and what its client may expect of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256, type UploadClient, uploadClient } from '../support/upload-client.ts';

/** What no kill explains. */
export class Wrong extends Error {}

/** The service has said that it cannot answer now, in the documented way: what has become of the request is unknown. */
export class Unavailable extends Error {}

/** `wanted`, or an error; `is`: what was asked. */
export const requireStatus = (
  is: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  wanted: number[],
): void => {
  if (wanted.includes(status)) return;
  if (status === 503 && Number(headers.get('retry-after')) >= 1) throw new Unavailable(is);
  throw new Wrong(`${is} answers ${status}`);
};

export interface Transfer {
  readonly content: Buffer;
  /** It sends `Upload-Offset`; without, a piece counts whole or not at all. */
  readonly withOffset: boolean;
  /** It is deleted once so many bytes are acknowledged. */
  readonly deletedAt: number;
  id: string | undefined;
  /** Bytes that the service has said it has. */
  acknowledged: number;
  /** Where the piece ends that was sent last: no more than this can have arrived. */
  sent: number;
}

/** Numbers from 0 up to 1. */
type Random = () => number;

const mebibyte = 1_048_576;

/** As many small sizes as large ones: from none to 32 MiB, by the power of two. */
const anySize = (random: Random): number => Math.floor(2 ** (random() * 25)) - 1;

export const anyTransfer = (random: Random, contentOf: (length: number) => Buffer): Transfer => {
  const content = contentOf(anySize(random));
  const isDeleted = random() < 0.25;
  return {
    content,
    withOffset: random() < 0.6,
    deletedAt: isDeleted ? Math.floor(random() * (content.length + 1)) : Number.POSITIVE_INFINITY,
    id: undefined,
    acknowledged: 0,
    sent: 0,
  };
};

/**
 * The next request or two of the client; how the upload has ended, if it has. Rejects with `Wrong`, or with `Unavailable`
 * or an error of the network: then the same is to be called again, with the address of the next life if there is one.
 */
export const advance = async (
  url: string,
  transfer: Transfer,
  random: Random,
): Promise<'completed' | 'deleted' | undefined> => {
  const uploads = uploadClient(url);
  const { content } = transfer;
  transfer.id ??= await create(uploads, content.length);
  if (transfer.acknowledged >= transfer.deletedAt) return remove(uploads, transfer, transfer.id, random);
  const offset = await askOffset(uploads, transfer, transfer.id);
  transfer.acknowledged = offset;
  if (offset < content.length || content.length === 0) await sendPiece(uploads, transfer, transfer.id, random);
  if (transfer.acknowledged < content.length || transfer.acknowledged >= transfer.deletedAt) return undefined;
  const response = await fetch(`${url}/api/files/${transfer.id}`);
  requireStatus('GET', response, [200]);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (sha256(bytes) !== sha256(content)) throw new Wrong('the file has other bytes');
  return 'completed';
};

const create = async (uploads: UploadClient, size: number): Promise<string> => {
  const response = await uploads.post({ fileName: 'a.bin', size });
  requireStatus('POST', response, [201]);
  return ((await response.json()) as { id: string }).id;
};

const askOffset = async (uploads: UploadClient, transfer: Transfer, id: string): Promise<number> => {
  const response = await uploads.head(id);
  requireStatus('HEAD', response, [200]);
  const offset = Number(response.headers.get('upload-offset'));
  const { acknowledged, sent, withOffset } = transfer;
  if (offset < acknowledged) throw new Wrong(`${acknowledged} bytes are acknowledged, the offset is ${offset}`);
  if (offset > sent) throw new Wrong(`${sent} bytes were sent, the offset is ${offset}`);
  if (!withOffset && offset !== acknowledged && offset !== sent) {
    throw new Wrong(`without Upload-Offset it is ${offset}, neither ${acknowledged} nor ${sent}`);
  }
  return offset;
};

/** Sends a part of the rest, from a twentieth of the upload to all of it. */
const sendPiece = async (uploads: UploadClient, transfer: Transfer, id: string, random: Random): Promise<void> => {
  const { content, acknowledged, withOffset } = transfer;
  const length = Math.ceil(content.length * (0.05 + 0.95 * random() ** 2));
  const piece = content.subarray(acknowledged, acknowledged + length);
  transfer.sent = acknowledged + piece.length;
  const offset = withOffset ? acknowledged : undefined;
  // Nothing is sent the quick way only: there is no body to wait for.
  const send = random() < 0.5 && piece.length > 0 ? sendSlowly : sendAtOnce;
  requireStatus('PATCH', await send(uploads, id, piece, offset), [200]);
  transfer.acknowledged = transfer.sent;
};

const sendAtOnce = async (uploads: UploadClient, id: string, piece: Buffer, offset: number | undefined) => {
  const response = await uploads.patch(id, piece, { offset });
  await response.arrayBuffer();
  return response;
};

/** About 8 MiB a second, so that many kills find a body on its way. */
const sendSlowly = async (uploads: UploadClient, id: string, piece: Buffer, offset: number | undefined) => {
  const headers = { 'content-length': piece.length, ...(offset === undefined ? {} : { 'upload-offset': offset }) };
  const http = await uploads.begin(id, headers);
  for (let at = 0; at < piece.length && http.socket.writable; at += mebibyte / 8) {
    await http.send(piece.subarray(at, at + mebibyte / 8));
    await sleep(15);
  }
  const { status, headers: answered } = await http.response();
  http.cut();
  return { status, headers: new Headers(answered) };
};

/** Deletes the upload, sometimes under a PATCH that is running, and makes sure that it is gone. */
const remove = async (uploads: UploadClient, transfer: Transfer, id: string, random: Random): Promise<'deleted'> => {
  const { acknowledged, content } = transfer;
  const rest = content.subarray(acknowledged);
  // What becomes of it is not asked: it may be first, or too late, or cut off.
  if (random() < 0.5) void uploads.patch(id, rest, { offset: acknowledged }).catch(() => undefined);
  // Gone already when the answer to an earlier try was lost.
  requireStatus('DELETE', await uploads.remove(id), [204, 404, 410]);
  requireStatus('HEAD after DELETE', await uploads.head(id), [404, 410]);
  return 'deleted';
};
