import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scoreFolder, totalOf, type ScoreTotal } from '../src/testing/score-scenarios.ts';
import { sharedPath } from '../src/testing/shared-data.ts';

const scenarios = sharedPath('scenarios');
const windows = sharedPath('windows');
const without = ' (skipped where the labelled data does not lie beside the project)';

function clearCut(folder: string | undefined, opaque = false): ScoreTotal {
  if (folder === undefined) throw new Error('no folder');
  return totalOf(scoreFolder(folder, { opaque }).filter((score) => !score.debatable));
}

test.skipIf(scenarios === undefined)(`the scenarios are told apart, in time${without}`, () => {
  const total = clearCut(scenarios);
  expect(total.stuck + total.legitimate).toBeGreaterThan(60);
  expect(total.found / total.stuck).toBeGreaterThanOrEqual(0.97);
  expect(total.falseAlarms).toBeLessThanOrEqual(1);
  expect(total.premature).toBe(0);
  expect(total.meanDelay).toBeLessThanOrEqual(0.5);
});

test.skipIf(scenarios === undefined)(`tool names that say nothing cost at most one case each way${without}`, () => {
  const named = clearCut(scenarios);
  const opaque = clearCut(scenarios, true);
  expect(opaque.found).toBeGreaterThanOrEqual(named.found - 1);
  expect(opaque.falseAlarms).toBeLessThanOrEqual(named.falseAlarms + 1);
});

test.skipIf(windows === undefined)(`the windows of real runs are told apart${without}`, () => {
  const total = clearCut(windows);
  expect(total.stuck + total.legitimate).toBeGreaterThan(20);
  expect(total.found / total.stuck).toBeGreaterThanOrEqual(0.9);
  expect(total.falseAlarms).toBeLessThanOrEqual(1);
});

test('the held-out scenarios fare no worse than when they were last scored', () => {
  const heldOut = fileURLToPath(new URL('heldout', import.meta.url));
  const named = clearCut(heldOut);
  expect([named.stuck, named.legitimate]).toEqual([46, 46]);
  expect(named.found).toBeGreaterThanOrEqual(45);
  expect(named.falseAlarms).toBe(0);
  expect(named.premature).toBe(0);
  expect(named.meanDelay).toBeLessThanOrEqual(0.5);
  const opaque = clearCut(heldOut, true);
  expect(opaque.found).toBeGreaterThanOrEqual(45);
  expect(opaque.falseAlarms).toBeLessThanOrEqual(1);
});
