/**
 * Templates in the options of nodes: `{{file.baseName}}`. A template names a value, nothing more: there are no
 * expressions (DESIGN 4).
 */
import type { JsonValue } from './upload.ts';

/** What templates may name, by namespace: `flow.id`, `job.id`, `node.id`, `params.*`, `file.*`, `meta.*`, `date.*`. */
export type TemplateValues = Readonly<Record<string, JsonValue>>;
