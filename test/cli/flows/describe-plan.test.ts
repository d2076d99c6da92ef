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
      photo: { type: 'file-input' },
      small: { type: 'resize' },
      other: { type: 'file-input' },
    },
    edges: [
      { source: 'photo', target: 'small' },
      { source: 'small', target: 'web' },
      { source: 'other', target: 'web' },
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
  1.  photo  File Input       in the service  takes a.jpg, b.jpg
  2.  small  Resize           in a worker     after photo
  3.  other  File Input       in the service  waits for a file
  4.  web    Optimize         in a worker     after small, other  output
  5.  saved  Save to Storage  in the service  after web           output
`,
  );
});
