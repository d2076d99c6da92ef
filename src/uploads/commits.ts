import type { UploadRecord } from '../domain/upload.ts';
import type { Sink } from '../ports/data-store.ts';
import type { Entry } from '../ports/kv-store.ts';
import { saveUpload, type UploadDeps } from './records.ts';

/** A long body commits on the way after this many bytes or milliseconds (DESIGN 3). */
const commitBytes = 16 * 1024 * 1024;
const commitMs = 1000;

type CommitDeps = Pick<UploadDeps, 'publish' | 'clock'>;

/** The commits on the way of a long body: one at a time, the sync overlapping the writes that follow. */
export class Commits {
  readonly #deps: CommitDeps;
  readonly #sink: Sink;
  readonly #enabled: boolean;
  #entry: Entry<UploadRecord>;
  #running: Promise<void> | undefined;
  #bytes = 0;
  #at = performance.now();

  constructor(deps: CommitDeps, sink: Sink, entry: Entry<UploadRecord>, enabled: boolean) {
    this.#deps = deps;
    this.#sink = sink;
    this.#entry = entry;
    this.#enabled = enabled;
  }

  /** Begins a commit when enough bytes or time have passed since the last. */
  progressed(bytes: number): void {
    if (!this.#enabled || this.#running !== undefined) return;
    const now = performance.now();
    if (bytes - this.#bytes < commitBytes && now - this.#at < commitMs) return;
    this.#bytes = bytes;
    this.#at = now;
    // A failure shows again in the sink's `finish`, which answers the request.
    this.#running = this.#commit()
      .catch(() => {})
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** The newest record, once no commit is running. */
  async settled(): Promise<Entry<UploadRecord>> {
    await this.#running;
    return this.#entry;
  }

  async #commit(): Promise<void> {
    const { offset, state } = await this.#sink.sync();
    if (offset <= this.#entry.value.offset) return;
    const change = { offset, status: 'uploading' as const, ...(state === undefined ? {} : { sink: state }) };
    const saved = await saveUpload(this.#deps, this.#entry, change, { progress: true });
    if (saved !== undefined) this.#entry = saved;
  }
}
