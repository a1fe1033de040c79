import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { testFolder } from '../../test/support/test-folder.ts';
import { backtest } from './backtest.ts';
import { measureSignals, type MeasuredRun } from './measure-signals.ts';

const folder = testFolder();

interface RunScript {
  readonly id: string;
  readonly success: boolean;
  readonly calls: number;
  /** The first of three calls that fail alike; without one nothing repeats. */
  readonly stuckFrom?: number;
}

function line({ id, success, calls, stuckFrom }: RunScript): string {
  const steps = Array.from({ length: calls }, (_, index) => {
    const repeats = stuckFrom !== undefined && index >= stuckFrom && index < stuckFrom + 3;
    const args = { command: repeats ? 'make all' : `cat file${index}` };
    const result = repeats ? 'make: no rule to make target all' : `content number ${index} of ${id}`;
    return [
      { kind: 'tool_call', tool: 'bash', args, call_id: `c${index}`, msg: index },
      { kind: 'tool_result', call_id: `c${index}`, result, is_error: repeats, msg: index },
    ];
  });
  return `${JSON.stringify({ id, outcome: { success }, steps: steps.flat() })}\n`;
}

test('at the same call, of a pattern, by hand: three failed runs and three that went well', async () => {
  const path = join(folder, 'six.jsonl');
  const runs: readonly RunScript[] = [
    { id: 'p1', success: false, calls: 12, stuckFrom: 1 },
    { id: 'p2', success: false, calls: 12, stuckFrom: 4 },
    { id: 'p3', success: false, calls: 5 },
    { id: 'n1', success: true, calls: 12, stuckFrom: 4 },
    { id: 'n2', success: true, calls: 10 },
    { id: 'n3', success: true, calls: 6 },
  ];
  await writeFile(path, runs.map(line).join(''));
  const { report } = await backtest([path]);
  const pattern = report.parts[0]?.byConfiguration[0]?.patterns.find(({ name }) => name === 'repeated_error');
  // The third such failure is call 3 of p1 and call 6 of p2 and n1.
  // Call 3: at risk are all three of either side; one positive run fires: above 1·3/6, below 0.
  // Call 6: p1 has fired, p3 and n3 have ended: one of one positive, one of two negative: above 1·2/3, below 1·1/3.
  const above = 1 / 2 + 2 / 3;
  const below = 1 / 3;
  expect(pattern).toMatchObject({ runs: 3, positiveRuns: 2, negativeRuns: 1 });
  expect(pattern?.atSameCall).toMatchObject({ ratio: 3.5, positiveEvents: 2, negativeEvents: 1 });
  expect(above / below).toBeCloseTo(3.5, 12);
  // ((a + b)·n₁·n₀ − a·b·N) / N²: 9/36 at call 3, (2·1·2 − 3)/9 at call 6.
  const spread = Math.exp(1.959963984540054 * Math.sqrt((9 / 36 + 1 / 9) / (above * below)));
  expect(pattern?.atSameCall.low).toBeCloseTo(3.5 / spread, 5);
  expect(pattern?.atSameCall.high).toBeCloseTo(3.5 * spread, 5);
});

/** The same figure by its definition: call by call, looking at every run. */
function byDefinition(runs: readonly MeasuredRun[]): { readonly ratio: number; readonly spread: number } | undefined {
  const first = ({ fired }: MeasuredRun): number => fired[1] ?? Infinity;
  const side = (positive: boolean, call: number) => {
    const atRisk = runs.filter((run) => run.positive === positive && run.calls > call && first(run) >= call);
    return { of: atRisk.length, events: atRisk.filter((run) => first(run) === call).length };
  };
  let [above, below, variance] = [0, 0, 0];
  for (let call = 0; call < 12; call += 1) {
    const [{ events: a, of: n1 }, { events: b, of: n0 }] = [side(true, call), side(false, call)];
    const all = n1 + n0;
    if (a + b === 0) continue;
    above += (a * n0) / all;
    below += (b * n1) / all;
    variance += ((a + b) * n1 * n0 - a * b * all) / all ** 2;
  }
  if (above === 0 || below === 0) return undefined;
  return { ratio: above / below, spread: Math.exp(1.959963984540054 * Math.sqrt(variance / (above * below))) };
}

const run: fc.Arbitrary<MeasuredRun> = fc
  .record({ calls: fc.integer({ min: 1, max: 12 }), at: fc.nat(20), positive: fc.option(fc.boolean()) })
  .map(({ at, calls, positive }) => ({
    id: 'r',
    source: 's',
    group: 'g',
    calls,
    positive,
    fired: at < calls ? [0, at] : [],
  }));

test('at the same call is what its definition says for any runs; unlabelled runs do not count', () => {
  fc.assert(
    fc.property(fc.array(run, { maxLength: 40 }), (runs) => {
      const figures = measureSignals(runs, [{ by: 'pattern', name: 'repeated_error' }]);
      const found = figures.patterns[0]?.atSameCall;
      const expected = byDefinition(runs);
      const { ratio = -1, spread = 1 } = expected ?? {};
      expect(found?.ratio ?? -1).toBeCloseTo(ratio, 5);
      expect(found?.high ?? -1).toBeCloseTo(ratio * spread, 3);
      expect(found?.low ?? -1).toBeCloseTo(ratio / spread, 3);
    }),
    { numRuns: 400 },
  );
});
