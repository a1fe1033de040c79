import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { examplesOf, type ExampleRun } from './measure-signals.ts';

const run: fc.Arbitrary<ExampleRun> = fc.record({
  id: fc.string({ maxLength: 8 }),
  source: fc.constantFrom('a.jsonl', 'b.jsonl'),
  positive: fc.option(fc.boolean()),
});
const anyRuns = fc.uniqueArray(run, { selector: ({ id }) => id, maxLength: 40 });

/** Every run fires, at the call of its place. */
function allFire(runs: readonly ExampleRun[]): ReadonlyMap<number, number> {
  return new Map(runs.map((_, index) => [index, index * 2]));
}

test('at most three of each kind, each with its own call and file, and all of them where there are fewer', () => {
  fc.assert(
    fc.property(anyRuns, (runs) => {
      const examples = examplesOf(runs, allFire(runs));
      for (const [kind, positive] of [
        ['negative', false] as const,
        ['positive', true] as const,
        ['unlabelled', null] as const,
      ]) {
        const of = runs.filter((one) => one.positive === positive);
        expect(examples[kind]).toHaveLength(Math.min(3, of.length));
        for (const moment of examples[kind]) {
          const index = runs.findIndex(({ id }) => id === moment.run);
          expect(moment).toEqual({ run: moment.run, call: index * 2 + 1, source: runs[index]?.source });
          expect(runs[index]?.positive).toBe(positive);
        }
      }
    }),
  );
});

test('the order of the runs does not matter, and a run that is not chosen changes nothing when it goes', () => {
  fc.assert(
    fc.property(anyRuns, (runs) => {
      const ids = (some: readonly ExampleRun[]): readonly string[] => {
        const { negative, positive, unlabelled } = examplesOf(some, allFire(some));
        return [...negative, ...positive, ...unlabelled].map((moment) => moment.run);
      };
      const chosen = ids(runs);
      expect(ids(runs.toReversed())).toEqual(chosen);
      const left = runs.find(({ id }) => !chosen.includes(id));
      expect(ids(runs.filter((one) => one !== left))).toEqual(chosen);
    }),
  );
});

test('runs without a firing are no examples', () => {
  const inputs = [true, false, null].map((positive, index): ExampleRun => ({ id: `${index}`, source: '-', positive }));
  expect(examplesOf(inputs, new Map([[1, 7]]))).toEqual({
    negative: [{ run: '1', call: 8, source: '-' }],
    positive: [],
    unlabelled: [],
  });
});

test('the moments come from all over the input, not from its beginning', () => {
  const inputs = Array.from({ length: 3_000 }, (_, index): ExampleRun => ({
    id: `run-${index}`,
    source: '-',
    positive: true,
  }));
  const places = examplesOf(inputs, allFire(inputs)).positive.map(({ run: id }) => Number(id.slice(4)));
  expect(Math.max(...places)).toBeGreaterThan(300);
});
