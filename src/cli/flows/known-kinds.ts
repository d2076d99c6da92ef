/** The kinds that the service would know: the built-in ones, and those of the modules in PLUGINS. */
import { loadPlugins } from '../../config/load.ts';
import { kinds } from '../../nodes/index.ts';
import { loadKinds, PluginError } from '../../nodes/plugins/load-kinds.ts';
import type { NodeKinds } from '../../ports/node.ts';
import { CommandError } from '../command.ts';

export const knownKinds = (): Promise<NodeKinds> =>
  loadKinds(kinds, loadPlugins()).catch((error: unknown) => {
    throw error instanceof PluginError ? new CommandError(error.message) : error;
  });
