import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../test/support/scripted-run.ts';
import { toolAvoidanceDetector } from './tool-avoidance.ts';

const grep = (at: number): ScriptedCall => ({
  tool: 'Bash',
  args: { command: `grep -rn name${at} src` },
  result: `${at}`,
});
const USED: ScriptedCall = { tool: 'Grep', args: { pattern: 'x' }, result: 'y' };

test('ten consecutive substitutes for a tool that the run has are flagged', () => {
  expect(firstFlag(toolAvoidanceDetector(), [USED, ...times(10, grep)])).toBe(10);
  expect(firstFlag(toolAvoidanceDetector(), [USED, ...times(9, grep)])).toBeNull();
});

test('a tool that the run never used is recommended only if it is declared', () => {
  expect(firstFlag(toolAvoidanceDetector(), times(30, grep))).toBeNull();
  const recommendations = [{ tools: ['find_text'], insteadOf: ['grep'], available: true }];
  expect(firstFlag(toolAvoidanceDetector({ recommendations, warnAt: 3 }), times(3, grep))).toBe(2);
});

test('using the tool resets the count', () => {
  expect(firstFlag(toolAvoidanceDetector(), [USED, ...times(9, grep), USED, ...times(9, grep)])).toBeNull();
});

test('one detector can watch several runs', () => {
  const detector = toolAvoidanceDetector();
  firstFlag(detector, [USED, ...times(9, grep)]);
  expect(firstFlag(detector, times(12, grep))).toBeNull();
});
