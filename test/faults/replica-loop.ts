/**
 * Two replicas, of which one is killed, or stands still for longer than its leases, while it runs a job and receives an
 * upload; again and again. The other one takes both over: no byte that was acknowledged is lost, and the job is done
 * once (`rescue` says what that means).
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Connection } from '../services/s3-server.ts';
import { writeGatedKind } from '../support/gated-kind.ts';
import { dice } from '../support/random.ts';
import { type Surroundings, startReplicas } from '../support/replicas.ts';
import { s3Settings } from '../support/s3-settings.ts';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';
import { requireCalm } from './calm.ts';
import { type Lane, playRound, requireStories } from './replica-round.ts';

export interface ReplicaLoopOptions {
  readonly rounds: number;
  /** Pairs of replicas that go through rounds at the same time. */
  readonly lanes: number;
  readonly seed: number;
  /** Where the files are; default: in a directory that the replicas share. */
  readonly s3?: S3Connection | undefined;
}

export interface ReplicaLoopResult {
  /** How often a replica was killed, and how often it stood still. */
  readonly kills: number;
  readonly stops: number;
  /** The longest time from the fault until the job ran again, milliseconds. */
  readonly takeover: number;
}

const flow = {
  flowId: 'gated-flow',
  name: 'Gated flow',
  nodes: {
    note: { type: 'file-input' },
    before: { type: 'output' },
    gate: { type: 'gated', keepOutput: true },
    after: { type: 'output' },
  },
  edges: [
    { source: 'note', target: 'before' },
    { source: 'note', target: 'gate' },
    { source: 'gate', target: 'after' },
  ],
};

/** Rejects when anything is not as it must be. What it starts ends with `owner`. */
export const runReplicaLoop = async (
  owner: Owner,
  surroundings: Surroundings,
  { rounds, lanes, seed, s3 }: ReplicaLoopOptions,
): Promise<ReplicaLoopResult> => {
  let [next, kills, stops, takeover] = [0, 0, 0, 0];
  const playLane = async (): Promise<void> => {
    const lane = await openLane(owner, surroundings, s3);
    const jobs: string[] = [];
    while (next < rounds) {
      const number = next;
      next += 1;
      // By turns, so that a few rounds see both.
      const fault = number % 2 === 0 ? 'kill' : 'stop';
      const round = await playRound(lane, { number, fault, random: dice(seed + number) });
      takeover = Math.max(takeover, round.takeover);
      if (fault === 'kill') kills += 1;
      else stops += 1;
      jobs.push(round.jobId);
    }
    for (const jobId of jobs) await requireStories(lane, jobId);
    requireCalm(lane.replicas);
  };
  await Promise.all(Array.from({ length: lanes }, playLane));
  return { kills, stops, takeover };
};

const openLane = async (owner: Owner, surroundings: Surroundings, s3?: S3Connection): Promise<Lane> => {
  const [data, flows] = [await temporaryDirectory(owner), await temporaryDirectory(owner)];
  await writeFile(join(flows, 'gated.json'), JSON.stringify(flow));
  const gated = await writeGatedKind(owner);
  const env = { DATA_DIR: data, FLOWS_DIR: flows, PLUGINS: gated.plugin, WORKERS: '1', ...(s3 && s3Settings(s3)) };
  const replicas = await startReplicas(surroundings, { count: 2, env });
  // One that stands still hears of no other signal.
  owner.teardown(async () => void (await replicas.stop('SIGKILL')));
  return { replicas, gated };
};
