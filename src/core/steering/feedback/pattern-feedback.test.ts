import { expect, test } from 'vitest';

import { createFakeClock } from '../../../testing/fake-clock.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import { createCoxswain } from '../../run/coxswain.ts';
import { standardSteering } from '../standard-steering.ts';
import { PATTERN_WORDS } from '../../records/pattern-words.ts';
import { FACT_REMEDIES, patternSentences } from './pattern-feedback.ts';

const PATTERN: TrajectoryPattern = {
  kind: 'repeated_error',
  identity: 'x',
  stuck: true,
  level: 'warn',
  confidence: 0.8,
  tool: 'edit',
  evidence: [30, 31],
  firstSeen: 28,
  flaggedAt: 30,
  occurrences: 4,
};

test('calls of a pattern of which only the last are known are named as the last', () => {
  const summary = (pattern: TrajectoryPattern): string => patternSentences(pattern, { tool: 'edit' }).summary;
  expect(summary(PATTERN)).toMatch(/^4 calls of edit failed in the same way \(the last: calls 31 and 32\)\./);
  expect(summary({ ...PATTERN, occurrences: 2 })).toMatch(/\(calls 31 and 32\)\./);
});

/** The text for an agent that makes one call again and again and gets these results. */
function adviceOn(results: readonly string[], toolName = 'bash', isError = false): string {
  const cox = createCoxswain({ ...standardSteering(), clock: createFakeClock() });
  const run = cox.startRun({ runId: 'run' });
  const texts: string[] = [];
  for (const [index, result] of results.entries()) {
    const call = { toolCallId: `c${index}`, toolName };
    run.emit({ type: 'turn_start' });
    const args = toolName === 'bash' ? { command: 'python3 count.py' } : { url: 'https://example.org' };
    run.emit({ type: 'tool_execution_start', ...call, args });
    run.emit({ type: 'tool_execution_end', ...call, result, isError });
    texts.push(...run.advise('post_tool_result').map(({ text }) => text));
  }
  return texts.join('\n');
}

const times = (result: (index: number) => string): readonly string[] =>
  Array.from({ length: 4 }, (_, at) => result(at));

test.each(['The 0', 'Number of files: 0'])('the count %j is an output, and no rejection', (result) => {
  expect(adviceOn(times(() => result))).toContain('You made the same call of bash');
  expect(adviceOn(times(() => result))).not.toContain('rejection');
});

test('a result that says what the call does not meet is a rejection', () => {
  expect(adviceOn(times(() => 'Test case did not pass. Please try again.'))).toContain('rejection');
});

test('results that are the answer in a time, an id or a duration are not called the same', () => {
  expect(adviceOn(times((at) => `2026-11-30T08:5${at}:00Z`))).toBe('');
  expect(adviceOn(times((at) => `Next free slot: 2026-12-0${at + 1} 10:30`))).toBe('');
});

test('advice says that results are the same apart from times only if they differ in them', () => {
  const lines = 'line of the log\n'.repeat(20);
  expect(adviceOn(times((at) => `${lines}at 2026-11-30T08:5${at}:00Z`))).toContain(
    'each with the same output apart from times and ids.',
  );
  expect(adviceOn(times(() => `${lines}at 2026-11-30T08:50:00Z`))).toContain('each with the same output.');
});

test('advice does not claim to know what a further call brings', () => {
  for (const kind of Object.keys(PATTERN_WORDS)) {
    const { suggestions, summary } = patternSentences({ ...PATTERN, kind });
    expect(`${summary} ${suggestions.join()}`).not.toMatch(/\bwill\b/);
  }
  expect(Object.values(FACT_REMEDIES).join()).not.toMatch(/\bwill\b/);
});

test('a tool without a name known before the run is left out of a sentence that would name it', () => {
  for (const kind of Object.keys(PATTERN_WORDS)) {
    const { summary } = patternSentences({ ...PATTERN, kind, answer: 'not-found' });
    expect(summary).not.toMatch(/call of one|: one/);
    expect(patternSentences({ ...PATTERN, kind }, { tool: 'one MCP tool' }).summary).not.toMatch(/call of one|: one/);
  }
});

test('only a shell is told to run a command in the background after a time-out', () => {
  const results = times(() => 'ETIMEDOUT');
  expect(adviceOn(results, 'bash', true)).toContain('Run it in the background');
  expect(adviceOn(results, 'http_get', true)).toContain('Ask for a smaller part of it');
});
