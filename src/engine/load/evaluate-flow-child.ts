/**
 * The program of the child process that evaluates one flow file and sends the plain definition over IPC (stdout is the
 * flow's own). `sluice` means this package here, also for flow directories far from any `node_modules`.
 */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { callSiteOf } from '../../domain/call-site.ts';
import type { Evaluated } from './evaluate-flow.ts';
import { callSitesOf, toPlain } from './plain-flow.ts';

// In `dist` it is JavaScript, as this file is.
const sluice = new URL(`../../index${import.meta.url.slice(-3)}`, import.meta.url).href;

const evaluate = async (file: string): Promise<Evaluated> => {
  const module: { default?: unknown } = await import(pathToFileURL(file).href);
  if (module.default === undefined) return { thrown: 'has no default export; write: export default defineFlow({...})' };
  return { ...toPlain(module.default), sites: callSitesOf(module.default, file) };
};

const describeThrown = (error: unknown): Evaluated => {
  if (!(error instanceof Error)) return { thrown: `threw ${String(error)}` };
  const stack = callSiteOf(error) ?? error.stack ?? '';
  // The frame of the import above tells nobody anything.
  const frames = stack.split('\n').filter((line) => !line.includes(import.meta.url));
  return { thrown: error.message, stack: frames.join('\n') };
};

/** Ends the process when the parent has it, whatever timers and sockets the flow has left. */
const send = (said: Evaluated, end: () => void) => process.send?.(said, end);

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'sluice' ? { url: sluice, shortCircuit: true } : nextResolve(specifier, context),
});

const [, , file = ''] = process.argv;
try {
  send(await evaluate(file), () => process.exit(0));
} catch (error) {
  send(describeThrown(error), () => {
    // Only an uncaught error of syntax tells its line, on stderr.
    if (error instanceof SyntaxError) throw error;
    process.exit(1);
  });
}
