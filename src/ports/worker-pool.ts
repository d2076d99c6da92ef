/**
 * Runs nodes that decode, render or infer, outside the server process, on files by path (DESIGN 1.4).
 *
 * Errors are `ServiceError`s: the node's own code with the step's `nodeId` in the details, `NODE_CRASHED` when the
 * child died, `RESOURCE_EXHAUSTED` when it was ended for its memory. Aborting rejects with the signal's reason once the
 * child is gone, so that its scratch folder can be removed.
 */
import type { TemplateValues } from '../domain/template.ts';
import type { JsonValue } from '../domain/upload.ts';

export interface WorkerFile {
  readonly path: string;
  /** What the file is to the flow. An intermediate may be kept uncompressed on disk and still be an `image/jpeg`. */
  readonly mimeType: string;
  readonly fileName: string;
  /** What nodes before have found out: width, height and the like. */
  readonly meta?: { readonly [key: string]: JsonValue };
  /** The size of the picture before it was made smaller for all who share it, pixels: nodes go by this one. */
  readonly whole?: { readonly width: number; readonly height: number };
  /** The named input by which it comes; absent: the main one. */
  readonly handle?: string;
  /** Where its edge stands among those that lead to the node, from 0. */
  readonly edge?: number;
}

/** One node of a chain. */
export interface WorkerStep {
  readonly nodeId: string;
  readonly kind: string;
  /** As the definition has them: templates are expanded for each file as it comes. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Only image nodes of the same job read the outputs: image kinds then skip the encoding. */
  readonly intermediate: boolean;
}

export interface WorkerTask {
  /** What is done over the files: every chain begins with them, and each of its steps takes what the one before made. */
  readonly chains: readonly (readonly WorkerStep[])[];
  readonly files: readonly WorkerFile[];
  /** A folder for this attempt, empty or still to be made; outputs go there. */
  readonly directory: string;
  readonly limits: WorkerLimits;
  /** What templates may name, beside the file. */
  readonly values: TemplateValues;
}

export interface WorkerLimits {
  /** Pixels of an image that comes in, all frames together. */
  readonly maxPixels: number;
  /** Pixels on a side of an image that goes out. */
  readonly maxSide: number;
}

/** A file that the last step of a chain has made. */
export interface MadeFile extends WorkerFile {
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly meta: { readonly [key: string]: JsonValue };
}

/** A file that is handed on as it came: conditional, merge. */
export interface PassedFile {
  /** Its place among the files that came in. */
  readonly passes: number;
  /** The named output by which it leaves; absent: the main one. */
  readonly handle?: string;
  /** What was found out about it on the way; absent: nothing new. */
  readonly meta?: { readonly [key: string]: JsonValue };
}

export type WorkerOutput = MadeFile | PassedFile;

/** What a worker tells while it runs. `at` is milliseconds since 1970, `progress` 0 to 1. */
export type WorkerNotice =
  | { readonly type: 'started' | 'completed'; readonly nodeId: string; readonly at: number }
  | { readonly type: 'progress'; readonly nodeId: string; readonly progress: number };

export interface WorkerPool {
  /** How many tasks run at once; 0: none here. */
  readonly size: number;
  /** What each chain has delivered, in the order of the chains. `tell` is never called after the end. */
  run(
    task: WorkerTask,
    signal: AbortSignal,
    tell?: (notice: WorkerNotice) => void,
  ): Promise<readonly (readonly WorkerOutput[])[]>;
  /** Ends all children. Tasks that run are rejected. */
  close(): Promise<void>;
}
