import { expect, test } from 'vitest';

import type { TrajectoryPattern } from '../src/core/records/trajectory-pattern.ts';
import { type CallEvent, type LiveEvent, liveLines } from '../src/cli/runs/live-event.ts';
import { PatternChanges } from '../src/cli/commands/demo/sample-run.ts';

const plain = { paint: (_style: string, text: string) => text, width: 60, wrap: true };

test.each([20, 40, 60, 200])('a call fits a line of %i columns, with what failed', (width) => {
  const call: CallEvent = {
    type: 'call',
    number: 13,
    tool: 'bash',
    call: `bash ${'make '.repeat(60)}`,
    failed: true,
    error: 'no rule to make target all '.repeat(20),
  };
  for (const event of [call, { ...call, failed: false }, { ...call, missing: true as const }]) {
    const lines = liveLines(event, { ...plain, width });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThanOrEqual(Math.max(width, 40));
    expect(lines[0]).toMatch(/^ {2}#13 bash/);
  }
  expect(liveLines(call, { ...plain, width })[0]).toContain('×');
});

test('advice is broken at blanks, keeps its empty lines, and cannot move the cursor', () => {
  const text = `[Feedback - X]\n\n${'word '.repeat(20).trim()}\n\u001b[2Jend`;
  const advice: LiveEvent = {
    type: 'advice',
    source: 'feedback',
    provider: 'X',
    severity: 'info',
    point: 'post_tool_result',
    text,
  };
  const lines = liveLines(advice, plain);
  expect(lines.slice(0, 3)).toEqual(['    ▸ X feedback, info', '    │ [Feedback - X]', '    │']);
  expect(lines.at(-1)).toBe('    │ end');
  expect(lines.every((line) => line.length <= 60)).toBe(true);
  expect(liveLines(advice, { ...plain, wrap: false })).toHaveLength(5);
});

test('a pattern is reported when it is flagged, gets worse, is left, and returns', () => {
  const flagged: TrajectoryPattern = {
    kind: 'identical_call',
    identity: 'identical_call:a',
    stuck: true,
    level: 'warn',
    confidence: 0.8,
    evidence: [1, 2, 3],
    firstSeen: 1,
    flaggedAt: 3,
    occurrences: 3,
  };
  const changes = new PatternChanges();
  const changesOf = (...patterns: readonly TrajectoryPattern[]) => changes.take(patterns).map(({ change }) => change);
  expect(changesOf({ ...flagged, level: 'hint', flaggedAt: null })).toEqual([]);
  expect(changesOf(flagged)).toEqual(['flagged']);
  expect(changesOf({ ...flagged, occurrences: 4 })).toEqual([]);
  const strong: TrajectoryPattern = { ...flagged, level: 'strong' };
  expect(changesOf(strong)).toEqual(['raised']);
  const left = { ...strong, clearedAt: 9 };
  expect(changesOf(left)).toEqual(['cleared']);
  expect(changesOf(left, { ...flagged, firstSeen: 12, flaggedAt: 14 })).toEqual(['flagged']);
});
