import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { driftDetector } from './drift.ts';

const near = (at: number): ScriptedCall => ({
  tool: 'read',
  args: { path: `billing/invoice_${at}.ts` },
  result: `${at}`,
});
const far = (at: number): ScriptedCall => ({ tool: 'read', args: { path: `weather/rain_${at}.ts` }, result: `${at}` });
const TASK = 'Fix the billing rounding';

test('twenty calls off the subject after work on it are flagged, but not as stuck', () => {
  const calls = [...times(5, near), ...times(20, far)];
  expect(firstFlag(driftDetector(), calls, TASK)).toBe(24);
  expect(firstFlag(driftDetector(), calls.slice(0, -1), TASK)).toBeNull();
  const { analysis } = scriptedRun(calls, { detectors: [driftDetector()], task: TASK });
  expect(analysis.patterns()).toMatchObject([{ kind: 'drift', stuck: false }]);
});

test('one call about the subject resets the count', () => {
  const calls = [...times(5, near), ...times(15, far), near(9), ...times(15, far)];
  expect(firstFlag(driftDetector(), calls, TASK)).toBeNull();
});

test('a run without a task, or whose calls never shared its words, is not flagged', () => {
  expect(firstFlag(driftDetector(), [...times(5, near), ...times(40, far)])).toBeNull();
  expect(firstFlag(driftDetector(), times(60, far), TASK)).toBeNull();
});

test('once the user has written again, calls off the first text are no drift', () => {
  const again = { ...far(6), userBefore: true };
  const calls = [{ ...near(0), userBefore: true }, ...times(5, near), again, ...times(20, far)];
  expect(firstFlag(driftDetector(), calls, TASK)).toBeNull();
});
