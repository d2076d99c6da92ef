import { join } from 'node:path';
import { test } from 'tap';
import { displayPath, FlowLoadError, formatProblem, placeProblems } from '../../../src/engine/load/flow-problem.ts';

test('a problem is one line: file, line and column as far as known, node, message', async (t) => {
  const problem = { file: 'flows/x.yaml', message: 'no\n  good' };
  t.equal(formatProblem(problem), 'flows/x.yaml no good');
  t.equal(formatProblem({ ...problem, line: 2 }), 'flows/x.yaml:2 no good');
  t.equal(formatProblem({ ...problem, line: 2, column: 3, node: 'a' }), 'flows/x.yaml:2:3 node "a": no good');
});

test('the error has all problems, as text and as data', async (t) => {
  const problems = [
    { file: 'a.yaml', message: 'one' },
    { file: 'b.yaml', line: 1, message: 'two' },
  ];
  t.match(new FlowLoadError(problems), { name: 'FlowLoadError', message: 'a.yaml one\nb.yaml:1 two', problems });
});

test('problems come in the order of the file; a place of their own counts more than their path', async (t) => {
  const locate = (path: readonly (string | number)[]) => ({
    file: 'x',
    line: Number(path[0]),
    column: Number(path[1]),
  });
  const problems = [
    { path: [2, 9], message: 'c' },
    { path: [2, 1], message: 'b' },
    { path: [9, 9], message: 'a', place: { file: 'y', line: 1, column: 1 } },
  ];
  t.same(
    placeProblems(problems, locate).map(({ file, message }) => `${file} ${message}`),
    ['y a', 'x b', 'x c'],
  );
});

test('paths below the working directory are shown from there', async (t) => {
  t.equal(displayPath(join(process.cwd(), 'flows', 'x.yaml')), join('flows', 'x.yaml'));
  t.equal(displayPath('flows/x.yaml'), join('flows', 'x.yaml'));
  t.equal(displayPath('/elsewhere/x.yaml'), '/elsewhere/x.yaml');
});
