import { expect, test } from 'vitest';

import type { RunFacts } from './run-facts.ts';
import { RunFactsFold } from './run-facts-fold.ts';
import { judgedWith } from './subagent-work.ts';
import type { RunVerdict } from './run-verdict.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { scriptRun } from '../../../test/support/script-records.ts';

const delegates = called('Task', { prompt: 'Do the rest.' }, 'done');
const edits = called('Write', { file_path: 'src/a.ts', content: 'a' }, 'File created');
const said: TrajectoryPayload = { kind: 'message_appended', message: { role: 'assistant', content: 'Done.' } };

function called(tool: string, args: { readonly [name: string]: string }, result: string, isError = false) {
  return [
    { kind: 'tool_started', tool_call_id: tool, tool_name: tool, args },
    { kind: 'tool_ended', tool_call_id: tool, tool_name: tool, result, is_error: isError },
  ] as const satisfies readonly TrajectoryPayload[];
}

function tests(passes = true, command = 'npm test') {
  return called('Bash', { command }, passes ? '3 passed' : '1 failed, 2 passed', !passes);
}

function factsOf(id: string, startMs: number, ...work: readonly (readonly TrajectoryPayload[])[]): RunFacts {
  const fold = new RunFactsFold(id);
  for (const record of scriptRun(id, [...work.flat(), said], { startMs })) fold.fold(record);
  return fold.facts(startMs + 60_000);
}

/** The verdict of a session that began at 1,000 ms, with that of a subagent that began at this time. */
function judged(session: readonly (readonly TrajectoryPayload[])[], atMs: number, ...work: typeof session): RunVerdict {
  return judgedWith(factsOf('s', 1_000, delegates, ...session), [factsOf('s/agent', atMs, ...work)]).verdict;
}

test('an edit of a subagent after the last check of its session takes the verdict that it worked away', () => {
  expect(judged([tests()], 500, edits).verdict).toBe('worked');
  expect(judged([tests()], 2_000, edits)).toMatchObject({
    verdict: 'answered',
    evidence:
      'it answered; its last check (call 2, npm test) passed before its last change (call 1 of a subagent, src/a.ts)',
  });
});

test('a check of a subagent after the last change of its session stands for the session', () => {
  expect(judged([edits], 2_000, tests())).toMatchObject({
    verdict: 'worked',
    evidence: 'it answered, and its last check (call 1 of a subagent, npm test) passed',
  });
  expect(judged([edits], 2_000, tests(), edits).verdict).toBe('answered');
  expect(judged([edits], 500, tests()).verdict).toBe('answered');
  expect(judged([edits, called('Bash', { command: 'git push' }, 'rejected', true)], 2_000, tests())).toMatchObject({
    verdict: 'answered',
    why: 'its last call (call 3, git push) failed after its last check had passed',
  });
});

test('a check that failed in a subagent counts until the same one, or one that includes it, passes later', () => {
  expect(judged([tests()], 2_000, tests(false))).toMatchObject({
    verdict: 'answered',
    cause: 'check',
    why: '1 failed, 2 passed; npm test failed in a subagent',
  });
  expect(judged([tests(true, 'npm run lint')], 500, tests(false)).cause).toBe('check');
  expect(judged([tests()], 500, tests(false)).verdict).toBe('worked');
  const failing = [tests(false), called('Bash', { command: 'git status' }, 'clean')];
  expect(judged(failing, 2_000, tests()).verdict).toBe('worked');
  expect(judged(failing, 2_000, tests(true, 'npm run lint'))).toMatchObject({
    cause: 'check',
    why: '1 failed, 2 passed; npm test failed',
  });
});

test('a session without a subagent that checked or changed anything keeps its verdict', () => {
  const session = factsOf('s', 1_000, tests(), delegates);
  expect(judgedWith(session, [factsOf('s/agent', 2_000)])).toBe(session);
  const alone = factsOf('s', 1_000, tests());
  expect(judgedWith(alone, [factsOf('s/agent', 2_000, edits)])).toBe(alone);
});
