import { test } from 'tap';
import { loadTexts, problemsOf } from './flow-folder.ts';

/** A flow with these nodes from line 4 on, and the edges, `a > b`, each on a line of its own after the line `edges`. */
const flowOf = (nodes: Readonly<Record<string, string>>, edges: readonly string[]) =>
  [
    'flowId: x',
    'name: X',
    'nodes:',
    ...Object.entries(nodes).map(([key, node]) => `  ${key}: { type: ${node} }`),
    edges.length === 0 ? 'edges: []' : 'edges:',
    ...edges.map((edge) => `  - { source: ${edge.split(' > ')[0]}, target: ${edge.split(' > ')[1]} }`),
  ].join('\n');

const scale = 'scale, options: { width: 5 }';
const chain = { photo: 'source', small: scale };

const refusals: readonly (readonly [title: string, yaml: string, problems: readonly string[]])[] = [
  [
    'an edge from a node that is not there',
    flowOf(chain, ['photo > small', 'foto > small']),
    ['flows/x.yaml:8:7 edge "foto" -> "small": there is no node "foto" (source); known: photo, small'],
  ],
  [
    'an edge to a node that is not there, and nothing about the nodes behind it',
    flowOf(chain, ['photo > smal']),
    ['flows/x.yaml:7:22 edge "photo" -> "smal": there is no node "smal" (target); known: photo, small'],
  ],
  [
    'an edge to a property of all objects',
    flowOf(chain, ['photo > small', 'photo > toString']),
    ['flows/x.yaml:8:22 edge "photo" -> "toString": there is no node "toString" (target); known: photo, small'],
  ],
  [
    'an edge that is there twice',
    flowOf(chain, ['photo > small', 'photo > small']),
    ['flows/x.yaml:8:5 edge "photo" -> "small" is there twice'],
  ],
  [
    'an edge from a node to itself',
    flowOf(chain, ['photo > small', 'small > small']),
    ['flows/x.yaml:8:5 node "small": edge "small" -> "small" leads back to its own node'],
  ],
  [
    'a cycle, with its nodes in order',
    flowOf({ ...chain, big: scale, last: scale }, ['photo > small', 'small > big', 'big > last', 'last > small']),
    ['flows/x.yaml:5:3 node "small": the edges make a cycle: small -> big -> last -> small'],
  ],
  [
    'an edge to an input',
    flowOf({ ...chain, other: 'source' }, ['photo > small', 'small > other']),
    ['flows/x.yaml:9:5 node "other": is an input and cannot take what "small" delivers'],
  ],
  ['no input', flowOf({ small: scale }, []), ['flows/x.yaml:3:1 the flow has no input node']],
  [
    'a node that nothing leads to, and the one behind it',
    flowOf({ ...chain, lost: scale, behind: scale }, ['photo > small', 'lost > behind']),
    [
      'flows/x.yaml:6:3 node "lost": no edge leads to it, and it is not an input',
      'flows/x.yaml:7:3 node "behind": it cannot be reached from an input',
    ],
  ],
  [
    'text into an image kind',
    flowOf({ ...chain, text: 'read-text' }, ['photo > text', 'text > small']),
    ['flows/x.yaml:9:5 node "small": scale takes image/*, but "text" delivers text/plain'],
  ],
  [
    'text into an image kind behind a kind that hands on what it gets',
    flowOf({ ...chain, text: 'read-text', kept: 'result' }, ['photo > text', 'text > kept', 'kept > small']),
    ['flows/x.yaml:11:5 node "small": scale takes image/*, but "kept" delivers text/plain'],
  ],
  [
    'an input that lets only documents in before an image kind',
    flowOf({ photo: 'source, options: { allowedMimeTypes: [application/pdf] }', small: scale }, ['photo > small']),
    ['flows/x.yaml:7:5 node "small": scale takes image/*, but "photo" delivers application/pdf'],
  ],
  [
    'limits of the flow that let only documents in before an image kind',
    `${flowOf(chain, ['photo > small'])}\ninput: { allowedMimeTypes: [application/*] }`,
    ['flows/x.yaml:7:5 node "small": scale takes image/*, but "photo" delivers application/*'],
  ],
];

for (const [title, yaml, problems] of refusals) {
  test(`refused: ${title}`, async (t) => t.same(await problemsOf(t, { 'x.yaml': yaml }), problems));
}

test('a wrong option hides nothing of the graph, and media types are not guessed from it', async (t) => {
  const nodes = { photo: 'source', small: 'encode, options: { format: bmp }', big: scale, lost: scale };
  t.same(await problemsOf(t, { 'x.yaml': flowOf(nodes, ['photo > small', 'small > big']) }), [
    'flows/x.yaml:5:37 node "small": option "format" must be one of "webp", "avif"',
    'flows/x.yaml:7:3 node "lost": no edge leads to it, and it is not an input',
  ]);
});

test('one matching type is enough for an edge', async (t) => {
  const nodes = { photo: 'source', text: 'read-text', both: 'result', small: scale, page: 'read-text' };
  const edges = ['photo > text', 'photo > both', 'text > both', 'both > small', 'small > page'];
  const flows = await loadTexts(t, { 'x.yaml': flowOf(nodes, edges) });
  t.equal(flows['x']?.edges.length, 5);
});

test('an input alone is a flow', async (t) => {
  const flows = await loadTexts(t, { 'x.yaml': 'flowId: x\nname: X\nnodes: { photo: { type: source } }\nedges: []' });
  t.same(Object.keys(flows), ['x']);
});
