/**
 * Templates in the options of nodes: `{{file.baseName}}-{{params.size}}`. A template names a value, nothing more: there
 * are no expressions, and what a value holds is never expanded again (DESIGN 4).
 */
import { ServiceError } from './errors.ts';
import { type ParamsSchema, paramAt } from './params.ts';
import type { JsonValue } from './upload.ts';

/** What templates may name, by namespace: `flow`, `job`, `node`, `params`, `file`, `meta`, `index`, `date`, `client`. */
export type TemplateValues = Readonly<Record<string, JsonValue>>;

/** A string that holds a template, as the compiler knows it. */
export type TemplateText = `${string}{{${string}}}${string}`;

/** Options as flow files may have them: a template in the place of any value. */
export type Templated<Value> = Value extends readonly (infer Item)[]
  ? readonly Templated<Item>[] | TemplateText
  : Value extends object
    ? { readonly [Key in keyof Value]: Templated<Value[Key]> } | TemplateText
    : Value | TemplateText;

/** The options themselves are no template. */
export type TemplatedOptions<Options> = { readonly [Key in keyof Options]: Templated<Options[Key]> };

export interface Template {
  /** `["file", "name"]` */
  readonly path: readonly string[];
  /** As it is written, with its braces. */
  readonly text: string;
}

/** What is wrong with a template, and where in the value it is. */
export interface TemplateProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What is known when a template is checked, before any job. */
export interface TemplateContext {
  readonly params?: ParamsSchema | undefined;
  /** Whether the node takes files: `file`, `meta` and `index` are of one of them. */
  readonly files: boolean;
}

/** Characters of one string with its templates expanded: a parameter in many places must not fill the memory. */
const maxLength = 65_536;

/** The names below a namespace; `any` where they depend on the job. */
const namespaces: Readonly<Record<string, readonly string[] | 'any' | 'itself'>> = {
  flow: ['id', 'name'],
  job: ['id'],
  node: ['id'],
  client: ['id'],
  params: 'any',
  file: ['name', 'baseName', 'extension', 'mimeType', 'size', 'hash'],
  meta: 'any',
  index: 'itself',
  date: ['yyyy', 'mm', 'dd'],
};

const fileNamespaces: readonly (string | undefined)[] = ['file', 'meta', 'index'];

type Part = string | Template | { readonly unclosed: true };

const open = '{{';
const close = '}}';

/** The text between templates, and the templates. One walk: `{{` goes to the next `}}`, whatever is between. */
const parse = (text: string): Part[] => {
  const parts: Part[] = [];
  let from = 0;
  for (let start = text.indexOf(open); start >= 0; start = text.indexOf(open, from)) {
    const end = text.indexOf(close, start + open.length);
    if (end < 0) return [...parts, { unclosed: true }];
    if (start > from) parts.push(text.slice(from, start));
    from = end + close.length;
    parts.push({
      path: text
        .slice(start + open.length, end)
        .trim()
        .split('.'),
      text: text.slice(start, from),
    });
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
};

const isTemplate = (part: Part): part is Template => typeof part === 'object' && 'path' in part;

interface PlacedText {
  readonly text: string;
  readonly path: TemplateProblem['path'];
}

/** The strings inside of a value, with their paths. Keys are not looked at: they are never expanded. */
const strings = (value: unknown, path: PlacedText['path'] = []): readonly PlacedText[] => {
  if (typeof value === 'string') return [{ text: value, path }];
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inside]) => strings(inside, [...path, isList ? Number(key) : key]));
};

/** Whether a template is anywhere inside of the value. */
export const hasTemplate = (value: unknown): boolean => strings(value).some(({ text }) => text.includes(open));

/** Whether a template inside of the value names a fact of a single file: then each file has options of its own. */
export const namesFile = (value: unknown): boolean =>
  strings(value).some(({ text }) => parse(text).some((part) => isTemplate(part) && isOfFile(part)));

/** Whether a template inside of the value names the hash of a file: then its bytes must be read first. */
export const namesHash = (value: unknown): boolean =>
  strings(value).some(({ text }) =>
    parse(text).some((part) => isTemplate(part) && part.path.join('.') === 'file.hash'),
  );

const isOfFile = ({ path }: Template): boolean => fileNamespaces.includes(path[0]);

/** What can be known to be wrong with the templates inside of a value before there is a job. */
export const checkTemplates = (value: unknown, context: TemplateContext): TemplateProblem[] =>
  strings(value).flatMap(({ text, path }) =>
    parse(text)
      .flatMap((part) => (typeof part === 'string' ? [] : (problemOf(part, path, context) ?? [])))
      .map((message) => ({ path, message })),
  );

const problemOf = (part: Exclude<Part, string>, at: TemplateProblem['path'], context: TemplateContext) => {
  if (!isTemplate(part)) return `has ${open} without ${close}`;
  // Whoever starts the job would choose among the secrets.
  if (at.at(-1) === 'secret') return `cannot name a secret by a template`;
  const message = pathProblem(part.path, context);
  return message === undefined ? undefined : `has the template ${shorten(part.text)}: ${message}`;
};

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}...` : text);

const pathProblem = (path: readonly string[], context: TemplateContext): string | undefined => {
  const [namespace = '', ...names] = path;
  if (!path.every((name) => /^[\w-]{1,64}$/.test(name))) return 'it must be a name such as file.name';
  const known = Object.hasOwn(namespaces, namespace) ? namespaces[namespace] : undefined;
  if (known === undefined) return `unknown name "${namespace}"; known: ${Object.keys(namespaces).join(', ')}`;
  if (fileNamespaces.includes(namespace) && !context.files) return 'there is no file yet where the flow begins';
  if (known === 'itself') return names.length === 0 ? undefined : `"${namespace}" has no parts`;
  if (names.length === 0) return `it names no part of "${namespace}"`;
  if (namespace === 'params') return paramProblem(context.params, names);
  if (known === 'any' || (names.length === 1 && known.includes(names[0] ?? ''))) return undefined;
  return `unknown name "${path.join('.')}"; known: ${known.map((name) => `${namespace}.${name}`).join(', ')}`;
};

/** What is wrong with the name of a start parameter, or nothing. */
export const paramProblem = (schema: ParamsSchema | undefined, names: readonly string[]): string | undefined => {
  if (schema === undefined) return 'the flow has no params';
  const param = paramAt(schema, names);
  if (param === undefined) {
    return `unknown parameter "${names.join('.')}"; known: ${Object.keys(schema.properties ?? {}).join(', ')}`;
  }
  return param !== 'any' && param.type === 'object' ? 'it is an object; name a part of it' : undefined;
};

/**
 * The value with its templates expanded. A string that is one template becomes the value itself, a number or a list
 * too. Throws `INVALID_PARAMS` for a template without a value; `option` is where it stands, for the message.
 */
export const expandTemplates = (value: unknown, values: TemplateValues, option: string): unknown => {
  if (typeof value === 'string') return expandText(value, values, option);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => expandTemplates(item, values, option));
  const entries = Object.entries(value).map(([key, inside]) => [key, expandTemplates(inside, values, option)]);
  return Object.fromEntries(entries);
};

const expandText = (text: string, values: TemplateValues, option: string): JsonValue => {
  const parts = parse(text);
  const [first, ...more] = parts;
  if (first === undefined) return text;
  if (more.length === 0) return typeof first === 'string' ? first : templateValue(first, values, option);
  let expanded = '';
  for (const part of parts) {
    expanded += typeof part === 'string' ? part : textOf(templateValue(part, values, option));
    if (expanded.length > maxLength) {
      throw invalid(option, `option "${option}" has more than ${maxLength} characters with its templates expanded`);
    }
  }
  return expanded;
};

const textOf = (value: JsonValue): string => (Array.isArray(value) ? value.map(String).join(', ') : String(value));

const templateValue = (part: Exclude<Part, string>, values: TemplateValues, option: string): JsonValue => {
  if (!isTemplate(part)) throw invalid(option, `option "${option}" has ${open} without ${close}`);
  const value = lookUp(part.path, values);
  const shown = shorten(part.text);
  if (value === undefined || value === null) {
    throw invalid(option, `option "${option}": ${shown} has no value`, part.text);
  }
  // Never objects: a parameter that is `{secret: ...}` would read a secret.
  if (!isPlain(value) && !(Array.isArray(value) && value.every(isPlain))) {
    throw invalid(option, `option "${option}": ${shown} is neither text, nor a number, nor a list of these`, part.text);
  }
  return value;
};

const isPlain = (value: JsonValue): boolean => typeof value !== 'object';

/** The value at a path. Only what the values have of their own: not what every object has. */
export const lookUp = (path: readonly string[], values: TemplateValues): JsonValue | undefined => {
  let inside: JsonValue | undefined = values;
  for (const name of path) {
    if (typeof inside !== 'object' || inside === null || !Object.hasOwn(inside, name)) return undefined;
    if (Array.isArray(inside) && !/^\d+$/.test(name)) return undefined;
    inside = (inside as { readonly [key: string]: JsonValue })[name];
  }
  return inside;
};

const invalid = (option: string, message: string, template?: string): ServiceError =>
  new ServiceError('INVALID_PARAMS', message, { details: { option, ...(template === undefined ? {} : { template }) } });
