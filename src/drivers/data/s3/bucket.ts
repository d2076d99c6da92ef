/** The few requests that the driver makes, each tried several times: the only file that speaks with the SDK's client. */
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Ask, Try } from './attempts.ts';
import type { Body } from './body.ts';
import { isMissing } from './failures.ts';

export interface StoredObject {
  readonly name: string;
  readonly modified: Date;
}

export interface OpenUpload {
  readonly name: string;
  readonly uploadId: string;
  readonly initiated: Date;
}

export interface CompletedPart {
  readonly number: number;
  readonly etag: string;
}

/** Names are whole keys of objects, the prefix of the store included. A `stop` ends the request at once. */
export interface Bucket {
  put(name: string, body: Body, stop?: AbortSignal): Promise<void>;
  /** An open stream of the bytes `[start, end)` of the version `etag`, by default of whatever is there; `size`: of it. */
  get(
    name: string,
    range: { readonly start: number; readonly end?: number },
    etag?: string,
  ): Promise<{ readonly stream: Readable; readonly size: number; readonly etag: string }>;
  /** Bytes; `undefined`: there is no such object. */
  sizeOf(name: string): Promise<number | undefined>;
  remove(name: string): Promise<void>;
  list(prefix: string): AsyncIterable<StoredObject>;
  begin(name: string, stop?: AbortSignal): Promise<string>;
  /** Resolves with the part's ETag, without its quotes. */
  putPart(name: string, uploadId: string, number: number, body: Body, stop?: AbortSignal): Promise<string>;
  /** The numbers of the parts that are there. */
  partsOf(name: string, uploadId: string): Promise<readonly number[]>;
  complete(name: string, uploadId: string, parts: readonly CompletedPart[]): Promise<void>;
  /** One that is gone already is no error. */
  abort(name: string, uploadId: string): Promise<void>;
  uploads(prefix: string): AsyncIterable<OpenUpload>;
}

export interface BucketOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly ask: Ask;
  /** For work of the server that may take its time: it puts thousands of parts together. */
  readonly askPatiently: Ask;
}

export const createBucket = (options: BucketOptions): Bucket => ({ ...wholeObjects(options), ...multipart(options) });

type WholeObjects = Pick<Bucket, 'put' | 'get' | 'sizeOf' | 'remove' | 'list'>;

const wholeObjects = ({ client, bucket, ask }: BucketOptions): WholeObjects => ({
  put: (name, body, stop) =>
    ask(async (one) => {
      const place = { Bucket: bucket, Key: name, ContentLength: body.size };
      const send = (Body: Readable | Buffer) =>
        client.send(new PutObjectCommand({ ...place, Body }), { abortSignal: one.signal });
      acknowledged(await carry(body, one, send));
    }, stop),

  get: (name, { start, end }, etag) =>
    ask(async ({ signal }) => {
      const Range = start === 0 && end === undefined ? undefined : `bytes=${start}-${end === undefined ? '' : end - 1}`;
      const input = { Bucket: bucket, Key: name, Range, IfMatch: etag === undefined ? undefined : `"${etag}"` };
      const answer = await client.send(new GetObjectCommand(input), { abortSignal: signal });
      const { Body: stream, ContentLength: size } = answer;
      if (size === undefined) throw new Error('The answer does not say how long it is');
      // Whoever reads it looks for errors only while waiting.
      return { stream: (stream as Readable).on('error', () => {}), size, etag: acknowledged(answer) };
    }),

  sizeOf: (name) =>
    ask(async ({ signal }) => {
      const input = { Bucket: bucket, Key: name };
      const answer = await client.send(new HeadObjectCommand(input), { abortSignal: signal });
      acknowledged(answer);
      return answer.ContentLength;
    }).catch(orMissing),

  remove: (name) =>
    ask(async ({ signal }) => {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }), { abortSignal: signal });
    }).catch(orMissing),

  async *list(prefix) {
    const ofPage = (ContinuationToken: string | undefined) => {
      const input = { Bucket: bucket, Prefix: prefix, ContinuationToken };
      return ask(({ signal }) => client.send(new ListObjectsV2Command(input), { abortSignal: signal }));
    };
    for await (const { Contents = [] } of pages(ofPage, (page) => page.NextContinuationToken)) {
      for (const { Key: name = '', LastModified: modified = new Date() } of Contents) yield { name, modified };
    }
  },
});

const multipart = ({ client, bucket, ask, askPatiently }: BucketOptions): Omit<Bucket, keyof WholeObjects> => ({
  begin: (name, stop) =>
    ask(async ({ signal }) => {
      const input = { Bucket: bucket, Key: name };
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(input), { abortSignal: signal });
      if (UploadId === undefined) throw new Error('The answer names no multipart upload');
      return UploadId;
    }, stop),

  putPart: (name, uploadId, number, body, stop) =>
    ask(async (one) => {
      const place = { Bucket: bucket, Key: name, UploadId: uploadId, PartNumber: number, ContentLength: body.size };
      const send = (Body: Readable | Buffer) =>
        client.send(new UploadPartCommand({ ...place, Body }), { abortSignal: one.signal });
      return acknowledged(await carry(body, one, send));
    }, stop),

  partsOf: async (name, uploadId) => {
    const ofPage = (PartNumberMarker: string | undefined) => {
      const input = { Bucket: bucket, Key: name, UploadId: uploadId, PartNumberMarker };
      return ask(({ signal }) => client.send(new ListPartsCommand(input), { abortSignal: signal }));
    };
    const numbers: number[] = [];
    for await (const { Parts = [] } of pages(ofPage, (page) => page.NextPartNumberMarker)) {
      for (const { PartNumber: number = 0 } of Parts) numbers.push(number);
    }
    return numbers;
  },

  complete: (name, uploadId, parts) =>
    askPatiently(async ({ signal }) => {
      const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: `"${etag}"` }));
      const input = { Bucket: bucket, Key: name, UploadId: uploadId, MultipartUpload: { Parts } };
      // Ceph 16 answers without an ETag; whether it is true, a look at the object tells.
      await client.send(new CompleteMultipartUploadCommand(input), { abortSignal: signal });
    }),

  abort: (name, uploadId) =>
    ask(async ({ signal }) => {
      const input = { Bucket: bucket, Key: name, UploadId: uploadId };
      await client.send(new AbortMultipartUploadCommand(input), { abortSignal: signal });
    }).catch(orMissing),

  async *uploads(prefix) {
    const ofPage = (marker: { readonly KeyMarker?: string | undefined } = {}) => {
      const input = { Bucket: bucket, Prefix: prefix, ...marker };
      return ask(({ signal }) => client.send(new ListMultipartUploadsCommand(input), { abortSignal: signal }));
    };
    const markerOf = ({ NextKeyMarker, NextUploadIdMarker }: Awaited<ReturnType<typeof ofPage>>) =>
      NextKeyMarker === undefined ? undefined : { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker };
    for await (const { Uploads = [] } of pages(ofPage, markerOf)) {
      for (const { Key: name = '', UploadId: uploadId = '', Initiated: initiated = new Date() } of Uploads) {
        yield { name, uploadId, initiated };
      }
    }
  },
});

/** Asks for one page after the other, while there are more. */
async function* pages<P extends { readonly IsTruncated?: boolean | undefined }, M>(
  ask: (marker: M | undefined) => Promise<P>,
  next: (page: P) => M | undefined,
): AsyncGenerator<P> {
  let marker: M | undefined;
  do {
    const page = await ask(marker);
    yield page;
    marker = page.IsTruncated === true ? next(page) : undefined;
  } while (marker !== undefined);
}

/** One try with the body; what is not sent of it is let go. */
const carry = async <T>(body: Body, one: Try, send: (opened: Readable | Buffer) => Promise<T>): Promise<T> => {
  const opened = body.open(one.touch);
  if (Buffer.isBuffer(opened)) return send(opened);
  opened.on('error', one.abort);
  try {
    return await send(opened);
  } finally {
    opened.destroy();
  }
};

/** A 200 whose body is an error has no ETag; "S3 API, CompleteMultipartUpload" warns of these, proxies make more. */
const acknowledged = ({ ETag }: { readonly ETag?: string | undefined }): string => {
  if (ETag === undefined || ETag === '') throw new Error('The answer does not acknowledge the object');
  return ETag.replaceAll('"', '');
};

const orMissing = (error: unknown): undefined => {
  if (isMissing(error)) return undefined;
  throw error;
};
