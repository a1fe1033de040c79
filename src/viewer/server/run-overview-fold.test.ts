import { expect, test } from 'vitest';

import { scriptedRecords, times, type ScriptedCall } from '../../../test/support/scripted-run.ts';
import { SESSION_NAMED, WITHHELD_REASON } from '../../core/records/words.ts';
import type { FeedbackProduced } from '../../core/records/trajectory-record.ts';
import type { RunExtras } from './api-shapes.ts';
import { listedRow } from './run-list.ts';
import { RunOverviewFold } from './run-overview-fold.ts';

function foldCalls(calls: readonly ScriptedCall[]): RunOverviewFold {
  const fold = new RunOverviewFold();
  for (const record of scriptedRecords(calls)) fold.fold(record);
  return fold;
}

const failing: ScriptedCall = { tool: 'bash', args: { command: 'make' }, result: 'make: no rule', isError: true };

test('a failure counts in the bucket of the start of its call', () => {
  const { errors } = foldCalls([{ tool: 'read_file', args: { path: 'a' } }, failing]).overview(6);
  // Records: start, turn, call, result, turn, call, result.
  expect(errors).toEqual([0, 0, 0, 0, 0, 1, 0]);
});

test('a run without steering has the patterns that the detectors find, with the records of their calls', () => {
  const fold = foldCalls([{ tool: 'read_file', args: { path: 'a' } }, ...times(6, failing)]);
  const { patterns } = fold.overview(21);
  const span = patterns.find(({ kind }) => kind === 'identical_call') ?? patterns[0];
  expect(span).toMatchObject({ stuck: true, fromCall: 2, fromSeq: 5, toCall: null, toSeq: null });
  expect(span?.evidence.every(({ call, seq }) => seq === 3 * call - 1)).toBe(true);
  expect(fold.extras()).toMatchObject({ stuck: true, adviceCount: 0 });
});

test('a row has the name of its session, else the title of its task', () => {
  const records = scriptedRecords([failing]);
  const titleAfter = (more: readonly (typeof records)[number][]): string => {
    const fold = new RunOverviewFold();
    for (const record of [...records, ...more]) fold.fold(record);
    const place = { source: '0', title: 'the task', childCount: 0, nowMs: 0 };
    return listedRow(fold.counts, fold.extras(), place).title;
  };
  const [first] = records;
  if (first === undefined) throw new Error('a run begins with its start');
  const payload = { kind: 'session_event', event_type: SESSION_NAMED, data: { name: 'Fix the build' } } as const;
  expect([titleAfter([]), titleAfter([{ ...first, seq: records.length, payload }])]).toEqual([
    'the task',
    'Fix the build',
  ]);
});

test('a row has the title of the first request if the task says nothing, or says it after the part in the summary', () => {
  const nameAfter = (task: string, ...words: readonly string[]): string | undefined => {
    const [first, second] = scriptedRecords([failing]);
    if (first?.payload.kind !== 'run_started' || second === undefined) throw new Error('a run begins with its start');
    const fold = new RunOverviewFold();
    fold.fold({ ...first, payload: { ...first.payload, task } });
    for (const [index, content] of words.entries())
      fold.fold({
        ...second,
        seq: index + 1,
        payload: { kind: 'message_appended', message: { role: 'user', content } },
      });
    return fold.extras().name;
  };
  expect(nameAfter('hi', 'hi', 'Fix the build')).toBe('Fix the build');
  expect(nameAfter(`<system-reminder>${'x'.repeat(300)}</system-reminder>\nFix the tests`)).toBe('Fix the tests');
  expect(nameAfter('Fix the docs', 'Fix the docs', 'Now the page')).toBeUndefined();
  expect(nameAfter(`Judge ${'the long text '.repeat(30)}`)).toBeUndefined();
});

test('a steered run has the recorded patterns only', () => {
  const [first, ...rest] = scriptedRecords(times(6, failing));
  if (first?.payload.kind !== 'run_started') throw new Error('a run begins with its start');
  const steering = { prompt_name: '', configuration_hash: 'x', mode: 'steer' } as const;
  const fold = new RunOverviewFold();
  for (const record of [{ ...first, payload: { ...first.payload, steering } }, ...rest]) fold.fold(record);
  expect(fold.overview(18).patterns).toEqual([]);
  // Without an analysis, the results are read for their error lines.
  expect(fold.extras()).toMatchObject({ errorLine: ['make: no rule', 6] });
});

test('the first warning has the pattern, its tool and the last error line of its calls', () => {
  const earlier: ScriptedCall = { tool: 'read_file', args: { path: 'a' }, result: 'a: not there', isError: true };
  const { wasted } = foldCalls([earlier, ...times(6, { ...failing, result: 'make: line 12: no rule' })]).extras();
  expect(wasted).toMatchObject({ tool: 'bash', line: 'make: line #: no rule' });
  const silent = foldCalls([
    earlier,
    ...times(8, { tool: 'bash', args: { command: 'ls' }, result: 'the same' }),
  ]).extras();
  expect(silent.wasted).toMatchObject({ kind: 'identical_call', tool: 'bash' });
  expect(silent.wasted).not.toHaveProperty('line');
});

test('an overview is complete once all stored records are folded', () => {
  const fold = foldCalls(times(2, failing));
  expect([fold.nextSeq, fold.overview(6).complete, fold.overview(7).complete]).toEqual([7, true, false]);
});

test('withheld advice is counted separately', () => {
  const records = scriptedRecords(times(3, failing));
  const last = records.at(-1);
  if (last === undefined) throw new Error('a script has records');
  const feedback: FeedbackProduced['feedback'] = {
    summary: 'x',
    observations: [],
    suggestions: [],
    severity: 'warning',
    atMs: 0,
    callIndex: 2,
    promptName: 'p',
  };
  const name = { advice_id: 'a', provider_name: 'Pattern' };
  const extrasAfter = (fate: { readonly delivered: boolean; readonly reason?: string }): RunExtras => {
    const fold = new RunOverviewFold();
    for (const record of records) fold.fold(record);
    fold.fold({
      ...last,
      seq: last.seq + 1,
      payload: { kind: 'feedback_produced', ...name, text: 'Stop.', feedback, cause_seq: last.seq, ordinal: 0 },
    });
    fold.fold({ ...last, seq: last.seq + 2, payload: { kind: 'feedback_delivered', ...name, ...fate } });
    return fold.extras();
  };
  const withheld = extrasAfter({ delivered: false, reason: WITHHELD_REASON });
  expect(withheld).toMatchObject({ adviceCount: 1, adviceUnsaid: 1 });
  expect(extrasAfter({ delivered: true })).toMatchObject({ adviceCount: 1, adviceUnsaid: 0 });
});
