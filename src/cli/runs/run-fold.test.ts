import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { createRunFold } from './run-recorder.ts';

function reportOf(payloads: readonly TrajectoryPayload[], hints = false): RunFacts {
  const fold = createRunFold('r', { hints });
  for (const [seq, payload] of payloads.entries()) {
    fold.fold({ schema_version: 1, seq, run_id: 'r', depth: 0, recorded_at_unix_ms: seq * 1000, payload });
  }
  return fold.facts(0);
}

const started: TrajectoryPayload = {
  kind: 'run_started',
  identity: { run_id: 'r', depth: 0 },
  task: 'fix the build',
  source: 'a.json#r',
  format: 'calls',
};

function failing(count: number): readonly TrajectoryPayload[] {
  return Array.from({ length: count }, (_, index): readonly TrajectoryPayload[] => {
    const call = { tool_call_id: String(index), tool_name: 'bash' };
    return [
      { kind: 'turn_started' },
      { kind: 'tool_started', ...call, args: { command: 'make' } },
      { kind: 'tool_ended', ...call, result: 'make: *** No rule to make target', is_error: true },
    ];
  }).flat();
}

test('a report has the identity, the counts and the outcome of a run', () => {
  const ended: TrajectoryPayload = {
    kind: 'run_ended',
    outcome: 'limit',
    new_messages: [],
    success: false,
    reward: 0,
    labels: { split: 'dev' },
  };
  expect(reportOf([started, ...failing(2), ended])).toMatchObject({
    id: 'r',
    source: 'a.json#r',
    format: 'calls',
    task: 'fix the build',
    calls: 2,
    turns: 2,
    errors: 2,
    durationMs: 6000,
    ending: { success: false, reward: 0, outcome: 'limit', labels: { split: 'dev' } },
    strip: { cells: '××', callsPerColumn: 1 },
  });
});

test('hints are left out by default', () => {
  const payloads = [started, ...failing(2)];
  expect(reportOf(payloads).patterns).toEqual([]);
  expect(reportOf(payloads, true).patterns.map(({ level }) => level)).toContain('hint');
});

test('the first, the flagged and the last evidence call have previews, whatever the length of the run', () => {
  const { patterns, previews } = reportOf([started, ...failing(500)]);
  const pattern = patterns.find(({ stuck }) => stuck);
  expect(pattern?.evidence.at(-1)).toBe(499);
  for (const index of [pattern?.flaggedAt, 499]) {
    expect(previews[index ?? -1]).toEqual({
      call: 'bash {command: "make"}',
      error: expect.stringContaining('No rule to make target'),
    });
  }
});

test('a result without its call counts as a call', () => {
  const ended: TrajectoryPayload = {
    kind: 'tool_ended',
    tool_call_id: 'x',
    tool_name: 't',
    result: 'no',
    is_error: true,
  };
  expect(reportOf([started, ended])).toMatchObject({ calls: 1, errors: 1, strip: { cells: '×' } });
});

test('a report has the first 50 diagnostics and the number of the rest', () => {
  const fold = createRunFold('r', { source: 's' });
  for (let line = 1; line <= 60; line += 1) fold.diagnose({ severity: 'error', message: 'torn', line });
  const { diagnostics, source } = fold.facts(0);
  expect(diagnostics).toHaveLength(51);
  expect(diagnostics.at(-1)).toEqual({ severity: 'note', message: 'and 10 more' });
  expect(source).toBe('s');
});

test('a report names the first refused calls and why; a declined question is not one of them', () => {
  const refused = (id: string, command: string): readonly TrajectoryPayload[] => [
    { kind: 'tool_started', tool_call_id: id, tool_name: 'Bash', args: { command } },
    {
      kind: 'tool_ended',
      tool_call_id: id,
      tool_name: 'Bash',
      result: "Permission to use Bash has been denied because Claude Code is running in don't ask mode.",
      is_error: true,
      outcome: 'refused',
    },
  ];
  const asked: readonly TrajectoryPayload[] = [
    { kind: 'tool_started', tool_call_id: 'q', tool_name: 'AskUserQuestion', args: { question: 'Which?' } },
    {
      kind: 'tool_ended',
      tool_call_id: 'q',
      tool_name: 'AskUserQuestion',
      result: "The user doesn't want to proceed with this tool use.",
      is_error: true,
      outcome: 'refused',
    },
  ];
  const pushes = ['a', 'b', 'c', 'd'].flatMap((id) => refused(id, `cd /w && git push ${id}`));
  const { refused: count, refusedCalls } = reportOf([started, ...asked, ...pushes]);
  expect(count).toBe(5);
  expect(refusedCalls).toEqual(
    ['a', 'b', 'c'].map((id, index) => ({
      number: index + 2,
      call: `git push ${id}`,
      why: "Permission to use Bash has been denied because Claude Code is running in don't ask mode.",
    })),
  );
});
