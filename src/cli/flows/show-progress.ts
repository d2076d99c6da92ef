/** How far a job is: one line that is drawn again and again on a terminal, else a line for each step. */
import type { FlowDefinition } from '../../domain/flow.ts';
import { type JobRecord, progressOf } from '../../domain/job.ts';
import type { Step } from '../../events/follow.ts';

/** What is written to: `process.stderr`. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  /** Tells what happens before there is a job. */
  say(what: string): void;
  update(job: JobRecord, steps: readonly Step[]): void;
  /** Takes the bar away. */
  end(): void;
}

const barWidth = 24;

export const showProgress = (stream: ProgressStream, flow: FlowDefinition): Progress =>
  stream.isTTY === true ? bar(stream, flow) : lines(stream);

const bar = (stream: ProgressStream, flow: FlowDefinition): Progress => {
  const draw = (share: number, what: string) => {
    const done = Math.floor(share * barWidth);
    const text = `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}] ${Math.floor(share * 100)} % ${what}`;
    // A line that wraps could not be drawn over. Some terminals do not say how wide they are.
    stream.write(`${clearLine}${text.slice(0, (stream.columns || 80) - 1)}`);
  };
  return {
    say: (what) => draw(0, `${flow.flowId}: ${what}`),
    update: (job) => draw(progressOf(job), `${flow.flowId}: ${running(job) || job.status}`),
    end: () => void stream.write(clearLine),
  };
};

/** To the first column, and empty to the last. */
const clearLine = '\r\u001B[K';

const running = (job: JobRecord): string =>
  job.tasks
    .filter(({ status }) => status === 'running' || status === 'retrying')
    .map(({ nodeId }) => nodeId)
    .join(', ');

const lines = (stream: ProgressStream): Progress => ({
  say: (what) => void stream.write(`${what}\n`),
  update(_job, steps) {
    for (const step of steps) {
      if ('nodeId' in step) stream.write(`${step.nodeId}: ${outcome(step)}\n`);
    }
  },
  end() {},
});

const outcome = (step: Step & { readonly nodeId: string }): string => {
  const what = step.type === 'node_retrying' ? 'will be tried again' : step.type.replace('node_', '');
  const error = 'error' in step ? step.error : undefined;
  return error === undefined ? what : `${what}: ${error.code}: ${error.message}`;
};
