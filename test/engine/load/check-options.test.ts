import { test } from 'tap';
import { Type } from 'typebox';
import { checkFlow } from '../../../src/engine/load/check-flow.ts';
import { templatedOptions } from '../../../src/engine/load/check-options.ts';
import { kinds } from '../../../src/nodes/index.ts';
import type { NodeKinds } from '../../../src/ports/node.ts';
import { loadTexts, problemsOf } from './flow-folder.ts';
import { testKinds } from './test-kinds.ts';

// Options without templates are tested where they are read, in check-flow.test.ts.

/** A flow whose node `small`, in line 9, scales with these options; `after` is what becomes of its files. */
const flowWith = (options: string, after = '', edges = '') => `flowId: x
name: X
params:
  type: object
  properties:
    width: { type: integer }
nodes:
  photo: { type: source }
  small: { type: scale, options: { ${options} } }
  ${after}
edges:
  - { source: photo, target: small }
  ${edges}`;

const accepted: readonly (readonly [title: string, yaml: string])[] = [
  ['a template in the place of a number', flowWith('width: "{{params.width}}"')],
  ['a template in text that must match a pattern', flowWith('width: 5, left: "{{params.width}}%"')],
  ['a template inside of an option', flowWith('width: 5, region: { top: "{{ meta.top }}" }')],
  ['templates where the check of the kind would need their values', flowWith('fit: "{{meta.fit}}"')],
  [
    'an encoder whose format a job chooses, before a kind that takes pictures',
    flowWith(
      'width: 5',
      'web: { type: encode, options: { format: "{{meta.format}}" } }',
      '- { source: small, target: web }',
    ),
  ],
];
for (const [title, yaml] of accepted) {
  test(`taken: ${title}`, async (t) => t.same(Object.keys(await loadTexts(t, { 'x.yaml': yaml })), ['x']));
}

const refusals: readonly (readonly [title: string, yaml: string, problems: readonly string[]])[] = [
  [
    'a template that names nothing',
    flowWith('width: "{{file.foo}}"'),
    [
      'flows/x.yaml:9:36 node "small": option "width" has the template {{file.foo}}: unknown name "file.foo"; known: file.name, file.baseName, file.extension, file.mimeType, file.size, file.hash',
    ],
  ],
  [
    'a parameter that the flow does not have, deep inside',
    flowWith('width: 5, region: { top: "{{params.top}}" }'),
    [
      'flows/x.yaml:9:56 node "small": option "region.top" has the template {{params.top}}: unknown parameter "top"; known: width',
    ],
  ],
  [
    'a template that is not closed',
    flowWith('width: "{{params.width"'),
    ['flows/x.yaml:9:36 node "small": option "width" has {{ without }}'],
  ],
  [
    'an unknown option with a template, and what is wrong beside one',
    flowWith('widht: "{{index}}", width: "{{params.width}}", fit: insde'),
    [
      'flows/x.yaml:9:36 node "small": unknown option "widht"; known: width, height, fit, left, region',
      'flows/x.yaml:9:83 node "small": option "fit" must be one of "inside", "cover"',
    ],
  ],
  [
    'a file where the flow begins',
    flowWith('width: 5').replace('source }', 'source, options: { allowedMimeTypes: ["{{file.mimeType}}"] } }'),
    [
      'flows/x.yaml:8:56 node "photo": option "allowedMimeTypes.0" has the template {{file.mimeType}}: there is no file yet where the flow begins',
    ],
  ],
  [
    'what a kind delivers whatever its template says',
    flowWith(
      'width: "{{params.width}}"',
      'text: { type: read-text }',
      '- { source: photo, target: text }\n  - { source: text, target: small }',
    ),
    ['flows/x.yaml:14:5 node "small": scale takes image/*, but "text" delivers text/plain'],
  ],
];
for (const [title, yaml, problems] of refusals) {
  test(`refused: ${title}`, async (t) => t.same(await problemsOf(t, { 'x.yaml': yaml }), problems));
}

test('a kind that relies on an option which only a job has does not stop the checks', async (t) => {
  const produces = (options: { format?: string }) => {
    if (options.format === undefined) throw new Error('no format');
    return [`image/${options.format}`];
  };
  const options = Type.Object({ format: Type.Optional(Type.String()) });
  const kinds = {
    ...testKinds,
    relying: { ...testKinds.encode, kind: 'relying', options, produces },
    'webp-only': { ...testKinds.stamp, kind: 'webp-only', accepts: ['image/webp'] },
  } as NodeKinds;
  const flow = (given: string) =>
    flowWith(
      'width: 5',
      `web: { type: relying, options: { ${given} } }\n  out: { type: webp-only }`,
      '- { source: small, target: web }\n  - { source: web, target: out }',
    );
  t.ok((await loadTexts(t, { 'x.yaml': flow('format: "{{meta.format}}"') }, { kinds }))['x']);
  await t.rejects(loadTexts(t, { 'x.yaml': flow('') }, { kinds }), { message: /no format/ });
  await t.rejects(loadTexts(t, { 'x.yaml': flow('format: avif') }, { kinds }), { message: /delivers image\/avif/ });
});

test('the options of uploads are needed before there is a job', async (t) => {
  const flow = (maxFileSize: unknown) => ({
    flowId: 'x',
    name: 'X',
    nodes: { photo: { type: 'file-input', options: { maxFileSize } } },
    edges: [],
  });
  t.throws(() => checkFlow(flow('{{params.size}}'), kinds), {
    message:
      'flow "x" node "photo": option "maxFileSize": file-input takes no templates: its options are needed before there is a job',
  });
  t.ok(checkFlow(flow(5), kinds));
});

test('wrong params are reported alone, not again with every template', async (t) => {
  const yaml = flowWith('width: "{{params.width}}"').replace('type: integer', 'type: int');
  t.same(await problemsOf(t, { 'x.yaml': yaml }), [
    'flows/x.yaml:6:14 params.properties.width: the type must be one of string, number, integer, boolean, array, object',
  ]);
});

test('options with templates anywhere inside are found by name', async (t) => {
  t.same(templatedOptions({ a: 'x', b: '{{index}}', c: [{ d: '{{index}}' }], e: 5 }), ['b', 'c']);
});
