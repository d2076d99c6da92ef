import { test } from 'tap';
import { describePlan } from '../../../src/cli/flows/describe-plan.ts';
import { kinds } from '../../../src/nodes/index.ts';

test('nodes stand after all that they take from, with where they run and what the flow keeps', async (t) => {
  const flow = {
    flowId: 'x',
    name: 'An X',
    nodes: {
      saved: { type: 'output' },
      web: { type: 'optimize', keepOutput: true },
      both: { type: 'merge' },
      photo: { type: 'file-input' },
      big: { type: 'conditional' },
      small: { type: 'resize', retries: 0 },
      other: { type: 'file-input' },
    },
    edges: [
      { source: 'photo', target: 'big' },
      { source: 'big', sourceHandle: 'true', target: 'small' },
      { source: 'small', target: 'both' },
      { source: 'other', target: 'both' },
      { source: 'both', target: 'web' },
      { source: 'web', target: 'saved' },
    ],
  };
  const inputs = new Map([
    ['photo', ['a.jpg', 'b.jpg']],
    ['other', []],
  ]);
  t.equal(
    describePlan(flow, kinds, inputs),
    `An X (x)
  1.  photo  File Input       in the service          takes a.jpg, b.jpg
  2.  big    Conditional      in a worker if need be  after photo
  3.  small  Resize           in a worker             after big (true)
  4.  other  File Input       in the service          waits for a file
  5.  both   Merge            in a worker if need be  after small, other
  6.  web    Optimize         in a worker             after both          output
  7.  saved  Save to Storage  in the service          after web           output
`,
  );
  const nodes = { ...flow.nodes, other: { type: 'file-input', options: { required: false } } };
  t.match(describePlan({ ...flow, nodes }, kinds, inputs), / other .* takes no file$/m);
});

test('nodes that run as one stand together', async (t) => {
  const flow = {
    flowId: 'two',
    name: 'Two',
    nodes: {
      photo: { type: 'file-input' },
      small: { type: 'resize' },
      large: { type: 'resize' },
      'small-web': { type: 'optimize' },
      'large-web': { type: 'optimize' },
    },
    edges: [
      { source: 'photo', target: 'small' },
      { source: 'photo', target: 'large' },
      { source: 'small', target: 'small-web' },
      { source: 'large', target: 'large-web' },
    ],
  };
  t.equal(
    describePlan(flow, kinds, new Map([['photo', ['a.jpg']]])),
    `Two (two)
  1.  photo      File Input  in the service      takes a.jpg
  2.  small      Resize      in a worker         after photo
      small-web  Optimize    in the same worker  after small  output
      large      Resize      in the same worker  after photo
      large-web  Optimize    in the same worker  after large  output
`,
  );
});

test('a flow of many ways between few nodes is no more work', async (t) => {
  const ids = Array.from({ length: 60 }, (_, index) => `n${index}`);
  const nodes = Object.fromEntries(ids.map((id, index) => [id, { type: index === 0 ? 'file-input' : 'merge' }]));
  const edges = ids.flatMap((target, at) => ids.slice(Math.max(0, at - 3), at).map((source) => ({ source, target })));
  const lines = describePlan(
    { flowId: 'x', name: 'X', nodes, edges: edges.toReversed() },
    kinds,
    new Map([['n0', []]]),
  );
  t.equal(lines.trim().split('\n').length, 61);
});
