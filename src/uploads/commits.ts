import type { UploadRecord } from '../domain/upload.ts';
import type { Durable, Sink } from '../ports/data-store.ts';
import type { Entry } from '../ports/kv-store.ts';
import { appended, changed, durableOf, type SaveDeps, saveUpload } from './records.ts';

/** A long body commits on the way after this many bytes or milliseconds (DESIGN 3). */
const commitBytes = 16 * 1024 * 1024;
const commitMs = 1000;

/**
 * The commits on the way of a long body: one at a time, the sync overlapping the writes that follow. What the store has
 * the record keep goes the same way, as both write over the version before.
 */
export class Commits {
  readonly #deps: SaveDeps;
  readonly #sink: Pick<Sink, 'sync'>;
  /** The offset at which the body begins. */
  readonly #start: number;
  #enabled: boolean;
  #entry: Entry<UploadRecord>;
  #running: Promise<void> | undefined;
  #at = performance.now();

  constructor(deps: SaveDeps, sink: Pick<Sink, 'sync'>, entry: Entry<UploadRecord>, enabled: boolean) {
    this.#deps = deps;
    this.#sink = sink;
    this.#entry = entry;
    this.#start = entry.value.offset;
    this.#enabled = enabled;
  }

  /** Begins a commit when enough bytes wait for one, or some bytes for long enough. */
  progressed(bytes: number): void {
    const waiting = this.#start + bytes - this.#entry.value.offset;
    if (!this.#enabled || this.#running !== undefined || waiting === 0) return;
    const now = performance.now();
    if (waiting < commitBytes && now - this.#at < commitMs) return;
    this.#at = now;
    this.#running = this.#commit()
      // A failure shows again in the sink's `finish`, which answers the request.
      .catch(() => false)
      .then((committed) => {
        this.#enabled = committed;
        this.#running = undefined;
      });
  }

  /** The newest record, once no commit is running. */
  async settled(): Promise<Entry<UploadRecord>> {
    while (this.#running !== undefined) await this.#running;
    return this.#entry;
  }

  /** See `AppendOptions.keep`. Rejects with `INVALID_OFFSET` when the record is no longer this writer's. */
  readonly keep = async (change: (last: Durable) => Durable): Promise<void> => {
    while (this.#running !== undefined) await this.#running;
    const kept = this.#keep(change);
    this.#running = kept
      .catch(() => {})
      .then(() => {
        this.#running = undefined;
      });
    await kept;
  };

  async #keep(change: (last: Durable) => Durable): Promise<void> {
    const { value } = this.#entry;
    const durable = change(durableOf(value));
    const progress = durable.offset !== value.offset;
    // Full, but not yet one file: should this process die now, recovery completes it.
    const full = durable.offset === value.size ? { status: 'finalizing' as const } : {};
    const saved = await saveUpload(
      this.#deps,
      this.#entry,
      progress ? { ...appended(durable), ...full } : { sink: durable.state },
      { progress },
    );
    if (saved === undefined) throw changed();
    this.#entry = saved;
  }

  /** `false`: the record is no longer this writer's. */
  async #commit(): Promise<boolean> {
    const durable = await this.#sink.sync();
    if (durable.offset <= this.#entry.value.offset) return true;
    const saved = await saveUpload(this.#deps, this.#entry, appended(durable), { progress: true });
    if (saved !== undefined) this.#entry = saved;
    return saved !== undefined;
  }
}
