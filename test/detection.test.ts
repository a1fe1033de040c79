import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readCases, scoreCases, totalOf, type ScoreTotal } from './support/score-scenarios.ts';
import { sharedPath } from './support/shared-data.ts';
import { verdictLines } from './support/verdict-lines.ts';

const scenarios = sharedPath('scenarios');
const windows = sharedPath('windows');
const without = ' (skipped without the labelled data)';
const folder = fileURLToPath(new URL('cases', import.meta.url));

function clearCut(path: string | undefined, opaque = false): ScoreTotal {
  if (path === undefined) throw new Error('no folder');
  return totalOf(scoreCases(readCases(path), { opaque }).filter((score) => !score.debatable));
}

test.skipIf(scenarios === undefined)(`the scenarios are classified in time${without}`, () => {
  const total = clearCut(scenarios);
  expect(total.stuck + total.legitimate).toBeGreaterThan(60);
  expect(total.found / total.stuck).toBeGreaterThanOrEqual(0.97);
  expect(total.falseAlarms).toBeLessThanOrEqual(1);
  expect(total.premature).toBe(0);
  expect(total.meanDelay).toBeLessThanOrEqual(0.5);
});

test.skipIf(scenarios === undefined)(`tool names without meaning cost at most one case each way${without}`, () => {
  const named = clearCut(scenarios);
  const opaque = clearCut(scenarios, true);
  expect(opaque.found).toBeGreaterThanOrEqual(named.found - 1);
  expect(opaque.falseAlarms).toBeLessThanOrEqual(named.falseAlarms + 1);
});

test.skipIf(windows === undefined)(`the windows of real runs are classified${without}`, () => {
  const total = clearCut(windows);
  expect(total.stuck + total.legitimate).toBeGreaterThan(20);
  expect(total.found / total.stuck).toBeGreaterThanOrEqual(0.9);
  expect(total.falseAlarms).toBeLessThanOrEqual(1);
});

// A gained case does not outweigh a lost one: accept a change with `npm run score -- test/cases --accept` and read the diff.
test('each labelled case has the last accepted verdict', () => {
  const accepted = readFileSync(`${folder}/verdicts.tsv`, 'utf8').trimEnd().split('\n');
  expect(verdictLines(readCases(folder))).toEqual(accepted);
});

test('each labelled case has a set, a first score and a reason', () => {
  const cases = readCases(folder);
  expect(new Set(cases.map(({ document }) => document['id'])).size).toBe(cases.length);
  for (const { document } of cases) {
    expect(document).toMatchObject({
      set: expect.any(String),
      first: expect.stringMatching(/^(right|late|missed|premature|false)$/),
      why: expect.any(String),
    });
  }
});
