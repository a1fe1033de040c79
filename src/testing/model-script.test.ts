import { expect, test } from 'vitest';

import { AFTER_SCRIPT, scriptedAnswer, completeTurn, mapModelCalls, type ModelScript } from './model-script.ts';

const SCRIPT: ModelScript = {
  turns: [{ calls: [{ name: 'look', args: {} }] }, { error: { status: 500 } }, { text: 'done' }],
};

test('a turn gets ids from its place, a reason to end that fits, and usage', () => {
  expect(completeTurn({ calls: [{ name: 'look', args: 1 }] }, 4)).toEqual({
    text: undefined,
    calls: [{ id: 'call_5_1', name: 'look', args: 1 }],
    items: [],
    finish: 'tool-calls',
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0 },
    fromTheFuture: false,
  });
  expect(completeTurn({ text: 'x' }, 0).finish).toBe('stop');
  expect(completeTurn({ text: 'x', finish: 'length' }, 0).finish).toBe('length');
});

test('changing the calls of a script leaves everything else, faults and its end included', () => {
  const mapped = mapModelCalls(SCRIPT, (call) => ({ ...call, name: `x_${call.name}` }));
  expect(scriptedAnswer(mapped, {}, 0)).toEqual({ calls: [{ name: 'x_look', args: {} }] });
  expect([1, 2, 3].map((index) => scriptedAnswer(mapped, {}, index))).toEqual([...SCRIPT.turns.slice(1), AFTER_SCRIPT]);
});
