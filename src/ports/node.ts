/**
 * The contract of a node kind. A kind is one file in `nodes` that exports what `defineNode` returns: a function that
 * flow files call to make a node of that kind, carrying its own description for the loader, the engine and the worker.
 */
import type { Static, TObject } from 'typebox';
import { markCallSite } from '../domain/call-site.ts';
import type { KeyedNode } from '../domain/define-flow.ts';
import type { NodeSettings } from '../domain/flow.ts';
import type { Params, ParamsSchema } from '../domain/params.ts';
import type { TemplatedOptions } from '../domain/template.ts';
import type { JsonValue } from '../domain/upload.ts';
import type { PassedFile, WorkerFile, WorkerLimits } from './worker-pool.ts';

/** What a worker kind gets for one run. */
export interface NodeRun<Options> {
  readonly options: Options;
  readonly files: readonly WorkerFile[];
  readonly directory: string;
  readonly intermediate: boolean;
  readonly limits: WorkerLimits;
  /** What the job was started with, defaults included. */
  readonly params: Params;
  /** Tells how far the run has come, 0 to 1; may be called as often as there is something to tell. */
  readonly progress: (share: number) => void;
}

/** A file that a kind has written into `directory`. */
export interface NodeOutput extends WorkerFile {
  readonly meta: { readonly [key: string]: JsonValue };
}

/** What is known of a file without its bytes. */
export interface NodeFile extends Omit<WorkerFile, 'path'> {
  /** Bytes. */
  readonly size: number;
  /** SHA-256, lower-case hex; only known where a template of the options names it. */
  readonly hash?: string;
}

/** What a flow says beside the node, when it is loaded. */
export interface FlowFacts {
  /** What it says of its start parameters. */
  readonly params: ParamsSchema | undefined;
}

/** Pixels of an upright picture, of one frame. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

export interface NodeDescription<
  Kind extends string = string,
  Schema extends TObject = TObject,
  Accepts extends string = string,
  Produces extends string = string,
  Out extends string = string,
  In extends string = string,
> {
  /** The `type` in flow files. */
  readonly kind: Kind;
  /** Shown to people: "Resize". */
  readonly name: string;
  /** Unknown options are refused, so every object in it says `additionalProperties: false`. */
  readonly options: Schema;
  /** The engine needs the options before there is a job, so that they hold no templates. */
  readonly plainOptions?: true;
  /**
   * - `input`: no incoming edges; its files are uploads, and the engine waits for them.
   * - `process`: makes files or decides about them, by `pass` or by `run` in a worker.
   * - `output`: ends a branch; what it hands on is meant for people.
   */
  readonly role: 'input' | 'process' | 'output';
  /** Globs of the media types that it takes; none for inputs. */
  readonly accepts: readonly Accepts[];
  /** Globs of what it delivers, given its options and the globs of what comes in. */
  produces(options: Static<Schema>, incoming: readonly string[]): readonly Produces[];
  /**
   * Checks between options that a schema cannot express: a message that begins with the option's name, or nothing.
   * `flow` is absent in a job, where options that hold templates are checked again.
   */
  check?(options: Static<Schema>, flow?: FlowFacts): string | undefined;
  /** Files of the job's storage that come by a named input although no edge leads there: their keys, by handle. */
  assets?(options: Static<Schema>): Readonly<Record<string, string>>;
  /** Other ways in beside the main one, by name: edges say `targetHandle`. */
  readonly inputHandles?: readonly In[];
  /**
   * Options that take the place of a named input, by handle: of them, and of the edges that lead there as one, a node
   * has exactly one.
   */
  readonly instead?: Readonly<Record<string, readonly string[]>>;
  /** The ways out, when there is no main one: every edge from the node says `sourceHandle`. */
  readonly outputHandles?: readonly Out[];
  /**
   * One picture in, one picture out, for each of the files, through `image/open` and `image/encode`: the kind takes
   * bare pixels from such a node before it, leaves the encoding to such a node behind it, and shares a worker with both.
   */
  readonly pixels?: true;
  /**
   * The smallest picture, in pixels, that gives the same result as one of `size`: where several nodes begin with one
   * picture, it is decoded once, as large as the most demanding of them needs it.
   */
  shrink?(options: Static<Schema>, size: PictureSize): PictureSize;
  /**
   * Decides in the server process, without any bytes, which files are handed on and by which handle; `params` is what
   * the job was started with. `undefined`: `run` must look at them. Throws `ServiceError`.
   */
  pass?(options: Static<Schema>, files: readonly NodeFile[], params: Params): readonly PassedFile[] | undefined;
  /** Runs in a worker child; throws `ServiceError`. Heavy libraries are imported in here, never at the top. */
  run?(run: NodeRun<Static<Schema>>): Promise<readonly (NodeOutput | PassedFile)[]>;
}

export interface NodeKind<
  Kind extends string = string,
  Schema extends TObject = TObject,
  Accepts extends string = string,
  Produces extends string = string,
  Out extends string = string,
  In extends string = string,
> extends NodeDescription<Kind, Schema, Accepts, Produces, Out, In> {
  /** Makes a node of this kind for a flow file: key, options, settings. */
  <const Id extends string, Keep extends boolean = false>(
    id: Id,
    options?: TemplatedOptions<Static<Schema>>,
    settings?: NodeSettings & { readonly keepOutput?: Keep },
  ): KeyedNode<Id, Kind, Accepts, Produces, Keep, Out, In>;
}

/** The node registry: kinds by their `kind`. */
export type NodeKinds = Readonly<Record<string, NodeDescription>>;

/** Describes a kind once and makes it callable as the constructor of its nodes. */
export const defineNode = <
  const Kind extends string,
  Schema extends TObject,
  const Accepts extends string,
  Produces extends string = string,
  const Out extends string = never,
  const In extends string = never,
>(
  description: NodeDescription<Kind, Schema, Accepts, Produces, Out, In>,
): NodeKind<Kind, Schema, Accepts, Produces, Out, In> => {
  const construct = (id: string, options?: TemplatedOptions<Static<Schema>>, settings: NodeSettings = {}) => {
    const node = {
      id,
      type: description.kind,
      ...(options === undefined ? {} : { options: options as Readonly<Record<string, unknown>> }),
      ...settings,
    };
    return markCallSite(node, construct);
  };
  // `name` of a function is read-only, so it is defined rather than assigned.
  return Object.defineProperties(construct, Object.getOwnPropertyDescriptors(description)) as NodeKind<
    Kind,
    Schema,
    Accepts,
    Produces,
    Out,
    In
  >;
};
