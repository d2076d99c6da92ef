/** What every worker pool does, wherever its workers are. It must have room for one task at least. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { MadeFile, WorkerOutput, WorkerPool, WorkerStep, WorkerTask } from '../../src/ports/worker-pool.ts';
import type { Make } from '../support/fixture.ts';
import { makePhoto } from '../support/photo.ts';
import { limits } from '../support/run-kind.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { quiet } from '../support/wait.ts';

/** A task of one step. */
type TaskChange = Partial<Omit<WorkerTask, 'chains'> & WorkerStep>;

/** Makes tasks over one photo, each with a folder of its own. */
export interface Tasks {
  /** Takes milliseconds. */
  short(change?: TaskChange): Promise<WorkerTask>;
  /** Takes far longer than any test. */
  long(): Promise<WorkerTask>;
}

/** Enough to keep the slowest encoder busy for half a minute. */
const photo = makePhoto({ width: 3000, height: 2000 });

export const makeTasks = async (t: Test): Promise<Tasks> => {
  const root = await temporaryDirectory(t);
  const path = join(root, 'photo');
  await writeFile(path, await photo);
  const files = [{ path, mimeType: 'image/jpeg', fileName: 'photo.jpeg' }];
  let made = 0;
  const task = async (change: TaskChange): Promise<WorkerTask> => {
    made += 1;
    const directory = join(root, String(made));
    await mkdir(directory);
    const { kind = 'resize', options = { width: 30 }, nodeId = 'node', intermediate = false, ...rest } = change;
    return { chains: [[{ nodeId, kind, options, intermediate }]], files, directory, limits, values: {}, ...rest };
  };
  return {
    short: (change = {}) => task(change),
    long: () => task({ kind: 'optimize', options: { format: 'avif', effort: 4 } }),
  };
};

/** What the chains have made, one after the other. */
export const madeBy = (outputs: readonly (readonly WorkerOutput[])[]): readonly MadeFile[] =>
  outputs.flat().filter((output) => 'path' in output);

const never = new AbortController().signal;

type Case = (title: string, run: (t: Test, pool: WorkerPool, tasks: Tasks) => Promise<void>) => void;

/** Runs the suite; `name` is shown in its titles. */
export const testWorkerPool = (name: string, make: Make<WorkerPool>): void => {
  const test: Case = (title, run) => {
    void t.test(`${name}: ${title}`, async (t) => {
      const { driver, teardown } = await make();
      t.teardown(teardown);
      await run(t, driver, await makeTasks(t));
    });
  };
  running(test);
  chaining(test);
  failing(test);
  aborting(test);
  closing(test);
};

const running = (test: Case): void => {
  test('it runs a kind and describes what came of it', async (t, pool, tasks) => {
    const task = await tasks.short();
    const [output, ...more] = madeBy(await pool.run(task, never));
    const bytes = await readFile(output?.path ?? '');
    t.same(more, []);
    t.ok(output?.path.startsWith(task.directory));
    t.match(output, { mimeType: 'image/jpeg', fileName: 'photo.jpg', meta: { width: 30, height: 20 } });
    t.equal(output?.size, bytes.length);
    t.equal(output?.sha256, createHash('sha256').update(bytes).digest('hex'));
  });

  test('it hands everything on to the kind', async (t, pool, tasks) => {
    const [file] = (await tasks.short()).files;
    const files = [file, file].flatMap((one) => one ?? []);
    const task = await tasks.short({ files, options: { height: 10 }, intermediate: true });
    const outputs = madeBy(await pool.run(task, never));
    t.same(
      outputs.map(({ mimeType, meta }) => [mimeType, meta['width']]),
      [
        ['image/jpeg', 15],
        ['image/jpeg', 15],
      ],
    );
    t.notMatch(await readFile(outputs[0]?.path ?? '', 'latin1'), 'JFIF', 'an intermediate is not encoded');
  });

  test('it runs more tasks than it has room for', async (t, pool, tasks) => {
    const widths = Array.from({ length: pool.size * 2 + 1 }, (_, index) => 10 + index);
    const all = widths.map(async (width) => madeBy(await pool.run(await tasks.short({ options: { width } }), never)));
    t.same(
      (await Promise.all(all)).map(([output]) => output?.meta['width']),
      widths,
    );
  });
};

const chaining = (test: Case): void => {
  test('a chain hands its files on, tells each step, and leaves only its last files', async (t, pool, tasks) => {
    const chain = [
      { nodeId: 'small', kind: 'resize', options: { width: 60 }, intermediate: true },
      { nodeId: 'smaller', kind: 'resize', options: { width: 30 }, intermediate: true },
      { nodeId: 'web', kind: 'optimize', options: { format: 'webp' }, intermediate: false },
    ];
    const task = { ...(await tasks.short()), chains: [chain, chain.slice(0, 1)] };
    const told: string[] = [];
    const outputs = await pool.run(task, never, (notice) => told.push(`${notice.type} ${notice.nodeId}`));
    t.match(outputs, [[{ mimeType: 'image/webp', meta: { width: 30 } }], [{ meta: { width: 60 } }]]);
    t.same(told, [
      ...chain.flatMap(({ nodeId }) => [`started ${nodeId}`, `completed ${nodeId}`]),
      'started small',
      'completed small',
    ]);
    const left = (await readdir(task.directory, { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    );
    t.equal(left.length, 2);
  });

  test('a node over several files tells how far it has come', async (t, pool, tasks) => {
    const [file] = (await tasks.short()).files;
    const files = Array.from({ length: 4 }, () => file).flatMap((one) => one ?? []);
    const told: number[] = [];
    const task = await tasks.short({ files, kind: 'optimize', options: { format: 'webp', effort: 6 } });
    await pool.run(task, never, (notice) => void (notice.type === 'progress' && told.push(notice.progress)));
    t.same(told, [0.25, 0.5, 0.75]);
  });

  test('an error in a chain names its step', async (t, pool, tasks) => {
    const chain = [
      { nodeId: 'small', kind: 'resize', options: { width: 60 }, intermediate: true },
      { nodeId: 'large', kind: 'resize', options: { width: 90, withoutEnlargement: false }, intermediate: false },
    ];
    const task = { ...(await tasks.short({ limits: { ...limits, maxSide: 80 } })), chains: [chain] };
    await t.rejects(pool.run(task, never), { code: 'FILE_TOO_LARGE', details: { nodeId: 'large', limit: 'side' } });
  });
};

const failing = (test: Case): void => {
  test('an error of the kind arrives whole', async (t, pool, tasks) => {
    const task = await tasks.short({ limits: { ...limits, maxPixels: 100 } });
    const error = await pool.run(task, never).catch((error: unknown) => error);
    t.ok(error instanceof ServiceError);
    t.match(error, {
      code: 'FILE_TOO_LARGE',
      status: 413,
      message: /limit is 100/,
      details: { limit: 'pixels', max: 100, actual: 6_000_000, nodeId: 'node' },
    });
    await t.resolves(pool.run(await tasks.short(), never), 'the next task runs');
  });

  test('a kind that does not run is an error', async (t, pool, tasks) => {
    for (const kind of ['file-input', 'no-such-kind', 'toString']) {
      await t.rejects(pool.run(await tasks.short({ kind }), never), { code: 'INTERNAL_ERROR' });
    }
  });
};

const aborting = (test: Case): void => {
  const reason = new Error('not needed any more');

  test('a task that is aborted beforehand never runs', async (t, pool, tasks) => {
    const task = await tasks.short();
    t.equal(await pool.run(task, AbortSignal.abort(reason)).catch((error: unknown) => error), reason);
    t.same(await readdir(task.directory), []);
  });

  test('a task that is aborted while it waits never runs', async (t, pool, tasks) => {
    const [busy, waiting] = [new AbortController(), new AbortController()];
    const long = Array.from({ length: pool.size }, async () => pool.run(await tasks.long(), busy.signal));
    const stopped = Promise.allSettled(long);
    await quiet();
    const task = await tasks.short();
    const run = pool.run(task, waiting.signal).catch((error: unknown) => error);
    await quiet();
    waiting.abort(reason);
    t.equal(await run, reason);
    busy.abort();
    await stopped;
    await pool.run(await tasks.short(), never);
    t.same(await readdir(task.directory), []);
  });

  test('a task that is aborted while it runs is over when the caller hears of it', async (t, pool, tasks) => {
    const controller = new AbortController();
    const task = await tasks.long();
    const run = pool.run(task, controller.signal).catch((error: unknown) => error);
    // Time to start, decode, and be deep in the encoder.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    controller.abort(reason);
    t.equal(await run, reason);
    await rm(task.directory, { recursive: true });
    await quiet();
    await t.rejects(readdir(task.directory), { code: 'ENOENT' }, 'nothing is written any more');
    await t.resolves(pool.run(await tasks.short(), never), 'the next task runs');
  });

  test('aborting after the end changes nothing', async (t, pool, tasks) => {
    const controller = new AbortController();
    await pool.run(await tasks.short(), controller.signal);
    controller.abort(reason);
    await t.resolves(pool.run(await tasks.short(), never));
  });
};

const closing = (test: Case): void => {
  test('closing ends what runs and what waits', async (t, pool, tasks) => {
    const all = Array.from({ length: pool.size + 1 }, async () => pool.run(await tasks.long(), never));
    const settled = Promise.allSettled(all);
    await quiet();
    await pool.close();
    for (const { status } of await settled) t.equal(status, 'rejected');
    await t.rejects(pool.run(await tasks.short(), never), ServiceError);
    await t.resolves(pool.close(), 'once more is no error');
  });
};
