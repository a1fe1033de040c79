import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';

/** Returns the number of the call after which the run first advised. */
function firstAdvice(run: Run, calls: number, before: (index: number) => void): number | undefined {
  for (let index = 0; index < calls; index += 1) {
    before(index);
    const call = { toolCallId: `c${index}`, toolName: 'bash' };
    run.emit({ type: 'tool_execution_start', ...call, args: { command: 'npm run deploy' } });
    run.emit({ type: 'tool_execution_end', ...call, result: 'Error: no such host', isError: true });
    if (run.feedback() !== undefined) return index + 1;
  }
  return undefined;
}

function message(run: Run, ids: readonly string[]): void {
  const content = ids.map((id) => ({ type: 'tool_call' as const, id, name: 'bash', args: {} }));
  run.emit({ type: 'message_end', message: { role: 'assistant', content } });
}

test('a host that starts one turn for all calls of a user message is advised as early as one that starts a turn for each', () => {
  const perCall = createCoxswain().startRun();
  const expected = firstAdvice(perCall, 20, () => perCall.emit({ type: 'turn_start' }));
  expect(expected).toBe(3);
  const perMessage = createCoxswain().startRun();
  perMessage.emit({ type: 'turn_start' });
  expect(firstAdvice(perMessage, 20, () => undefined)).toBe(expected);
});

test('a host that starts one turn and reports each message of the model is advised as early', () => {
  const run = createCoxswain().startRun();
  run.emit({ type: 'turn_start' });
  expect(firstAdvice(run, 20, (index) => message(run, [`c${index}`]))).toBe(3);
});

test('calls that one message of the model announced are of one turn, also if they run one after the other', () => {
  const run = createCoxswain().startRun();
  run.emit({ type: 'turn_start' });
  // Four would be a flood.
  message(run, ['c0', 'c1', 'c2']);
  expect(firstAdvice(run, 3, () => undefined)).toBeUndefined();
});
