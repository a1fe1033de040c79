import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { cycleDetector } from './cycle.ts';

function round(period: number): (at: number) => ScriptedCall {
  return (at) => ({ tool: 'read', args: { path: `${at % period}` }, result: `text of ${at % period}` });
}

test.each([2, 3, 4, 5, 8])('three full rounds of %i calls are flagged, not one call earlier', (period) => {
  expect(firstFlag(cycleDetector(), times(3 * period, round(period)))).toBe(3 * period - 1);
  expect(firstFlag(cycleDetector(), times(3 * period - 1, round(period)))).toBeNull();
});

test('two alternating calls are a ping-pong, more calls are a cycle', () => {
  const kinds = (period: number): readonly string[] =>
    scriptedRun(times(20, round(period)), { detectors: [cycleDetector()] })
      .analysis.patterns()
      .map((one) => one.kind);
  expect(kinds(2)).toContain('ping_pong');
  expect(kinds(3)).toEqual(['cycle']);
});

test('the calls of a cycle may occur in any order', () => {
  const order = [0, 1, 2, 0, 2, 1, 1, 0, 2];
  expect(
    firstFlag(
      cycleDetector(),
      times(9, (at) => round(3)(order[at] ?? 0)),
    ),
  ).toBe(8);
});

test('legitimate runs that look similar are not flagged', () => {
  const progress = (at: number): ScriptedCall => ({ ...round(2)(at), result: `${at} of 20` });
  expect(firstFlag(cycleDetector(), times(20, progress))).toBeNull();
  const edits = times(20, (at) =>
    at % 3 === 0 ? { tool: 'write', args: { path: 'f', content: `${at}` }, result: 'ok' } : round(3)(at),
  );
  expect(firstFlag(cycleDetector(), edits)).toBeNull();
  expect(
    firstFlag(
      cycleDetector(),
      times(20, (at) => ({ ...round(2)(at), userBefore: at % 4 === 0 })),
    ),
  ).toBeNull();
  const poll = times(20, (at): ScriptedCall => ({ tool: 'get_status', args: { id: at % 2 }, result: 'running' }));
  expect(firstFlag(cycleDetector(), poll)).toBeNull();
  expect(firstFlag(cycleDetector(), times(20, round(1)))).toBeNull();
});

test('an action at another position on the screen is new, even if its result shows nothing', () => {
  const calls = Array.from({ length: 8 }, (_, at): readonly ScriptedCall[] => [
    { tool: 'move', args: { x: at, y: 1 }, result: 'ok' },
    { tool: 'grip', args: {}, result: '{"holding":true}' },
    { tool: 'weigh', args: {}, result: '{"grams":20}' },
  ]);
  expect(firstFlag(cycleDetector(), calls.flat())).toBeNull();
});

test('two calls that are issued together in each turn do not alternate', () => {
  const together = times(12, (at) => ({ ...round(2)(at), turn: Math.floor(at / 2) }));
  const { analysis } = scriptedRun(together, { detectors: [cycleDetector()] });
  expect(analysis.patterns().map((one) => one.kind)).toEqual(['cycle']);
});
