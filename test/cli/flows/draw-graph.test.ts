import { test } from 'tap';
import { drawGraph } from '../../../src/cli/flows/draw-graph.ts';
import { kinds } from '../../../src/nodes/index.ts';

test('inputs, outputs and what is between them have their own shapes', async (t) => {
  const nodes = {
    photo: { type: 'file-input' },
    kept: { type: 'resize', keepOutput: true },
    between: { type: 'resize' },
    last: { type: 'optimize' },
    saved: { type: 'output' },
  };
  const edges = [
    { source: 'photo', target: 'kept' },
    { source: 'kept', target: 'between' },
    { source: 'between', target: 'last' },
    { source: 'between', target: 'saved' },
  ];
  t.equal(
    drawGraph({ flowId: 'x', name: 'X', nodes, edges }, kinds),
    `flowchart LR
  n.photo(["photo<br/>File Input"])
  n.kept[["kept<br/>Resize"]]
  n.between["between<br/>Resize"]
  n.last[["last<br/>Optimize"]]
  n.saved[["saved<br/>Save to Storage"]]
  n.photo --> n.kept
  n.kept --> n.between
  n.between --> n.last
  n.between --> n.saved
`,
  );
});

test('edges are labelled with their handles', async (t) => {
  const nodes = { a: { type: 'file-input' }, b: { type: 'resize' } };
  const edges = [
    { source: 'a', target: 'b', sourceHandle: 'true' },
    { source: 'a', target: 'b', targetHandle: 'overlay' },
    { source: 'a', target: 'b', sourceHandle: 'false', targetHandle: 'base' },
  ];
  const drawn = drawGraph({ flowId: 'x', name: 'X', nodes, edges }, kinds).split('\n').slice(3, -1);
  t.same(drawn, ['  n.a -->|"true"| n.b', '  n.a -->|"overlay"| n.b', '  n.a -->|"false to base"| n.b']);
});

test('keys that are words of Mermaid, and signs that have a meaning there, are written around', async (t) => {
  const name = 'We"ird <b>`x`</b> #1; & ]|';
  const odd = {
    ...kinds,
    odd: { ...kinds.resize, kind: 'odd', role: 'process' as const, name, accepts: [], produces: () => [] },
  };
  const nodes = { end: { type: 'file-input' }, 'a--b': { type: 'odd' } };
  const edges = [{ source: 'end', target: 'a--b' }];
  t.equal(
    drawGraph({ flowId: 'x', name: 'X', nodes, edges }, odd),
    `flowchart LR
  n.end(["end<br/>File Input"])
  n.a..b[["a--b<br/>We#34;ird #60;b#62;#96;x#96;#60;/b#62; #35;1#59; #38; #93;#124;"]]
  n.end --> n.a..b
`,
  );
});
