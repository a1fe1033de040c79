import { expect, test } from 'vitest';
import { scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { driftDetector } from './drift.ts';

const near = (at: number): ScriptedCall => ({
  tool: 'read',
  args: { path: `billing/invoice_${at}.ts` },
  result: `${at}`,
});
const far = (at: number): ScriptedCall => ({ tool: 'read', args: { path: `weather/rain_${at}.ts` }, result: `${at}` });
const TASK = 'Fix the billing rounding';

function found(calls: readonly ScriptedCall[], task?: string): readonly object[] {
  const { analysis } = scriptedRun(calls, { detectors: [driftDetector()], ...(task === undefined ? {} : { task }) });
  return analysis.patterns();
}

test('twenty calls off the subject after work on it are a hint, which reports do not show', () => {
  const calls = [...times(5, near), ...times(20, far)];
  expect(found(calls, TASK)).toMatchObject([{ kind: 'drift', stuck: false, level: 'hint', flaggedAt: null }]);
  expect(found(calls.slice(0, -1), TASK)).toEqual([]);
});

test('calls on the agent’s own task list and looks at a background task do not count', () => {
  const list = (at: number): ScriptedCall => ({
    tool: ['TaskCreate', 'TaskUpdate', 'TaskList', 'TodoWrite'][at % 4] ?? '',
    args: { taskId: `${at}`, subject: `weather ${at}`, todos: [] },
    result: `${at}`,
  });
  expect(found([...times(5, near), ...times(60, list), ...times(19, far)], TASK)).toEqual([]);
});

test('one call about the subject resets the count', () => {
  const calls = [...times(5, near), ...times(15, far), near(9), ...times(15, far)];
  expect(found(calls, TASK)).toEqual([]);
});

test('a run without a task, or whose calls never shared its words, is not flagged', () => {
  expect(found([...times(5, near), ...times(40, far)])).toEqual([]);
  expect(found(times(60, far), TASK)).toEqual([]);
});

test('once the user has written again, calls off the first text are no drift', () => {
  const again = { ...far(6), userBefore: true };
  const calls = [{ ...near(0), userBefore: true }, ...times(5, near), again, ...times(20, far)];
  expect(found(calls, TASK)).toEqual([]);
});
