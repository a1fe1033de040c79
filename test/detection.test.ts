import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scoreFolder, scoreScenario, totalOf, type ScoreTotal } from '../src/testing/score-scenarios.ts';
import { sharedPath } from '../src/testing/shared-data.ts';

const scenarios = sharedPath('scenarios');
const windows = sharedPath('windows');
const without = ' (skipped where the labelled data does not lie beside the project)';

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

/** Clear-cut cases of each set that lies here, and how they were last scored: found, false alarms. */
const SETS: readonly (readonly [
  string,
  Readonly<Record<'cases' | 'named' | 'opaque' | 'flagless', readonly [number, number]>>,
])[] = [
  ['heldout', { cases: [46, 46], named: [46, 0], opaque: [46, 1], flagless: [43, 0] }],
  ['unseen', { cases: [31, 30], named: [31, 2], opaque: [31, 2], flagless: [29, 1] }],
  ['blind', { cases: [39, 37], named: [39, 0], opaque: [37, 1], flagless: [35, 0] }],
  ['blind-2', { cases: [31, 32], named: [29, 0], opaque: [26, 0], flagless: [24, 0] }],
  ['blind-3', { cases: [23, 27], named: [23, 0], opaque: [22, 0], flagless: [21, 0] }],
  ['blind-4', { cases: [32, 33], named: [32, 0], opaque: [32, 0], flagless: [29, 0] }],
  ['blind-5', { cases: [32, 32], named: [31, 0], opaque: [31, 0], flagless: [28, 0] }],
  ['blind-6', { cases: [29, 28], named: [29, 0], opaque: [29, 0], flagless: [27, 0] }],
  ['blind-7', { cases: [30, 30], named: [30, 0], opaque: [30, 0], flagless: [29, 0] }],
  ['blind-12', { cases: [28, 29], named: [27, 0], opaque: [28, 0], flagless: [24, 0] }],
  ['blind-11', { cases: [22, 19], named: [21, 0], opaque: [21, 0], flagless: [20, 0] }],
  ['blind-10', { cases: [20, 17], named: [20, 0], opaque: [20, 0], flagless: [19, 0] }],
  ['blind-9', { cases: [28, 30], named: [28, 0], opaque: [28, 0], flagless: [27, 0] }],
  ['blind-8', { cases: [20, 17], named: [20, 0], opaque: [20, 0], flagless: [20, 0] }],
];

test.each(SETS)('the cases of %s fare no worse than when they were last scored', (name, last) => {
  const folder = fileURLToPath(new URL(name, import.meta.url));
  const [named, opaque, flagless] = [clearCut(folder), clearCut(folder, true), clearCutWithoutFlags(folder)];
  expect([named.stuck, named.legitimate]).toEqual(last.cases);
  expect(named.premature).toBeLessThanOrEqual(name === 'blind-5' ? 1 : 0);
  expect(named.meanDelay).toBeLessThanOrEqual(0.5);
  expect(worse(named, last.named)).toEqual([]);
  expect(worse(opaque, last.opaque)).toEqual([]);
  expect(worse(flagless, last.flagless)).toEqual([]);
});

/** What of a total is worse than what was found and falsely flagged before. */
function worse(
  { found, falseAlarms }: ScoreTotal,
  [lastFound, lastFalse]: readonly [number, number],
): readonly string[] {
  return [
    ...(found < lastFound ? [`found ${found}, was ${lastFound}`] : []),
    ...(falseAlarms > lastFalse ? [`${falseAlarms} false alarms, were ${lastFalse}`] : []),
  ];
}
