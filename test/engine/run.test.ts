import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import { deliver, engineRig, type Script } from '../support/engine-rig.ts';
import { gate, until as reached } from '../support/wait.ts';

const edge = (source: string, target: string) => ({ source, target });
const step = (name: string, settings = {}) => ({ type: 'step', options: { name }, ...settings });
const input = { type: 'file-input' };

const chain: FlowDefinition = {
  flowId: 'chain',
  name: 'Chain',
  nodes: { in: input, a: step('a'), b: step('b'), out: { type: 'output' } },
  edges: [edge('in', 'a'), edge('a', 'b'), edge('b', 'out')],
};

const name = (task: Parameters<Script>[0]) => String(task.options['name']);
const echo: Script = (task) => deliver(task, `from ${name(task)}`);
const run = async (rig: Awaited<ReturnType<typeof engineRig>>, flowId: string) => {
  const uploadId = await rig.upload('hello');
  const inputs = { in: { operation: 'upload' as const, uploadId } };
  return (await rig.engine.start({ flowId, storageId: 'default', clientId: undefined, inputs })).id;
};

t.test('a chain runs in order, tells each step, and keeps only its outputs', async (t) => {
  const rig = await engineRig(t, { flows: [chain], script: echo });
  const id = await run(rig, 'chain');
  const job = await rig.until(id, 'completed');
  t.strictSame(await rig.events(id), [
    'flow_started',
    'node_started in',
    'node_completed in',
    'node_started a',
    'node_completed a',
    'node_started b',
    'node_completed b',
    'node_started out',
    'node_completed out',
    'flow_complete',
  ]);
  t.strictSame(Object.keys(job.outputs ?? {}), ['out']);
  t.equal(job.outputs?.['out']?.size, 'from b'.length);
  t.strictSame(await rig.keys(`jobs/${id}/`), [job.outputs?.['out']?.key], 'the file of a is gone');
  t.equal((await rig.keys('uploads/')).length, 1, "the user's own upload stays");
  t.strictSame(await readdir(join(rig.directory, 'scratch', 'sluice-jobs')).catch(() => []), []);
});

t.test('the names of what goes into nodes and comes out of them are safe, whatever the client has sent', async (t) => {
  const given: string[] = [];
  const script: Script = async (task) => {
    given.push(...task.files.map(({ fileName }) => fileName));
    return (await deliver(task, 'x')).map((output) => ({ ...output, fileName: `../${'y'.repeat(300)}.webp` }));
  };
  const rig = await engineRig(t, {
    flows: [{ ...chain, nodes: { in: input, a: step('a') }, edges: [edge('in', 'a')] }],
    script,
  });
  const fileName = '../\u202eevil\0/na\u0308me\r\n.txt';
  const { id: uploadId } = await rig.uploads.create({ fileName, size: 0 });
  const inputs = { in: { operation: 'upload' as const, uploadId } };
  const { id } = await rig.engine.start({ flowId: 'chain', storageId: 'default', clientId: undefined, inputs });
  const job = await rig.until(id, 'completed');
  t.strictSame(given, ['_evil_näme.txt']);
  t.match(job.outputs?.['a']?.fileName, /^_y{249}\.webp$/);
  t.equal((await rig.uploads.get(uploadId, undefined)).fileName, fileName, 'the upload keeps its own');
});

t.test('keepOutput makes the file of an inner node a final output', async (t) => {
  const flow = { ...chain, nodes: { ...chain.nodes, a: step('a', { keepOutput: true }) } };
  const rig = await engineRig(t, { flows: [flow], script: echo });
  const job = await rig.until(await run(rig, 'chain'), 'completed');
  t.strictSame(Object.keys(job.outputs ?? {}), ['a', 'out']);
  t.equal((await rig.keys(`jobs/${job.id}/`)).length, 2);
});

t.test('independent branches run at the same time', async (t) => {
  const flow: FlowDefinition = {
    flowId: 'fork',
    name: 'Fork',
    nodes: { in: input, a: step('a'), b: step('b') },
    edges: [edge('in', 'a'), edge('in', 'b')],
  };
  const both = gate();
  let running = 0;
  const script: Script = async (task) => {
    if (++running === 2) both.open();
    await both.passed;
    return echo(task, new AbortController().signal);
  };
  const rig = await engineRig(t, { flows: [flow], script });
  const job = await rig.until(await run(rig, 'fork'), 'completed');
  t.strictSame(Object.keys(job.outputs ?? {}), ['a', 'b']);
});

t.test('a node that delivers nothing skips what comes after it', async (t) => {
  const rig = await engineRig(t, {
    flows: [chain],
    script: (task) => (name(task) === 'a' ? Promise.resolve([]) : echo(task, new AbortController().signal)),
  });
  const id = await run(rig, 'chain');
  const job = await rig.until(id, 'completed');
  t.strictSame(
    job.tasks.map((task) => task.status),
    ['completed', 'completed', 'skipped', 'skipped'],
  );
  t.strictSame([job.outputs, job.warnings], [{}, ['NO_OUTPUTS']]);
  t.match(await rig.events(id), [
    'flow_started',
    /in/,
    /in/,
    /a/,
    /a/,
    'node_skipped b',
    'node_skipped out',
    'flow_complete',
  ]);
});

t.test('a retryable error is tried again, and the job then completes without an error left', async (t) => {
  let tries = 0;
  const script: Script = async (task, signal) => {
    if (name(task) === 'a' && ++tries < 3) throw new ServiceError('NODE_CRASHED', 'it died');
    return echo(task, signal);
  };
  const rig = await engineRig(t, { flows: [chain], script });
  const id = await run(rig, 'chain');
  const job = await rig.until(id, 'completed');
  const task = job.tasks.find((one) => one.nodeId === 'a');
  t.strictSame([tries, task?.attempt, task?.error, task?.retryAt], [3, 3, undefined, undefined]);
  t.equal((await rig.events(id)).filter((event) => event === 'node_retrying a').length, 2);
});

t.test(
  'retries end: the job fails with the node and the code, and what it needs to be tried again stays',
  async (t) => {
    const script: Script = async (task, signal) => {
      if (name(task) === 'b') throw new ServiceError('STORAGE_ERROR', 'the disk is gone');
      return echo(task, signal);
    };
    const flow = { ...chain, retries: 1 };
    const rig = await engineRig(t, { flows: [flow], script });
    const id = await run(rig, 'chain');
    const job = await rig.until(id, 'failed');
    t.strictSame(job.error, { code: 'STORAGE_ERROR', message: 'the disk is gone', nodeId: 'b' });
    t.strictSame(
      job.tasks.map((task) => task.status),
      ['completed', 'completed', 'failed', 'cancelled'],
    );
    t.equal(job.tasks[2]?.attempt, 2);
    t.strictSame((await rig.events(id)).slice(-2), ['node_failed b', 'flow_error']);
    await reached(async () => (await rig.job(id)).leftovers === undefined);
    t.strictSame(await rig.keys(`jobs/${id}/`), [job.tasks[1]?.files?.[0]?.key], 'the file of a, which b reads');
    t.equal((await rig.keys('uploads/')).length, 1);
  },
);

t.test('an error that would only come again fails at once', async (t) => {
  let tries = 0;
  const script: Script = async () => {
    tries++;
    throw new ServiceError('INVALID_INPUT', 'truncated');
  };
  const rig = await engineRig(t, { flows: [chain], script });
  const job = await rig.until(await run(rig, 'chain'), 'failed');
  t.strictSame([tries, job.error?.code, job.error?.nodeId], [1, 'INVALID_INPUT', 'a']);
});

t.test('an error that nobody foresaw is INTERNAL_ERROR without its text, and is reported', async (t) => {
  const script: Script = async () => {
    throw new Error('secret path');
  };
  const flow = { ...chain, retries: 0 };
  const rig = await engineRig(t, { flows: [flow], script });
  const job = await rig.until(await run(rig, 'chain'), 'failed');
  t.equal(job.error?.code, 'INTERNAL_ERROR');
  t.notMatch(job.error?.message, /secret/);
  t.match(rig.errors, [/secret path/]);
});

const untilAborted: Script = (_task, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

t.test("the flow's time limit ends the node that runs and names it", async (t) => {
  const flow = { ...chain, timeout: 100 };
  const rig = await engineRig(t, { flows: [flow], script: untilAborted });
  const job = await rig.until(await run(rig, 'chain'), 'failed');
  t.strictSame([job.error?.code, job.error?.nodeId], ['TIMEOUT', 'a']);
  t.ok(job.runningMs >= 100);
});

t.test("a node's own time limit is worth one more try", async (t) => {
  let tries = 0;
  const script: Script = (task, signal) => {
    tries++;
    return untilAborted(task, signal);
  };
  const flow = { ...chain, nodes: { ...chain.nodes, a: step('a', { timeout: 50, retries: 5 }) } };
  const rig = await engineRig(t, { flows: [flow], script });
  const job = await rig.until(await run(rig, 'chain'), 'failed');
  t.strictSame([tries, job.error?.code, job.error?.nodeId], [2, 'TIMEOUT', 'a']);
});

t.test('the first failing branch stops the others', async (t) => {
  const flow: FlowDefinition = {
    flowId: 'fork',
    name: 'Fork',
    nodes: { in: input, bad: step('bad'), slow: step('slow') },
    edges: [edge('in', 'bad'), edge('in', 'slow')],
  };
  let aborted = false;
  const begun = gate();
  const script: Script = async (task, signal) => {
    if (name(task) === 'slow') {
      begun.open();
      return untilAborted(task, signal).finally(() => {
        aborted = true;
      });
    }
    await begun.passed;
    throw new ServiceError('INVALID_INPUT');
  };
  const rig = await engineRig(t, { flows: [flow], script });
  const job = await rig.until(await run(rig, 'fork'), 'failed');
  t.ok(aborted);
  t.strictSame(
    job.tasks.map((task) => task.status),
    ['completed', 'failed', 'cancelled'],
  );
});

t.test('a long wait for a retry gives the slot back and is kept', async (t) => {
  let tries = 0;
  const script: Script = async (task, signal) => {
    if (name(task) === 'a' && ++tries === 1) throw new ServiceError('NODE_CRASHED');
    return echo(task, signal);
  };
  const rig = await engineRig(t, { flows: [chain], script, retryDelay: 5500 });
  const id = await run(rig, 'chain');
  const job = await rig.until(id, 'completed');
  t.equal(tries, 2);
  t.equal(job.status, 'completed');
});

t.test('shutting down gives a running job back; the next process finishes it from its last node', async (t) => {
  const started = gate();
  const seen: string[] = [];
  const first = await engineRig(t, {
    flows: [chain],
    script: async (task, signal) => {
      seen.push(name(task));
      if (name(task) === 'a') return echo(task, signal);
      started.open();
      return untilAborted(task, signal);
    },
  });
  const id = await run(first, 'chain');
  await started.passed;
  await first.close();
  const second = await engineRig(t, {
    flows: [chain],
    directory: first.directory,
    script: (task, signal) => {
      seen.push(name(task));
      return echo(task, signal);
    },
  });
  const job = await second.until(id, 'completed');
  t.strictSame(seen, ['a', 'b', 'b'], 'a is not run again');
  t.equal(job.epoch, 2);
});
