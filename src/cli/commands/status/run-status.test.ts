import { expect, test } from 'vitest';

import type { TrajectoryPayload, TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { RunSummary } from '../../../core/facts/run-summary.ts';
import { runStatus, formattedStatus, statusText } from './run-status.ts';

const NOW_MS = 1_700_000_000_000;
const derived = { cause_seq: 0, ordinal: 0 };
const summary: RunSummary = {
  runId: 'run-1',
  depth: 0,
  startedAtMs: NOW_MS,
  lastAtMs: NOW_MS,
  records: 9,
  lastSeq: 8,
  turns: 3,
  calls: 1_234,
  errors: 1,
  task: 'fix\n\u001b[31mit',
};

function records(...payloads: readonly TrajectoryPayload[]): readonly TrajectoryRecord[] {
  return payloads.map((payload, seq) => ({
    schema_version: 1,
    seq,
    run_id: 'run-1',
    depth: 0,
    recorded_at_unix_ms: NOW_MS,
    payload,
  }));
}

function change(
  kind: 'pattern_flagged' | 'pattern_cleared',
  name: string,
  level: 'warn' | 'strong',
): TrajectoryPayload {
  const pattern = {
    kind: name,
    identity: name,
    stuck: true,
    level,
    confidence: 1,
    evidence: [],
    firstSeen: 0,
    flaggedAt: 0,
    occurrences: 3,
  };
  return { kind, pattern, ...derived };
}

function started(deadlineAtMs: number): TrajectoryPayload {
  return {
    kind: 'run_started',
    identity: { run_id: 'run-1', depth: 0 },
    steering: { prompt_name: 'p', configuration_hash: 'h', mode: 'steer', deadline_at_unix_ms: deadlineAtMs },
  };
}

test('the status has the worst open pattern and the last deadline', () => {
  const changes = records(
    started(NOW_MS + 1),
    change('pattern_flagged', 'stagnation', 'warn'),
    change('pattern_flagged', 'identical_call', 'strong'),
    change('pattern_flagged', 'ping_pong', 'strong'),
    change('pattern_cleared', 'ping_pong', 'strong'),
    { kind: 'deadline_set', deadline_at_unix_ms: NOW_MS + 720_000 },
  );
  const status = runStatus(summary, changes, NOW_MS);
  expect(status).toMatchObject({ pattern: { kind: 'identical_call', level: 'strong' }, leftMs: 720_000 });
  expect(statusText(status)).toBe(
    'cox 1,234 calls, 1 error, stuck for sure: the same call with the same result, 12 minutes left',
  );
});

test('the status names a silence of two minutes of a run without an end', () => {
  const silent = (ms: number, outcome?: string): string =>
    statusText(runStatus({ ...summary, ...(outcome === undefined ? {} : { outcome }) }, [], NOW_MS + ms));
  expect(silent(240_000)).toBe('cox 1,234 calls, 1 error, no record for 4 minutes');
  expect(silent(60_000)).toBe('cox 1,234 calls, 1 error');
  expect(silent(240_000, 'ended')).not.toContain('no record');
});

test('the status says that a run spends faster than sessions do', () => {
  const message = {
    role: 'assistant',
    content: '',
    usage: { input_tokens: 1, output_tokens: 1, cost_usd: 8 },
  } as const;
  const answer: TrajectoryPayload = { kind: 'message_appended', message };
  const status = runStatus({ ...summary, lastAtMs: NOW_MS }, records(answer, answer), NOW_MS);
  expect(statusText(status)).toContain(', spent $16.00 in 10 minutes');
  expect(runStatus({ ...summary, lastAtMs: NOW_MS }, records(answer), NOW_MS).runaway).toBeNull();
});

test('the status shows a removed deadline, a passed one and the end of the run', () => {
  expect(runStatus(summary, records(started(NOW_MS), { kind: 'deadline_set' }), NOW_MS).leftMs).toBeNull();
  expect(statusText(runStatus(summary, records(started(NOW_MS - 90_000)), NOW_MS))).toContain('90 seconds over time');
  const ended = runStatus({ ...summary, outcome: 'limit' }, records(started(NOW_MS + 9)), NOW_MS);
  expect(statusText(ended)).toBe('cox 1,234 calls, 1 error, stopped by a limit');
});

test('the status has the cost of a run whose answers are all read and priced', () => {
  const answer = (model_id: string): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'assistant', content: '', model_id, usage: { input_tokens: 1_000_000, output_tokens: 100_000 } },
  });
  const cheap = { ...summary, lastSeq: 8 };
  const status = runStatus(cheap, records(answer('gpt-5.2'), answer('gpt-5.2')), NOW_MS);
  expect(status.costUsd).toBeCloseTo(2 * (1.75 + 1.4));
  expect(statusText(status)).toBe(
    'cox 1,234 calls, 1 error, 2,200,000 tokens, $6.30, context 1,000,000 (250 % of the window)',
  );
  expect(runStatus(cheap, records(answer('gpt-5.2'), answer('no-such-model')), NOW_MS).costUsd).toBeNull();
  expect(runStatus({ ...summary, lastSeq: 2_065 }, records(answer('gpt-5.2')), NOW_MS).costUsd).toBeNull();
  expect(runStatus(summary, [], NOW_MS).costUsd).toBeNull();
});

test('a template keeps unknown names and is safe for a terminal', () => {
  const status = runStatus(summary, [], NOW_MS);
  expect(formattedStatus('{run}|{task}|{pattern}|{calls}/{errors}|{other}|$1', status)).toBe(
    'run-1|fix⏎it||1234/1|{other}|$1',
  );
  expect(formattedStatus('{calls}', undefined)).toBe('');
  expect(statusText(undefined)).toBe('cox: no run');
});

test('the status has the tokens, the cost and the context of the last answer', () => {
  const answer = (input: number, cached: number): TrajectoryPayload => ({
    kind: 'message_appended',
    message: {
      role: 'assistant',
      content: '',
      model_id: 'claude-sonnet-4-5',
      usage: { input_tokens: input, output_tokens: 100, cache_read_tokens: cached },
    },
  });
  const status = runStatus(summary, records(answer(1_000, 0), answer(500, 40_000)), NOW_MS);
  expect(status).toMatchObject({ tokens: 41_700, contextTokens: 40_500 });
  expect(statusText(status)).toBe(
    'cox 1,234 calls, 1 error, 41,700 tokens, $0.019, context 40,500 (20 % of the window)',
  );
  expect(formattedStatus('{tokens} {cost} {context}', status)).toBe('41,700 $0.019 40,500 (20 % of the window)');
  // As in the report, the total of a process that went on after a killed one is not that of the session.
  const ended = { kind: 'run_ended', outcome: 'ended', new_messages: [], usage: { cost_usd: 0.001 } } as const;
  const begun = { ...started(NOW_MS), host: 'claude-code' } as TrajectoryPayload;
  const resumed = records(begun, answer(1_000, 0), answer(500, 40_000), ended);
  expect(runStatus(summary, resumed, NOW_MS).costUsd).toBe(status.costUsd);
  const long = runStatus({ ...summary, lastSeq: 10_000 }, records(answer(1_000, 0)), NOW_MS);
  expect(long).toMatchObject({ tokens: null, costUsd: null, contextTokens: 1_000 });
});
