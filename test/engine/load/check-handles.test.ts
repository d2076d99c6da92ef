import { test } from 'tap';
import { loadTexts, problemsOf } from './flow-folder.ts';

/** `big` chooses, `mark` takes an overlay; the edges begin in line 11. */
const flowOf = (...edges: readonly string[]) => `flowId: x
name: X
nodes:
  photo: { type: source }
  logo: { type: source }
  big: { type: choose }
  small: { type: scale, options: { width: 5 } }
  mark: { type: stamp }
# filler
edges:
${edges.map((edge) => `  - { ${edge} }`).join('\n')}`;

/** Edges that make the flow whole. */
const whole = [
  'source: photo, target: big',
  'source: big, target: small, sourceHandle: "true"',
  'source: big, target: mark, sourceHandle: "false"',
  'source: logo, target: mark, targetHandle: overlay',
];

const withEdge = (index: number, edge: string) => flowOf(...whole.toSpliced(index, 1, edge));

const refusals: readonly (readonly [title: string, yaml: string, problems: readonly string[]])[] = [
  [
    'an edge that does not say which way out it takes',
    withEdge(1, 'source: big, target: small'),
    ['flows/x.yaml:12:5 node "big": edge "big" -> "small": needs a sourceHandle: true, false'],
  ],
  [
    'a way out that the kind does not have',
    withEdge(1, 'source: big, target: small, sourceHandle: toString'),
    [
      'flows/x.yaml:12:35 node "big": edge "big" (toString) -> "small": there is no sourceHandle "toString"; known: true, false',
    ],
  ],
  [
    'a named way out of a kind that has one',
    withEdge(0, 'source: photo, target: big, sourceHandle: "true"'),
    ['flows/x.yaml:11:35 node "photo": edge "photo" (true) -> "big": source has one way out, so no sourceHandle'],
  ],
  [
    'a handle that YAML reads as a boolean, and nothing else about that edge',
    withEdge(1, 'source: big, target: small, sourceHandle: true'),
    ['flows/x.yaml:12:35 edge 2: key "sourceHandle" must be string'],
  ],
  [
    'a named input that the kind does not have',
    withEdge(3, 'source: logo, target: mark, targetHandle: mask'),
    [
      'flows/x.yaml:14:35 node "mark": edge "logo" -> "mark" (mask): there is no targetHandle "mask"; known: overlay; leave it out for the main input',
    ],
  ],
  [
    'a named input of a kind that has none',
    withEdge(1, 'source: big, target: small, sourceHandle: "true", targetHandle: overlay'),
    [
      'flows/x.yaml:12:57 node "small": edge "big" (true) -> "small" (overlay): scale has one way in, so no targetHandle',
    ],
  ],
  [
    'a node whose main input has no edge',
    withEdge(2, 'source: photo, target: mark, targetHandle: overlay'),
    [
      'flows/x.yaml:8:3 node "mark": only named inputs have an edge; its main input (an edge without targetHandle) needs one too',
    ],
  ],
  [
    'the same edge by the same handles',
    flowOf(...whole, whole[3] ?? ''),
    ['flows/x.yaml:15:5 edge "logo" -> "mark" (overlay) is there twice'],
  ],
  [
    'a cycle through handles',
    flowOf(...whole, 'source: small, target: big'),
    ['flows/x.yaml:6:3 node "big": the edges make a cycle: big -> small -> big'],
  ],
  [
    'text by a named input that takes pictures',
    withEdge(3, 'source: text, target: mark, targetHandle: overlay')
      .replace('# filler', '  text: { type: read-text }')
      .concat('\n  - { source: logo, target: text }'),
    ['flows/x.yaml:14:5 node "mark": stamp takes image/*, but "text" delivers text/plain'],
  ],
];

for (const [title, yaml, problems] of refusals) {
  test(`refused: ${title}`, async (t) => t.same(await problemsOf(t, { 'x.yaml': yaml }), problems));
}

test('one node may take both ways out of another, and be led to by its main and its named input', async (t) => {
  const both = ['source: big, target: small, sourceHandle: "false"', 'source: photo, target: mark'];
  const overlay = 'source: photo, target: mark, targetHandle: overlay';
  const { x } = await loadTexts(t, { 'x.yaml': flowOf(...whole, ...both, overlay) });
  t.equal(x?.edges.length, 7);
  t.same(x?.edges[3], { source: 'logo', target: 'mark', targetHandle: 'overlay' });
});

test('what comes by a named input is not what a node delivers', async (t) => {
  const nodes = [
    'photo: { type: source }',
    'logo: { type: source }',
    'web: { type: encode, options: { format: webp } }',
  ];
  const edges = [
    'source: photo, target: web',
    'source: web, target: mark',
    'source: logo, target: mark, targetHandle: overlay',
    'source: mark, target: gif',
  ];
  const yaml = `flowId: x
name: X
nodes:
${nodes.map((node) => `  ${node}`).join('\n')}
  mark: { type: stamp }
  gif: { type: gif-only }
edges:
${edges.map((edge) => `  - { ${edge} }`).join('\n')}`;
  const { testKinds } = await import('./test-kinds.ts');
  const kinds = { ...testKinds, 'gif-only': { ...testKinds.stamp, kind: 'gif-only', accepts: ['image/gif'] } };
  await t.rejects(loadTexts(t, { 'x.yaml': yaml }, { kinds }), {
    message: /gif-only takes image\/gif, but "mark" delivers image\/webp$/,
  });
});

test('an overlay is said in one way: by an edge, a text or a picture', async (t) => {
  const { kinds } = await import('../../../src/nodes/index.ts');
  const load = (options: string, edge: string) => {
    const inputs = 'photo: { type: file-input }, logo: { type: file-input }';
    const nodes = `${inputs}, mark: { type: watermark, options: ${options} }, out: { type: output }`;
    const edges = `{ source: photo, target: mark }, { source: logo, target: ${edge} }`;
    const yaml = `flowId: x\nname: X\nnodes: { ${nodes} }\nedges: [${edges}]`;
    return loadTexts(t, { 'x.yaml': yaml }, { kinds });
  };
  const overlay = 'mark, targetHandle: overlay';
  const needed = 'node "mark": one of these is needed: text, image, an edge to "overlay"';
  for (const [options, edge, ways] of [
    ['{ image: assets/a.png }', overlay, '; it has image and an edge to "overlay"'],
    ['{ text: "{{file.name}}" }', overlay, '; it has text and an edge to "overlay"'],
    ['{ text: x, image: assets/a.png }', 'out', '; it has text and image'],
    ['{}', 'out', ''],
  ] as const) {
    const refused = await load(options, edge).then(
      () => '',
      ({ message }: Error) => message,
    );
    t.ok(refused.includes(`${needed}${ways}`), refused);
  }
});
