import { expect, test } from 'vitest';

import { createFakeClock } from '../../../testing/fake-clock.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import { createCoxswain } from '../../run/coxswain.ts';
import { standardSteering } from '../standard-steering.ts';
import { patternSentences } from './pattern-feedback.ts';

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

/** The text for an agent that makes one call four times and always gets this result. */
function adviceOn(result: string): string {
  const cox = createCoxswain({ ...standardSteering(), clock: createFakeClock() });
  const run = cox.startRun({ runId: 'run' });
  const texts: string[] = [];
  for (let index = 0; index < 4; index += 1) {
    const call = { toolCallId: `c${index}`, toolName: 'bash' };
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', ...call, args: { command: 'python3 count.py' } });
    run.emit({ type: 'tool_execution_end', ...call, result, isError: false });
    texts.push(...run.advise('post_tool_result').map(({ text }) => text));
  }
  return texts.join('\n');
}

test.each(['The 0', 'Number of files: 0'])('the count %j is an output, and no rejection', (result) => {
  expect(adviceOn(result)).toContain('You made the same call of bash');
  expect(adviceOn(result)).not.toContain('rejection');
});

test('a result that says what the call does not meet is a rejection', () => {
  expect(adviceOn('Test case did not pass. Please try again.')).toContain('rejection');
});
