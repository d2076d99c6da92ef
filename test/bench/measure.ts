/** One run of one row on a server that has just started. */
import type { Row } from './rows.ts';
import type { Sample } from './samples.ts';
import type { Server } from './servers.ts';
import { cpuSeconds, idle, peakMemory } from './usage.ts';

export const measureRow = async (row: Row, server: Server): Promise<Sample> => {
  const { pid } = server;
  await row.warmUp(server);
  await idle(pid);
  const before = cpuSeconds(pid);
  const seconds = await row.work(server);
  return { speed: row.amount / seconds, cpu: (cpuSeconds(pid) - before) / row.times, peak: peakMemory(pid) };
};
