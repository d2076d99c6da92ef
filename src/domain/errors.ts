/**
 * The one table of error codes (WIRE 7). A code maps to its HTTP status here, to a job error in the engine and to an
 * event frame in `events`; `docs/errors.md` shows the same rows and a test keeps the two equal.
 */

/** What a code means to clients and to the retry rule of the engine. */
export interface ErrorEntry {
  /** HTTP status; codes that only ever end a job carry the status of their nearest relative. */
  readonly status: number;
  /** Shown when the place that fails has nothing more exact to say. */
  readonly message: string;
  /** What the reader can do about it. */
  readonly remedy: string;
  /** Whether the engine tries the node again (DESIGN 4). */
  readonly retryable: boolean;
}

const entry = (status: number, message: string, remedy: string, retryable = false): ErrorEntry => ({
  status,
  message,
  remedy,
  retryable,
});

export const errorTable = {
  VALIDATION_ERROR: entry(400, 'The request is not valid', 'Correct the named field'),
  INVALID_METADATA: entry(400, 'The metadata cannot be read', 'Send an object, JSON, base64 of JSON or tus pairs'),
  UNSUPPORTED_CHECKSUM_ALGORITHM: entry(400, 'The checksum algorithm is not supported', 'Use sha256'),
  UNAUTHORIZED: entry(401, 'Credentials are missing or wrong', 'Send a valid token or API key'),
  FORBIDDEN: entry(403, 'The permission is missing', 'Ask for the named permission'),
  NOT_FOUND: entry(404, 'There is nothing at this address', 'Check the path'),
  FILE_NOT_FOUND: entry(404, 'There is no such upload or file', 'Check the id; start a new upload if it is gone'),
  FLOW_NOT_FOUND: entry(404, 'There is no such flow', 'GET /api/flow lists the flows'),
  FLOW_JOB_NOT_FOUND: entry(404, 'There is no such job', 'Check the id'),
  NODE_NOT_FOUND: entry(404, 'The flow has no such node', 'GET /api/flow/:flowId lists the nodes'),
  STORAGE_NOT_FOUND: entry(404, 'There is no such storage', 'Use a configured storage id, or leave it out'),
  QUOTA_EXCEEDED: entry(403, 'A quota is used up (413 for stored bytes)', 'Finish or delete uploads; see details'),
  METHOD_NOT_ALLOWED: entry(405, 'The method is not allowed here', 'See the Allow header'),
  INVALID_OFFSET: entry(409, 'The offset is not the offset of the upload', 'Continue from the Upload-Offset header'),
  INVALID_JOB_STATE: entry(409, 'The job is not in a state that allows this', 'Read the status of the job first'),
  IDEMPOTENCY_CONFLICT: entry(409, 'The idempotency key is in use', 'Use a new key for another request; see message'),
  FILE_NO_LONGER_EXISTS: entry(410, 'The upload or file has been removed', 'Start a new upload'),
  ERR_SIZE_EXCEEDED: entry(413, 'The body would pass the size of the upload', 'Send the bytes that are missing only'),
  ERR_MAX_SIZE_EXCEEDED: entry(413, 'The upload is larger than this service takes', 'See Upload-Limit'),
  FILE_TOO_LARGE: entry(413, 'The file is over a limit', 'See details for the limit'),
  INVALID_CONTENT_TYPE: entry(415, 'The content type is not accepted here', 'See the message for the accepted types'),
  UNSUPPORTED_FORMAT: entry(415, 'The format of the file is not accepted', 'Send one of the allowed types'),
  RANGE_NOT_SATISFIABLE: entry(416, 'The range is outside the file', 'See the Content-Range header'),
  CHECKSUM_MISMATCH: entry(422, 'The bytes do not have the declared checksum', 'Upload the file again'),
  UPLOAD_LOCKED: entry(423, 'Another request is writing this upload', 'Try again after Retry-After'),
  INTERNAL_ERROR: entry(500, 'Something went wrong', 'Report the request id', true),
  UNAVAILABLE: entry(
    503,
    'The service cannot answer now',
    'Try again after Retry-After; ask HEAD for the offset',
    true,
  ),
  STORAGE_FULL: entry(507, 'There is no room left in the storage', 'Resume once there is room'),
  // Codes that end an upload or a job.
  TIMEOUT: entry(500, 'The time limit has passed', 'Raise the timeout, or send smaller files', true),
  STORAGE_ERROR: entry(500, 'The storage failed', 'See the log of the service', true),
  INVALID_INPUT: entry(422, 'The file is damaged or cannot be decoded', 'Send an intact file'),
  INVALID_PARAMS: entry(422, 'An option does not fit this file', 'Correct the option of the node'),
  MISSING_INPUT: entry(422, 'A file that the node needs has not come', 'Check the edges and assets of the node'),
  UPLOAD_FAILED: entry(422, 'An upload that the job waits for has failed', 'Start the flow again'),
  EXPIRED: entry(410, 'The upload was not finished in time', 'Start a new upload'),
  CANCELLED: entry(409, 'It was cancelled', 'Start again'),
  NODE_CRASHED: entry(500, 'The process that ran the node died', 'Send another file; see the log', true),
  RESOURCE_EXHAUSTED: entry(500, 'Memory or scratch space ran out', 'Try again, or raise the limit', true),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** An error that a client may see: `message` and `details` are public, `cause` is only logged. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message?: string,
    options: { details?: Record<string, unknown>; status?: number; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message ?? errorTable[code].message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.status = options.status ?? errorTable[code].status;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
  }
}

/** A store or the bus did not answer: nothing is wrong with the request, upload or job that needed it. */
export const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.code === 'UNAVAILABLE';

/** Whether `value` is a code of the table: errors that cross a process boundary are checked with it. */
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(errorTable, value);

/** Any thrown value as a `ServiceError`; what is not one becomes `fallback`, its own text kept as the cause only. */
export const toServiceError = (error: unknown, fallback: ErrorCode = 'INTERNAL_ERROR'): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError(fallback, undefined, { cause: error });
