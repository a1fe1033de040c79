import { expect, test } from 'vitest';

import { createCoxswain } from '../src/run/coxswain.ts';
import { standardSteering } from '../src/steering/standard-steering.ts';

/** Texts of guidance in a run of turns that each read as many things as given. */
function guidanceIn(readsPerTurn: readonly number[]): readonly string[] {
  const run = createCoxswain({ ...standardSteering(), detectors: [] }).startRun();
  const texts: string[] = [];
  let calls = 0;
  for (const reads of readsPerTurn) {
    run.emit({ type: 'turn_start' });
    const ids = Array.from({ length: reads }, () => `call-${(calls += 1)}`);
    for (const id of ids) {
      run.emit({ type: 'tool_execution_start', toolCallId: id, toolName: 'read_file', args: { path: `${id}.txt` } });
    }
    for (const id of ids) {
      run.emit({
        type: 'tool_execution_end',
        toolCallId: id,
        toolName: 'read_file',
        result: `of ${id}`,
        isError: false,
      });
    }
    for (const advice of run.advise('post_tool_result')) texts.push(advice.text);
  }
  return texts;
}

test('an agent that issues one call a turn is not told to issue them together: it may be unable to', () => {
  expect(guidanceIn([1, 1, 1, 1, 1, 1, 1, 1])).toEqual([]);
});

test('an agent that has issued calls together is reminded when it reads one by one', () => {
  expect(guidanceIn([2, 1, 1, 1])).toEqual([expect.stringContaining('executing tools in parallel')]);
});
