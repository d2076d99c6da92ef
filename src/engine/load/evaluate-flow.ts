/**
 * Evaluates a flow file that is code, in a child process of its own (`evaluate-flow-child.ts`): the server never
 * imports one, so that nothing of it stays in memory, and neither a loop without end nor an exit stops the server.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FlowSource } from './flow-document.ts';
import { displayPath, type Place } from './flow-problem.ts';
import { type CallSites, locateCallSites, type Plain, placeInStack, toFilePath } from './plain-flow.ts';

/** What the child says: the definition, or what was thrown. */
export type Evaluated = (Plain & { readonly sites: CallSites }) | { readonly thrown: string; readonly stack?: string };

/** How the child ended, when it said nothing. */
interface Ending {
  readonly message?: Evaluated | undefined;
  readonly stderr: string;
  readonly ending: string;
}

/** Milliseconds for start, imports and evaluation together. */
const defaultTimeLimit = 10_000;
/** MiB. A definition is small; what needs more is a mistake. */
const memoryLimit = 256;
/** Characters of stderr that are kept, for the place of a syntax error. */
const stderrLimit = 16_384;

// In `dist` both files are JavaScript.
const program = fileURLToPath(new URL(`./evaluate-flow-child${import.meta.url.slice(-3)}`, import.meta.url));

/** The definition that `file` exports by default, and the lines of its constructors, in a file called `shown`. */
export const evaluateFlow = async (file: string, shown: string, timeLimit = defaultTimeLimit): Promise<FlowSource> => {
  // Stacks have the path without links; people know the path that they mounted.
  const real = await realpath(file);
  const show = (place: Place): Place => (place.file === displayPath(real) ? { ...place, file: shown } : place);
  const { message, stderr, ending } = await runChild(real, timeLimit);
  if (message !== undefined && 'sites' in message) {
    const { sites, value, problem } = message;
    const locate = locateCallSites(sites, { file: shown });
    return { value, locate: (path) => show(locate(path)), problems: problem === undefined ? [] : [problem] };
  }
  const place = message === undefined ? undefined : thrownAt(message.stack ?? '', stderr, real);
  const problem = { path: [], message: message?.thrown ?? ending, place: show(place ?? { file: shown }) };
  return { locate: () => ({ file: shown }), problems: [problem] };
};

const runChild = (file: string, timeLimit: number): Promise<Ending> =>
  new Promise((resolve) => {
    const child = startChild(file);
    let message: Evaluated | undefined;
    let stderr = '';
    const finish = (ending: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      resolve({ message, stderr, ending });
    };
    const timer = setTimeout(() => finish(`was not evaluated within ${timeLimit / 1000} s`), timeLimit);
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr = (stderr + chunk).slice(-stderrLimit);
    });
    child.on('message', (said) => {
      message = said as Evaluated;
      // After an error the place of it may still come, on stderr.
      if ('sites' in message) finish('');
    });
    child.on('error', (error) => finish(`could not be evaluated: ${error.message}`));
    child.on('close', (code, signal) => finish(describeEnd(code, signal)));
  });

const startChild = (file: string): ChildProcess =>
  fork(program, [file], {
    // Nothing of the environment: a flow is the same everywhere, and the secrets of the server are not its business.
    env: {},
    execArgv: [`--max-old-space-size=${memoryLimit}`],
    // What the flow prints is not the server's log.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });

const describeEnd = (code: number | null, signal: string | null): string => {
  // Node's own exit code for a module whose top-level await never settles.
  if (code === 13) return 'waits at its top level for something that never comes';
  return `ended its process before it was evaluated (${signal ?? `exit code ${code}`})`;
};

/** Node shows `path:line`, the source and a caret above errors of syntax, whose stack has no frame in the file. */
const sourceExcerpt = /^((?:file:\/\/|\/).*):(\d+)\n[\s\S]*?^([ \t]*)\^/m;

const thrownAt = (stack: string, stderr: string, file: string): Place | undefined => {
  const frame = placeInStack(stack, file);
  const [, path, line, indent] = sourceExcerpt.exec(`${stack}\n${stderr}`) ?? [];
  if (frame?.file === displayPath(file) || path === undefined) return frame;
  return { file: displayPath(toFilePath(path)), line: Number(line), column: (indent ?? '').length + 1 };
};
