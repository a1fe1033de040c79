import { expect, test } from 'vitest';

import { LastActFold, questionIn } from './last-act.ts';
import type { RunCall } from './run-call.ts';

test.each([
  ['All tests pass. Want me to push and open a PR?', 'Want me to push and open a PR?'],
  ['The config has two owners.\nWhich one stays, **a** or `b`?', 'Which one stays, a or b?'],
  ['Should I use 19% or 20%? Just let me know!', 'Should I use 19% or 20%?'],
  [
    'All checked.\n\nWould you like me to:\n1. Fix A\n2. Fix B\n3. Something else?',
    'Would you like me to: 1. Fix A 2. Fix B 3. Something else?',
  ],
  [
    'Two ways are left. Which one do you prefer?\n\n- keep it\n- drop it',
    'Two ways are left. Which one do you prefer? - keep it - drop it',
  ],
  [
    'I can close the issue: it is a duplicate of #12. Want me to?',
    'I can close the issue: it is a duplicate of #12. Want me to?',
  ],
  ['Done. Should I add a page (e.g. common errors)?', 'Should I add a page (e.g. common errors)?'],
  ['手順を確認しました。動作検証します。やりますか？', '動作検証します。 やりますか？'],
])('%j ends with a question', (text, question) => {
  expect(questionIn(text)).toBe(question);
});

test.each([
  'Done. Anything else you need help with before you switch machines?',
  'All of it is in place. Is there anything else you would like to automate?',
  "Is there anything you'd like to add to the file or change?",
  'Anything else on the list? We could do the docs. Just let me know!',
  'The page is up. Do you have any other questions?',
  'The migration is done. What would you like to work on next?',
  'Why did it fail? The port was taken.',
  '**What changed?**\n- the port\n- the host',
])('%j asks nothing that a person must answer', (text) => {
  expect(questionIn(text)).toBeUndefined();
});

test('a long question is cut at its beginning, and says so', () => {
  const question = questionIn(`Do you want ${'this and '.repeat(40)}that?`);
  expect(question).toHaveLength(200);
  expect(question).toMatch(/^….*that\?$/);
});

const RUNS_ON = 'Wall time: 30 seconds\nProcess running with session ID 13724\nOutput:\n';

function stateAfter(...calls: readonly (readonly [args: Record<string, string | number>, result?: string])[]) {
  const fold = new LastActFold();
  const record = { run_id: 'r', depth: 0, seq: 1, schema_version: 1, recorded_at_unix_ms: 1 } as const;
  for (const [index, [args, result]] of calls.entries()) {
    const id = `c${index}`;
    const tool = 'cmd' in args ? 'exec_command' : 'write_stdin';
    const call: RunCall = {
      number: index + 1,
      id,
      tool,
      args,
      seq: 1,
      startLost: false,
      resultMissing: false,
      failed: result?.includes('130') === true,
    };
    const named = { tool_call_id: id, tool_name: tool };
    fold.fold({ ...record, payload: { kind: 'tool_started', ...named, args } }, call);
    if (result === undefined) continue;
    fold.fold({ ...record, payload: { kind: 'tool_ended', ...named, result, is_error: call.failed } }, call);
  }
  return fold.state;
}

test('input for a command that runs on is named by this command', () => {
  const state = stateAfter([{ cmd: 'git commit -m "x"' }, RUNS_ON], [{ session_id: 13_724, chars: '' }]);
  expect(state).toMatchObject({ isRunning: true, call: 'git commit -m "x"' });
});

test('a server that the agent stops itself is no failed call', () => {
  const stop = { session_id: 13_724, chars: '\u0003' };
  const state = stateAfter([{ cmd: 'npm run dev' }, RUNS_ON], [stop, 'Process exited with code 130']);
  expect(state.call).toBe('npm run dev');
  expect(state.failedCall).toBeUndefined();
});
