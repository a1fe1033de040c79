import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { holdoutArmOf } from '../steering/holdout.ts';
import { scriptRun } from '../testing/record-script.ts';
import type { EffectReport, EffectComparison } from './effect-report.ts';
import { EffectRowFold, type EffectRow } from './effect-row.ts';
import { measureEffect } from './measure-effect.ts';
import { riskRatioOf } from './risk-ratio.ts';

const WITHIN = 10;

/** A deterministic stream of numbers from 0 to 1 (Park and Miller's minimal generator). */
function randomOf(seed: number): () => number {
  let state = (seed * 7919 + 12_345) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

interface Scripted {
  readonly id: string;
  readonly withheld: boolean;
  /** Calls after the advice until the pattern clears; absent: never. */
  readonly clearAfter?: number;
  /** Calls after the advice until the run ends; default 20. */
  readonly calls?: number;
  readonly parent?: string;
  readonly holdout?: boolean;
  readonly mode?: 'steer' | 'shadow';
  readonly provider?: string;
  readonly configuration?: string;
  readonly share?: number;
  readonly startMs?: number;
  /** Advice of another provider, on no pattern, comes earlier. */
  readonly preceded?: boolean;
  readonly gap?: boolean;
  readonly open?: boolean;
  /** The pattern is flagged only after the advice. */
  readonly flaggedLate?: boolean;
}

const pattern = (
  provider: string,
): { readonly identity: string; readonly level: 'warn'; readonly occurrences: number } => ({
  identity: `identical_call:${provider}`,
  level: 'warn',
  occurrences: 3,
});

function said(provider: string, adviceId: string, cause: number, onPattern: boolean): TrajectoryPayload {
  return {
    kind: 'feedback_produced',
    cause_seq: cause,
    ordinal: 0,
    advice_id: adviceId,
    provider_name: provider,
    text: 'text',
    feedback: {
      summary: 's',
      observations: [],
      suggestions: [],
      severity: 'caution',
      atMs: 0,
      callIndex: 1,
      promptName: 'p',
      ...(onPattern ? { pattern: pattern(provider) } : {}),
    },
  };
}

function patternRecord(kind: 'pattern_flagged' | 'pattern_cleared', provider: string): TrajectoryPayload {
  return {
    kind,
    cause_seq: 0,
    ordinal: 0,
    pattern: {
      kind: 'identical_call',
      stuck: true,
      confidence: 0.9,
      evidence: [0],
      firstSeen: 0,
      flaggedAt: 0,
      ...pattern(provider),
    },
  };
}

function payloadsOf(script: Scripted): readonly TrajectoryPayload[] {
  const { clearAfter, calls = 20, id, parent, provider = 'Patterns', share = 0.5, withheld } = script;
  const call = (index: number): TrajectoryPayload => ({
    kind: 'tool_started',
    tool_call_id: `c${index}`,
    tool_name: 'bash',
    args: {},
  });
  const settled: TrajectoryPayload = {
    kind: 'feedback_delivered',
    advice_id: 'a',
    provider_name: provider,
    delivered: !withheld,
    ...(withheld ? { reason: 'withheld by experiment' } : { channel: 'test' }),
  };
  const flagged = patternRecord('pattern_flagged', provider);
  return [
    {
      kind: 'run_started',
      identity: {
        run_id: id,
        depth: parent === undefined ? 0 : 1,
        ...(parent === undefined ? {} : { parent_run_id: parent }),
      },
      steering: {
        prompt_name: 'p',
        configuration_hash: script.configuration ?? 'c1',
        mode: script.mode ?? 'steer',
        ...(script.holdout === false ? {} : { holdout: { share, withheld } }),
      },
    },
    ...(script.preceded === true ? [said('Pace', 'b', 1, false)] : []),
    call(0),
    ...(script.flaggedLate === true ? [] : [flagged]),
    said(provider, 'a', 50, true),
    settled,
    ...(script.flaggedLate === true ? [flagged] : []),
    ...(script.gap === true ? [{ kind: 'gap', through_seq: 9, reason: 'r' } as const] : []),
    ...Array.from({ length: calls }, (_, index) => [
      call(index + 1),
      ...(index + 1 === clearAfter ? [patternRecord('pattern_cleared', provider)] : []),
    ]).flat(),
    ...(script.open === true ? [] : [{ kind: 'run_ended', outcome: 'ended', new_messages: [] } as const]),
  ];
}

function rowOf(script: Scripted): EffectRow {
  const fold = new EffectRowFold(script.id, WITHIN);
  for (const record of scriptRun(script.id, payloadsOf(script), { startMs: script.startMs ?? 1_000 }))
    fold.fold(record);
  return fold.row();
}

function report(scripts: readonly Scripted[]): EffectReport {
  return measureEffect({ paths: ['runs.db'], within: WITHIN, rows: scripts.map(rowOf) });
}

function comparison(scripts: readonly Scripted[], provider = 'Patterns'): EffectComparison | undefined {
  return report(scripts).providers.find((one) => one.provider === provider)?.comparison;
}

/** So many runs, whose arm is drawn as live, and which leave the pattern with a chance that the arm decides. */
function simulated(
  seed: number,
  runs: number,
  chances: { readonly told: number; readonly kept: number },
): readonly Scripted[] {
  const random = randomOf(seed);
  return Array.from({ length: runs }, (_, number) => {
    const id = `run-${seed}-${number}`;
    const withheld = holdoutArmOf({ share: 0.5, seed: String(seed) }, id)?.withheld === true;
    const clears = random() < (withheld ? chances.kept : chances.told);
    return { id, withheld, ...(clears ? { clearAfter: 1 + Math.floor(random() * WITHIN) } : {}) };
  });
}

test('an effect that is there is recovered: its interval holds it in about 95 of 100 simulations, and not 1', () => {
  const wanted = 0.6 / 0.3;
  let holds = 0;
  let shows = 0;
  for (let seed = 1; seed <= 100; seed += 1) {
    const found = comparison(simulated(seed, 400, { told: 0.6, kept: 0.3 }));
    if (found?.low === null || found?.high === null || found === undefined) continue;
    if (found.low <= wanted && wanted <= found.high) holds += 1;
    if (found.low > 1) shows += 1;
  }
  expect(holds).toBeGreaterThanOrEqual(90);
  expect(holds).toBeLessThanOrEqual(99);
  expect(shows).toBeGreaterThanOrEqual(98);
});

test('without an effect the interval holds 1 in about 95 of 100 simulations', () => {
  let holds = 0;
  for (let seed = 1; seed <= 200; seed += 1) {
    const found = comparison(simulated(seed, 200, { told: 0.4, kept: 0.4 }));
    expect(found?.status).toBe('compared');
    if ((found?.low ?? 2) <= 1 && 1 <= (found?.high ?? 0)) holds += 1;
  }
  // Binomial(200, 0.95): below 180 or above 199 it goes once in a few hundred times.
  expect(holds).toBeGreaterThanOrEqual(180);
  expect(holds).toBeLessThanOrEqual(199);
});

test('the ratio and interval are those of the log method, by hand', () => {
  // Katz: 40/100 against 20/100: ln 2 ± 1.96·√(1/40 − 1/100 + 1/20 − 1/100).
  const spread = Math.exp(1.959963984540054 * Math.sqrt(0.055));
  const found = riskRatioOf([{ treated: { events: 40, of: 100 }, control: { events: 20, of: 100 } }]);
  expect(found?.ratio).toBe(2);
  expect(found?.low).toBeCloseTo(2 / spread, 5);
  expect(found?.high).toBeCloseTo(2 * spread, 5);
});

const side = fc
  .integer({ min: 1, max: 200 })
  .chain((of) => fc.record({ of: fc.constant(of), events: fc.integer({ min: 0, max: of }) }));

test('a ratio lies in its interval, turns over with its arms, and a stratum with one arm changes nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ treated: side, control: side }), { minLength: 1, maxLength: 4 }), (strata) => {
      const found = riskRatioOf(strata);
      const turned = riskRatioOf(strata.map(({ treated, control }) => ({ treated: control, control: treated })));
      expect(found === undefined).toBe(turned === undefined);
      const { low = 1, high = 1, ratio = 1 } = found ?? {};
      expect(low <= ratio && ratio <= high).toBe(true);
      expect(ratio * (turned?.ratio ?? 1)).toBeCloseTo(1, 2);
      const alone = { treated: { events: 1, of: 3 }, control: { events: 0, of: 0 } };
      expect(riskRatioOf([...strata, alone])).toEqual(found);
    }),
  );
});

test('shares that change with the times do not make an effect: arms are compared within configuration and share', () => {
  // In easy times most are told, in hard times few: pooled, advice would seem to work wonders.
  const easy = (index: number, withheld: boolean): Scripted => ({
    id: `e${withheld}${index}`,
    withheld,
    share: 0.1,
    ...(index % 10 < 8 ? { clearAfter: 2 } : {}),
  });
  const hard = (index: number, withheld: boolean): Scripted => ({
    id: `h${withheld}${index}`,
    withheld,
    share: 0.9,
    ...(index % 10 < 2 ? { clearAfter: 2 } : {}),
  });
  const scripts = [
    ...Array.from({ length: 180 }, (_, index) => easy(index, false)),
    ...Array.from({ length: 20 }, (_, index) => easy(index, true)),
    ...Array.from({ length: 20 }, (_, index) => hard(index, false)),
    ...Array.from({ length: 180 }, (_, index) => hard(index, true)),
  ];
  const found = comparison(scripts);
  expect(found).toMatchObject({ status: 'compared', strata: 2, ratio: 1 });
  expect(found?.delivered?.cleared.hits).toBeGreaterThan(2 * (found?.withheld?.cleared.hits ?? 0));
});

test('without an experiment nothing is compared, whatever the counts, and the report says why', () => {
  const rows = simulated(1, 200, { told: 0.9, kept: 0.1 }).map((script) => rowOf({ ...script, holdout: false }));
  const { notes, providers, runs } = measureEffect({ paths: [], within: WITHIN, rows });
  expect(runs).toMatchObject({ read: 200, steered: 200, delivered: 0, withheld: 0 });
  expect(providers[0]?.comparison).toMatchObject({ status: 'not-randomised', ratio: null, delivered: null });
  expect(providers[0]?.comparison.reason).toContain('set holdout');
  expect(providers[0]?.pieces.delivered).toBeGreaterThan(50);
  expect(notes).toHaveLength(1);
});

test.each<[string, readonly Scripted[], string]>([
  ['too few runs in an arm', simulated(1, 30, { told: 0.5, kept: 0.5 }), 'each needs 20'],
  ['too few that left the pattern', simulated(1, 200, { told: 0.5, kept: 0 }), 'each needs 5'],
])('with %s it says that there is too little data, and shows the counts', (_, scripts, reason) => {
  const found = comparison(scripts);
  expect(found).toMatchObject({ status: 'too-little-data', ratio: null, low: null, high: null });
  expect(found?.reason).toContain(reason);
  expect((found?.delivered?.runs ?? 0) + (found?.withheld?.runs ?? 0)).toBe(scripts.length);
});

test('runs below a run do not count beside it: the first advice of the tree is the one that counts', () => {
  const root: Scripted = { id: 'root', withheld: false, startMs: 5_000 };
  const child: Scripted = { id: 'child', parent: 'root', withheld: false, startMs: 1_000, clearAfter: 3 };
  const found = comparison([root, child]);
  expect(found?.delivered).toMatchObject({ runs: 1, cleared: { hits: 1 }, callsToClear: { median: 3 } });
  expect(report([root, child]).runs).toMatchObject({ delivered: 1, withheld: 0 });
});

test('left out are: a word after other advice, a pattern flagged afterwards, a gap, a run that still goes on', () => {
  expect(comparison([{ id: 'a', withheld: false, preceded: true }])).toMatchObject({
    delivered: { runs: 0 },
    afterOther: 1,
  });
  expect(comparison([{ id: 'a', withheld: false, flaggedLate: true, clearAfter: 1 }])?.delivered?.runs).toBe(0);
  expect(report([{ id: 'a', withheld: false, gap: true }])).toMatchObject({
    runs: { leftOutForGap: 1 },
    providers: [{ comparison: { delivered: { runs: 0 } } }],
  });
  // Also where it has left the pattern already: else runs that do would be more likely to count.
  expect(report([{ id: 'a', withheld: false, open: true, calls: 4, clearAfter: 2 }])).toMatchObject({
    runs: { leftOutAsOpen: 1 },
    providers: [{ comparison: { delivered: { runs: 0 } } }],
  });
});

test('a run that ends soon without leaving its pattern counts as not having left it, and is shown', () => {
  const found = comparison([{ id: 'a', withheld: true, calls: 3 }]);
  expect(found?.withheld).toMatchObject({ runs: 1, cleared: { hits: 0, of: 1 }, endedBefore: 1, reached: 0 });
});

test('the order of the rows changes nothing', () => {
  const rows = simulated(3, 60, { told: 0.6, kept: 0.4 }).map(rowOf);
  const wanted = JSON.stringify(measureEffect({ paths: [], within: WITHIN, rows }));
  fc.assert(
    fc.property(fc.shuffledSubarray([...rows], { minLength: rows.length }), (shuffled) => {
      expect(JSON.stringify(measureEffect({ paths: [], within: WITHIN, rows: shuffled }))).toBe(wanted);
    }),
    { numRuns: 20 },
  );
});
