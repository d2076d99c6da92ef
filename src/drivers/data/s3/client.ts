/** The SDK's client, with what it does on its own turned off where it does not suit every server. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

export interface Connection {
  /** Absent: AWS. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** Absent: the SDK's own chain (AWS_* variables, profiles, roles). */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  /** `http://host/bucket/key` instead of `http://bucket.host/key`; default: with an endpoint. */
  readonly forcePathStyle?: boolean | undefined;
}

const quiet = () => {};
/** Left to itself the SDK writes warnings to the console. */
const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Connections at a time, kept open between requests. */
const agent = { keepAlive: true, maxSockets: 256 };

/** AWS takes no piece of a stream that is shorter than 8 KiB (aws-sdk-js-v3 #6859): bytes that are put together. */
const pieces = 65_536;

/**
 * Servers other than AWS mostly refuse or, worse, store the SDK's checksum trailers (aws-sdk-js-v3 #6810): they get
 * none that they do not ask for. A body that is refused was sent from memory, so asking first (`Expect`) is only slow.
 */
export const createClient = (connection: Connection): S3Client => {
  const { endpoint, region = 'us-east-1', forcePathStyle = endpoint !== undefined } = connection;
  return new S3Client({
    region,
    forcePathStyle,
    maxAttempts: 1,
    logger,
    expectContinueHeader: false,
    requestHandler: { connectionTimeout: 5000, httpAgent: agent, httpsAgent: agent, logger },
    ...(endpoint === undefined ? { requestStreamBufferSize: pieces } : elsewhere(endpoint)),
    ...credentialsOf(connection),
  });
};

const elsewhere = (endpoint: string): S3ClientConfig => ({
  endpoint,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
});

const credentialsOf = ({ accessKeyId, secretAccessKey, sessionToken }: Connection): S3ClientConfig => {
  if (accessKeyId === undefined && secretAccessKey === undefined) return {};
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new TypeError('An access key for S3 needs its secret, and the other way round');
  }
  const token = sessionToken === undefined ? {} : { sessionToken };
  return { credentials: { accessKeyId, secretAccessKey, ...token } };
};
