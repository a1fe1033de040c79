import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scoreFolder, scoreScenario, totalOf, type ScoreTotal } from '../src/testing/score-scenarios.ts';
import { sharedPath } from '../src/testing/shared-data.ts';

const scenarios = sharedPath('scenarios');
const windows = sharedPath('windows');
const without = ' (skipped where the labelled data does not lie beside the project)';

const heldOut = fileURLToPath(new URL('heldout', import.meta.url));
const unseen = fileURLToPath(new URL('unseen', import.meta.url));

/** The same as told by a source that has no flag for failures: whether a call failed is read from its answer. */
function clearCutWithoutFlags(folder: string): ScoreTotal {
  const withoutFlag = (key: string, value: unknown): unknown => (key === 'isError' ? undefined : value);
  const scores = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const document: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'), withoutFlag);
      return scoreScenario(document, { name });
    });
  return totalOf(scores.filter((score) => !score.debatable));
}

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

test('the unseen scenarios fare no worse than when they were last scored', () => {
  const named = clearCut(unseen);
  expect([named.stuck, named.legitimate]).toEqual([31, 30]);
  expect(named.found).toBeGreaterThanOrEqual(29);
  expect(named.falseAlarms).toBeLessThanOrEqual(2);
  expect(named.premature).toBe(0);
  expect(named.meanDelay).toBeLessThanOrEqual(0);
  const opaque = clearCut(unseen, true);
  expect(opaque.found).toBeGreaterThanOrEqual(29);
  expect(opaque.falseAlarms).toBeLessThanOrEqual(2);
  expect(opaque.premature).toBe(0);
});

test('failures that no flag tells of are read from the answers, and nothing else is taken for one', () => {
  const held = clearCutWithoutFlags(heldOut);
  expect(held.found).toBeGreaterThanOrEqual(42);
  expect(held.falseAlarms).toBe(0);
  const blind = clearCutWithoutFlags(unseen);
  expect(blind.found).toBeGreaterThanOrEqual(27);
  expect(blind.falseAlarms).toBeLessThanOrEqual(1);
});
