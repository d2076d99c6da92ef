import { test } from 'tap';
import { isTerminal } from '../../src/domain/event.ts';

test('terminal events are those that nothing follows', async (t) => {
  for (const type of ['upload_complete', 'upload_error', 'flow_complete', 'flow_error', 'flow_cancelled']) {
    t.ok(isTerminal(type), type);
  }
  for (const type of ['upload_started', 'flow_started', 'flow_paused', 'node_completed', 'node_failed', '']) {
    t.notOk(isTerminal(type), type);
  }
});
