import { costGrowth, MOST_LINEAR_GROWTH } from '../../../test/support/cost-growth.ts';
import { expect, test } from 'vitest';

import { importLines } from '../../../test/support/import-check.ts';
import { aiderImporter } from './aider.ts';

const START = ['# aider chat started at 2026-11-03 09:15:02', '> Model: m with diff edit format  '];
const BLOCK = ['a.py', '```', '<<<<<<< SEARCH', 'a', '=======', 'b', '>>>>>>> REPLACE', '```'];

function runsOf(...lines: readonly string[]): ReturnType<typeof importLines>['runs'] {
  return importLines(aiderImporter, [...START, '', ...lines]).runs;
}

test('a session without a prompt, with commands for Aider only, is no run', () => {
  expect(
    runsOf('#### /add a.py  ', '> Added a.py to the chat  ', '', '#### /run npm test  ', '', '#### <blank>  '),
  ).toEqual([]);
});

test.each([
  ['an applied edit', ['> Applied edit to a.py  '], [[false, undefined]]],
  ['an edit that the user refused', ['> Skipping edits to a.py  '], [[true, 'refused']]],
  [
    'an edit in a form that Aider does not know',
    ['> The LLM did not conform to the edit format.  ', '> No filename provided before ``` in file listing  '],
    [[true, undefined]],
  ],
  [
    'an exception while files were written',
    ['> Exception while updating files:  ', "> [Errno 13] Permission denied: 'a.py'  "],
    [[true, undefined]],
  ],
  ['no edit, if Aider says nothing of it,', [], []],
])('%s has the result that Aider states', (_name, lines, ends) => {
  const [run] = runsOf('#### Go.  ', '', ...BLOCK, '', '> Tokens: 10 sent, 2 received.  ', ...lines);
  expect(run?.ends.map((end) => [end.is_error, end.outcome])).toEqual(ends);
});

test('files that Aider wrote from a form without blocks are edits, and a commit is a call', () => {
  const [run] = runsOf(
    '#### Go.  ',
    '',
    'a.py',
    '```',
    'x',
    '```',
    '',
    '> Applied edit to a.py  ',
    '> Commit 1b2614a fix: a  ',
  );
  expect(run?.calls.map(({ tool_name, args }) => [tool_name, args])).toEqual([
    ['edit', { path: 'a.py' }],
    ['git', { command: 'git commit' }],
  ]);
});

test.each([
  ['an answer', ['Done.'], 'ended', 'answered'],
  ['an interruption', ['Done', '', '>  ', '> ^C KeyboardInterrupt  '], 'aborted', 'interrupted'],
  [
    'an answer that was stopped',
    ['> ^C again to exit  ', '', 'I chan', '', '> ^C again to exit  ', '#### /exit  '],
    'aborted',
    'interrupted',
  ],
  [
    'leaving after an answer',
    ['Done', '', '> Tokens: 10 sent, 2 received.  ', '> ^C KeyboardInterrupt  '],
    'ended',
    'answered',
  ],
  [
    'leaving at a command',
    ['Done', '', '> Tokens: 10 sent, 2 received.  ', '#### /diff  ', '> ^C KeyboardInterrupt  '],
    'ended',
    'answered',
  ],
  ['leaving after an error', ['> litellm.NotFoundError: no  ', '> ^C KeyboardInterrupt  '], 'error', undefined],
  ['its limit of corrections', ['No.', '', '> Only 3 reflections allowed, stopping.  '], 'limit', 'turn_limit'],
  ['an error of the model', ['> litellm.AuthenticationError: no key  '], 'error', undefined],
  ['an error within an answer', ['I chan', '', '> litellm.Timeout: late  '], 'error', undefined],
  ['an answer after an error', ['> litellm.Timeout: late  ', '', 'Done.'], 'ended', 'answered'],
  ['nothing', [], undefined, undefined],
])('a session that ends with %s has that ending', (_name, lines, outcome, reason) => {
  const [run] = runsOf('#### Go.  ', '', ...lines);
  const end = run?.payloads.find((payload) => payload.kind === 'run_ended');
  expect([end?.outcome, end?.reason]).toEqual([outcome, reason]);
});

test('the plan that Aider hands to its editor model, and errors that it hands back, are not the user', () => {
  const [run] = runsOf(
    '#### /architect Go.  ',
    '',
    'The plan.',
    '',
    '#### The plan.  ',
    '',
    'Done.',
    '',
    '#### # Fix any errors below, if possible.  ',
  );
  const roles = run?.payloads.flatMap((payload) => (payload.kind === 'message_appended' ? [payload.message.role] : []));
  expect(run?.run.task).toBe('Go.');
  expect(roles).toEqual(['user', 'assistant', 'system', 'assistant', 'system']);
});

test('tokens, with those of the cache on a second line with the cost, belong to the answer', () => {
  const [run] = runsOf(
    '#### Go.  ',
    '',
    'Done.',
    '',
    '> Tokens: 12k sent, 1.5k cache write, 9,000 cache hit, 120 received.',
    'Cost: $0.0123 message, $0.02 session.  ',
  );
  const answer = run?.payloads.find(
    (payload) => payload.kind === 'message_appended' && payload.message.role === 'assistant',
  );
  expect(answer).toMatchObject({
    message: {
      content: 'Done.',
      usage: {
        input_tokens: 12_000,
        output_tokens: 120,
        cache_write_tokens: 1_500,
        cache_read_tokens: 9_000,
        cost_usd: 0.0123,
      },
    },
  });
});

test('paths of Windows are those of the blocks', () => {
  const block = ['src/a.py', ...BLOCK.slice(1)];
  const [run] = runsOf(
    '#### Go.  ',
    '',
    ...block,
    ...block.map((line) => (line === 'a' ? 'c' : line)),
    '> The LLM did not conform to the edit format.  ',
    '> # 1 SEARCH/REPLACE block failed to match!',
    String.raw`## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in src\a.py`,
    ...BLOCK.slice(2, 7),
    '# The other 1 SEARCH/REPLACE block were applied successfully.  ',
    '',
    ...block,
    String.raw`> Applied edit to src\a.py  `,
  );
  expect(run?.ends.map((end) => end.is_error)).toEqual([true, false, false]);
});

test('a prompt behind a command, which Aider writes twice, is one; an answer of nothing has its tokens', () => {
  const [run] = runsOf(
    '#### /ask Why?  ',
    '',
    '#### Why?  ',
    '',
    '> Tokens: 275k sent, 0 received.  ',
    '',
    '#### Why?  ',
  );
  const messages = run?.payloads.flatMap((one) => (one.kind === 'message_appended' ? [one.message] : []));
  expect(messages?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(messages?.[1]).toMatchObject({ usage: { input_tokens: 275_000, output_tokens: 0 } });
});

test('a history whose trailing spaces an editor removed has the same turns', () => {
  const { runs } = importLines(aiderImporter, [
    START[0],
    '> Model: m with diff edit format',
    '',
    '#### Go.',
    '',
    ...BLOCK,
    '',
    '> Applied edit to a.py',
  ]);
  expect(runs.map(({ run, ends }) => [run.task, ends.map((end) => end.is_error)])).toEqual([['Go.', [false]]]);
});

test('time grows with the number of edits, failed blocks and lines, not with its square', () => {
  const work = (factor: number): void => {
    const count = 125 * factor;
    const blocks = Array.from({ length: count }, () => BLOCK).flat();
    const sections = Array.from({ length: count }, () => [
      '## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in a.py',
      ...BLOCK.slice(2),
    ]).flat();
    const lines = [
      ...START,
      '#### Go.  ',
      ...blocks,
      '> The LLM did not conform to the edit format.  ',
      '> # failed',
      ...sections,
    ];
    expect(importLines(aiderImporter, [...lines, 'end  ']).runs[0]?.ends.filter((end) => end.is_error)).toHaveLength(
      count,
    );
  };
  expect(costGrowth(work)).toBeLessThan(MOST_LINEAR_GROWTH);
});
