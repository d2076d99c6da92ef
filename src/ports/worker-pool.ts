/**
 * Runs nodes that decode, render or infer, outside the server process, on files by path (DESIGN 1.4).
 *
 * Errors are `ServiceError`s: the node's own code, `NODE_CRASHED` when the child died, `RESOURCE_EXHAUSTED` when it was
 * ended for its memory. Aborting rejects with the signal's reason once the child is gone, so that its scratch folder
 * can be removed.
 */
import type { JsonValue } from '../domain/upload.ts';

export interface WorkerFile {
  readonly path: string;
  /** What the file is to the flow. An intermediate may be kept uncompressed on disk and still be an `image/jpeg`. */
  readonly mimeType: string;
  readonly fileName: string;
}

export interface WorkerTask {
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly files: readonly WorkerFile[];
  /** An empty folder for this attempt; outputs go there. */
  readonly directory: string;
  /** Only other nodes of the same job read the outputs: image kinds then skip the encoding. */
  readonly intermediate: boolean;
  readonly limits: WorkerLimits;
}

export interface WorkerLimits {
  /** Pixels of an image that comes in, all frames together. */
  readonly maxPixels: number;
  /** Pixels on a side of an image that goes out. */
  readonly maxSide: number;
}

export interface WorkerOutput extends WorkerFile {
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly meta: { readonly [key: string]: JsonValue };
}

export interface WorkerPool {
  /** How many tasks run at once; 0: none here. */
  readonly size: number;
  run(task: WorkerTask, signal: AbortSignal): Promise<readonly WorkerOutput[]>;
  /** Ends all children. Tasks that run are rejected. */
  close(): Promise<void>;
}
