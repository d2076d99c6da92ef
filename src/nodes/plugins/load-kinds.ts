/**
 * Kinds of a deployment's own: modules that export what `defineNode` returns. The server process loads them for their
 * descriptions, each worker child for their `run`.
 */
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { NodeDescription, NodeKinds } from '../../ports/node.ts';

/** A plugin that cannot be used; the message names it. */
export class PluginError extends Error {
  constructor(plugin: string, problem: string, cause?: unknown) {
    super(`plugin "${plugin}": ${problem}`, cause === undefined ? {} : { cause });
    this.name = 'PluginError';
  }
}

/** The registry: the built-in kinds, and those of the plugins under their own names. Throws `PluginError`. */
export const loadKinds = async (builtIn: NodeKinds, plugins: readonly string[]): Promise<NodeKinds> => {
  if (plugins.length > 0) provideSluice();
  const kinds: Record<string, NodeDescription> = { ...builtIn };
  const owners = new Map<string, string>();
  for (const plugin of plugins) {
    for (const kind of await kindsOf(plugin)) {
      const owner = owners.get(kind.kind);
      const taken = owner === undefined ? 'is built in' : `is already in plugin "${owner}"`;
      if (Object.hasOwn(kinds, kind.kind)) throw new PluginError(plugin, `the kind "${kind.kind}" ${taken}`);
      kinds[kind.kind] = kind;
      owners.set(kind.kind, plugin);
    }
  }
  return kinds;
};

/** Where a plugin is: paths are below the working directory, all else is a package. Urls stay as they are. */
export const pluginUrl = (plugin: string): string =>
  /^(\.{0,2}\/)/.test(plugin) ? pathToFileURL(resolve(plugin)).href : plugin;

const kindsOf = async (plugin: string): Promise<readonly NodeDescription[]> => {
  const exported: object = await import(pluginUrl(plugin)).catch((error: unknown) => {
    throw new PluginError(plugin, `cannot be loaded: ${error instanceof Error ? error.message : error}`, error);
  });
  // What is exported under two names is one kind.
  const kinds = [...new Set(Object.values(exported))].filter(isKind);
  if (kinds.length === 0) throw new PluginError(plugin, 'exports no node kind; make one with defineNode');
  for (const kind of kinds) {
    const problem = kindProblem(kind);
    if (problem !== undefined) throw new PluginError(plugin, `the kind "${kind.kind}" ${problem}`);
  }
  return kinds;
};

/** What `defineNode` makes is a function that carries its description. */
const isKind = (value: unknown): value is NodeDescription =>
  typeof value === 'function' && 'kind' in value && typeof value.kind === 'string' && 'options' in value;

/** What the compiler would have told a plugin in TypeScript. */
const kindProblem = (kind: NodeDescription): string | undefined => {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(kind.kind)) return 'has a name that is not of small letters, digits and dashes';
  if (typeof kind.name !== 'string') return 'has no name to show';
  if (!['input', 'process', 'output'].includes(kind.role)) return 'has no role';
  if ((kind.options as { readonly type?: unknown } | undefined)?.type !== 'object') return 'has options of no object';
  if (!Array.isArray(kind.accepts)) return 'does not say what it accepts';
  if (typeof kind.produces !== 'function') return 'does not say what it produces';
  const works = typeof kind.run === 'function' || typeof kind.pass === 'function';
  return kind.role === 'process' && !works ? 'has neither run nor pass' : undefined;
};

let provided = false;

/** `sluice` means this package, wherever the plugin is. The child that evaluates flows does the same for them. */
const provideSluice = (): void => {
  if (provided) return;
  provided = true;
  // In `dist` it is JavaScript, as this file is.
  const sluice = new URL(`../../index${import.meta.url.slice(-3)}`, import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === 'sluice' ? { url: sluice, shortCircuit: true } : nextResolve(specifier, context),
  });
};
