import { expect, test } from 'vitest';

import type { RunExtras } from './api-shapes.ts';
import { cohortOf } from './cohort.ts';
import type { MatchedRun } from './match-runs.ts';
import { warningKey } from './warning-key.ts';

const WARNING = { kind: 'identical_call', tool: 'bash', line: 'not found' };

/** A run of so many calls; with `stuckAt` it was stuck from that call on. */
function run(id: string, calls: number, verdict: RunExtras['verdict'], stuckAt?: number): MatchedRun {
  const extras: RunExtras = {
    patterns: stuckAt === undefined ? [] : ['identical_call'],
    patternCalls: stuckAt === undefined ? [] : [stuckAt],
    ...(stuckAt === undefined ? {} : { wasted: { ...WARNING, call: stuckAt, calls: calls - stuckAt, ms: 0 } }),
    verdict,
    fates: stuckAt === undefined ? {} : { 'delivered repeated': 1, 'withheld succeeded': 2 },
    stuck: stuckAt !== undefined,
    adviceCount: 0,
    adviceCalls: [],
    adviceUnsaid: 0,
    strip: '',
    tools: [],
  };
  const summary = {
    runId: id,
    depth: 0,
    startedAtMs: 0,
    lastAtMs: 0,
    records: 0,
    lastSeq: 0,
    turns: 0,
    errors: 0,
    calls,
  };
  // Of the source only its id is read.
  return { listed: { source: { id: '0' } } as MatchedRun['listed'], run: summary, extras, found: undefined };
}

test('a pattern is compared with the runs that got as far without it, not with shorter ones', () => {
  const { patterns } = cohortOf([
    run('short', 2, 'worked'),
    run('long', 20, 'worked'),
    run('longer', 30, 'failed'),
    run('stuck', 12, 'failed', 10),
    run('stuck and over', 5, 'worked', 4),
  ]);
  // At call 10: one of two. At call 4: one of two, and the run that gets stuck later has not been yet.
  expect(patterns).toMatchObject([{ kind: 'identical_call', runs: 2, judged: 2, succeeded: 1, callsAfter: 3 }]);
  expect(patterns[0]?.expected).toBeCloseTo((1 / 2 + 1 / 3) / 2);
});

test('stopping after the warning saves the later calls and loses the successful runs among them', () => {
  const { stops } = cohortOf([run('a', 20, 'failed', 10), run('b', 15, 'worked', 10), run('c', 9, 'worked')]);
  expect(stops[0]).toEqual({ after: 0, stopped: 2, saved: 15, lost: 1 });
  expect(stops[5]).toEqual({ after: 5, stopped: 1, saved: 5, lost: 0 });
});

test('advice is counted by delivery and next call, and stuck runs by their first warning', () => {
  const { clusters, fates } = cohortOf([run('a', 20, 'failed', 10), run('b', 15, 'worked', 10)]);
  expect(fates).toEqual({ delivered: { repeated: 2 }, withheld: { succeeded: 4 } });
  expect(clusters).toMatchObject([{ key: warningKey(WARNING), runs: 2, calls: 15 }]);
});

test('days without runs are days without cost, and the latest 120 days are kept', () => {
  const startedOn = (day: string): MatchedRun => {
    const matched = withExtras(run(day, 1, 'worked'), { costUsd: 2 });
    return { ...matched, run: { ...matched.run, startedAtMs: Date.parse(day) + 60_000 } };
  };
  const { days } = cohortOf(['2026-10-12', '2026-10-15', '2026-10-15'].map(startedOn));
  expect(days.map(({ costUsd, day, runs }) => [day, runs, costUsd])).toEqual([
    ['2026-10-12', 1, 2],
    ['2026-10-13', 0, 0],
    ['2026-10-14', 0, 0],
    ['2026-10-15', 2, 4],
  ]);
  const longest = cohortOf(['2025-01-01', '2026-10-15'].map(startedOn)).days;
  expect([longest.length, longest[0]?.day, longest.at(-1)?.runs]).toEqual([120, '2026-06-18', 1]);
});

test('the pattern whose runs miss most successes comes first', () => {
  const slow = { patterns: ['serial_reads'], patternCalls: [2] };
  const stuck = run('stuck', 12, 'failed', 10);
  const { patterns } = cohortOf([
    ...['a', 'b', 'c'].map((id) => withExtras(run(id, 40, 'worked'), slow)),
    withExtras(stuck, { patterns: ['serial_reads', 'identical_call'], patternCalls: [2, 10] }),
    run('calm', 50, 'worked'),
  ]);
  expect(patterns.map(({ kind }) => kind)).toEqual(['identical_call', 'serial_reads']);
});

function withExtras(matched: MatchedRun, change: Partial<RunExtras>): MatchedRun {
  // The cast is safe: `run` sets the extras.
  return { ...matched, extras: { ...(matched.extras as RunExtras), ...change } };
}
