/** Has every contestant do each row, one after the other. */
import type { Sample } from '../samples.ts';
import { withDirectory } from '../servers.ts';
import { cpuSeconds, idle, peakMemory } from '../usage.ts';
import { type MemoryOptions, type MemorySample, measureMemory } from './memory.ts';
import type { Contestant } from './programs.ts';
import type { FlowRow } from './rows.ts';

export interface FlowOptions {
  readonly rows: readonly FlowRow[];
  /** Left out unless the row is chosen. */
  readonly memory?: MemoryOptions | undefined;
}

/** One contestant in one row: a sample for each round. */
export interface FlowResult {
  readonly row: FlowRow;
  readonly contestant: string;
  readonly samples: readonly Sample[];
}

/** Of one directory. */
export interface FlowResults {
  readonly flows: readonly FlowResult[];
  readonly memory: readonly MemorySample[];
}

/** Each round adds to it. */
export interface GrowingFlows extends FlowResults {
  readonly flows: readonly (FlowResult & { readonly samples: Sample[] })[];
  readonly memory: MemorySample[];
}

export const emptyFlows = (options: FlowOptions | undefined): GrowingFlows => ({
  flows: (options?.rows ?? []).flatMap((row) =>
    Object.keys(row.contestants).map((contestant) => ({ row, contestant, samples: [] as Sample[] })),
  ),
  memory: [],
});

const measure = async (row: FlowRow, contestant: Contestant): Promise<Sample> => {
  const { pid } = contestant;
  await contestant.prepare(row.warmUp);
  await contestant.go();
  await contestant.prepare(row.count);
  await idle(pid);
  const before = cpuSeconds(pid);
  const seconds = await contestant.go();
  return { speed: row.count / seconds, cpu: (cpuSeconds(pid) - before) / row.count, peak: peakMemory(pid) };
};

/** One more sample for each contestant; in every second round the order is reversed. */
export const addFlowRound = async (
  results: GrowingFlows,
  directory: string,
  options: FlowOptions,
  round: number,
  say: (text: string) => void,
): Promise<void> => {
  for (const { row, contestant, samples } of round % 2 === 0 ? results.flows : results.flows.toReversed()) {
    const sample = await withDirectory(directory, async (own) => {
      const opened = await row.contestants[contestant]!(own);
      return measure(row, opened).finally(() => opened.stop());
    });
    samples.push(sample);
    say(`${row.id}: ${contestant} ${sample.speed.toFixed(2)} ${row.unit}/s`);
  }
  if (options.memory === undefined) return;
  const memory = await measureMemory(directory, options.memory);
  results.memory.push(memory);
  say(`idle-memory: ${memory.warm.toFixed(0)} and ${memory.after.toFixed(0)} MiB`);
};
