/**
 * The shape of a flow file. The loader checks the shape of every format and then each node's options by its kind's own
 * schema, which gives a message for the kind that the node names; editors get both in one JSON Schema.
 */
import { type TObject, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { ParamsSchema } from '../../domain/params.ts';
import type { NodeDescription, NodeKinds } from '../../ports/node.ts';

const strict = { additionalProperties: false };

/** The longest delay that a timer of Node takes, in milliseconds: about 24 days. */
const maxTimeout = 2 ** 31 - 1;

const timeout = Type.Integer({ minimum: 1, maximum: maxTimeout, description: 'Milliseconds' });
const retries = Type.Integer({ minimum: 0, maximum: 20, description: 'Tries after the first, for retryable errors' });

/** Each place is renewed every few seconds in one record of the flow, so their number is bounded. */
const concurrency = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'Jobs of the flow that run at once, over all replicas; default: no limit',
});

/** As a key of a plain object `__proto__` would be lost. */
const nodeKey = Type.String({ pattern: '^(?!__proto__$)[A-Za-z0-9_-]{1,64}$' });

const nodeSettings = {
  keepOutput: Type.Optional(
    Type.Boolean({ description: 'Keep the files of this node among the final outputs although other nodes use them' }),
  ),
  retries: Type.Optional(retries),
  timeout: Type.Optional(timeout),
  onError: Type.Optional(
    Type.Enum(['fail', 'skip'], {
      default: 'fail',
      description:
        'When the node fails after its retries: fail the job, or go on as if it were skipped, with a warning',
    }),
  ),
};

const inputLimits = Type.Object(
  {
    allowedMimeTypes: Type.Optional(
      Type.Array(Type.String({ pattern: '^(\\*|[\\w.+-]+)/(\\*|[\\w.+-]+)$' }), {
        minItems: 1,
        description: 'Globs such as image/*',
      }),
    ),
    maxFileSize: Type.Optional(Type.Integer({ minimum: 1, description: 'Bytes' })),
  },
  { ...strict, description: 'Limits for every file that enters the flow' },
);

/** What is inside is checked, and explained, by `check-params`. */
const params = Type.Unsafe<ParamsSchema>(
  Type.Object(
    {},
    {
      description: 'JSON Schema of the start parameters, an object with properties; templates name them: params.width',
    },
  ),
);

const edge = Type.Object(
  {
    source: Type.String({ description: 'The key of the node that delivers' }),
    target: Type.String({ description: 'The key of the node that takes' }),
    sourceHandle: Type.Optional(
      Type.String({ description: 'The way out of a source that has several: true and false of a conditional' }),
    ),
    targetHandle: Type.Optional(
      Type.String({
        description: 'The way into a target that has several: overlay of a watermark; default: the main one',
      }),
    ),
  },
  strict,
);

/** Sizes are bounded so that the walks over the graph are. */
const flowObject = <Node extends TSchema>(node: Node) =>
  Type.Object(
    {
      $schema: Type.Optional(Type.String({ description: 'For editors; not a part of the definition' })),
      flowId: Type.String({ pattern: '^[a-z0-9][a-z0-9-_]{0,63}$', description: 'How clients name the flow' }),
      name: Type.String({ minLength: 1, maxLength: 200, description: 'Shown to people' }),
      description: Type.Optional(Type.String({ maxLength: 2000 })),
      version: Type.Optional(Type.String({ maxLength: 200, description: 'A free label' })),
      input: Type.Optional(inputLimits),
      timeout: Type.Optional(timeout),
      retries: Type.Optional(retries),
      concurrency: Type.Optional(concurrency),
      params: Type.Optional(params),
      nodes: Type.Record(nodeKey, node, { ...strict, minProperties: 1, maxProperties: 500 }),
      edges: Type.Array(edge, { maxItems: 2000 }),
    },
    strict,
  );

/** A flow with nodes of any kind. */
export const flowShape = flowObject(
  Type.Object(
    { type: Type.String(), options: Type.Optional(Type.Record(Type.String(), Type.Unknown())), ...nodeSettings },
    strict,
  ),
);

/** The options of a kind; unknown ones are refused also where the kind forgot to say so. */
export const optionsSchema = (kind: NodeDescription): TObject => ({ ...kind.options, ...strict });

/** A template, as editors check it. */
const template = Type.String({ pattern: '\\{\\{[^{}]+\\}\\}', description: 'A template such as {{params.width}}' });

/** The schema of an option that takes a template in the place of its value, and of the values inside of it. */
const templated = (schema: TSchema): TSchema => {
  // Any text is taken anyway.
  if (Value.Check(schema, '{{file.name}}')) return schema;
  const { description, default: fallback, ...plain } = withTemplatesInside(schema);
  const said = Object.entries({ description, default: fallback }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(said), anyOf: [plain, template] };
};

const withTemplatesInside = (schema: TSchema): TSchema & { description?: unknown; default?: unknown } => {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  const inside = Object.entries(properties ?? {}).map(([name, part]) => [name, templated(part)]);
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(inside) }),
    ...(items === undefined ? {} : { items: templated(items) }),
  };
};

const nodeSchema = (kind: NodeDescription): TSchema => {
  const options =
    kind.plainOptions === true ? optionsSchema(kind) : (withTemplatesInside(optionsSchema(kind)) as TObject);
  const required = (options.required ?? []).length > 0;
  return Type.Object(
    { type: Type.Literal(kind.kind), options: required ? options : Type.Optional(options), ...nodeSettings },
    { ...strict, title: kind.name },
  );
};

/** The JSON Schema of flow files for editors: `JSON.stringify` of it is `flows/flow.schema.json`. */
export const flowFileSchema = (kinds: NodeKinds): TSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A flow of Sluice',
  ...flowObject(Type.Union(Object.values(kinds).map(nodeSchema))),
});
