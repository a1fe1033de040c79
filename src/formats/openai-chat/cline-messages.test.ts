import { expect, test } from 'vitest';
import { importDocument } from '../../../test/support/import-check.ts';
import { openaiChatImporter } from './openai-chat.ts';

const text = (value: string) => ({ type: 'text', text: value });
const editor = text('<environment_details>\n# Current Mode\nACT MODE\n</environment_details>');
const metrics = { tokens: { prompt: 900, completion: 40, cached: 700 }, cost: 0.02 };
const answer = (content: readonly object[], ts: number) => ({
  role: 'assistant',
  content,
  ts,
  modelInfo: { modelId: 'model-x' },
  metrics,
});
const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const task = { role: 'user', ts: 1_777_000_000_000, content: [text('<task>\nCount the rows.\n</task>'), editor] };
const kindsOf = (messages: readonly object[]) => {
  const [run] = importDocument(openaiChatImporter, messages).runs;
  return {
    run,
    roles: run?.payloads.flatMap((one) => (one.kind === 'message_appended' ? [one.message.role] : [])),
  };
};

test('results that Cline writes as text belong to the calls of their names, and only its own words are the user’s', () => {
  const { run, roles } = kindsOf([
    task,
    answer([use('a', 'read_file', { path: 'x' }), use('b', 'execute_command', { command: 'wc x' })], 1_777_000_001_000),
    {
      role: 'user',
      ts: 1_777_000_002_000,
      content: [
        text("[execute_command for 'wc x'] Result:"),
        text('Command failed with exit code 2.\nOutput:\nno such file'),
        text("[read_file for 'x'] Result:\nThe user denied this operation.\n<feedback>\nRead y.\n</feedback>"),
        editor,
      ],
    },
    answer([text('Done.')], 1_777_000_003_000),
  ]);
  expect(run?.run).toMatchObject({ task: 'Count the rows.' });
  expect(run?.ends.map((end) => [end.tool_name, end.is_error, end.outcome])).toEqual([
    ['execute_command', true, undefined],
    ['read_file', true, 'refused'],
  ]);
  expect(roles).toEqual(['user', 'system', 'assistant', 'user', 'system', 'assistant']);
  expect(
    run?.payloads.find((one) => one.kind === 'message_appended' && one.message.role === 'assistant'),
  ).toMatchObject({
    message: {
      model_id: 'model-x',
      usage: { input_tokens: 900, output_tokens: 40, cache_read_tokens: 700, cost_usd: 0.02 },
    },
  });
  expect(run?.atMs.at(-1)).toBe(1_777_000_003_000);
});

test('a command that Cline leaves running has not failed', () => {
  const { run } = kindsOf([
    task,
    answer([use('a', 'execute_command', { command: 'npm start' })], 1_777_000_001_000),
    {
      role: 'user',
      content: [
        text("[execute_command for 'npm start'] Result:"),
        text('Command timed out after 30 seconds. Running in background.\nLog file: /tmp/x.log'),
      ],
    },
  ]);
  expect(run?.ends.map((end) => end.is_error)).toEqual([false]);
});

test('a call that the model writes as XML in its text is a call', () => {
  const call =
    'I look.\n\n<execute_command>\n<command>ls <dir></command>\n<requires_approval>false</requires_approval>\n</execute_command>';
  const { run } = kindsOf([
    task,
    { role: 'assistant', content: [text(call)] },
    {
      role: 'user',
      content: [text("[execute_command for 'ls <dir>'] Result:\nCommand executed.\nOutput:\nx"), editor],
    },
  ]);
  expect(run?.calls.map((one) => [one.tool_name, one.args])).toEqual([
    ['execute_command', { command: 'ls <dir>', requires_approval: 'false' }],
  ]);
  expect(run?.ends.map((end) => [end.result, end.is_error])).toEqual([['Command executed.\nOutput:\nx', false]]);
});

test('a list without a description of the editor is read as it is', () => {
  const { run } = kindsOf([
    { role: 'user', content: [text('<task>x</task>')] },
    { role: 'assistant', content: [text('<read_file>\n<path>x</path>\n</read_file>')] },
  ]);
  expect(run?.calls).toEqual([]);
  expect(run?.run.task).toBe('<task>x</task>');
});

test.each(['findstr /s foo *.ts', 'grep -rn foo src'])(
  'a search of Cline that found nothing is no failure: %s',
  (command) => {
    const { run } = kindsOf([
      task,
      answer([use('a', 'execute_command', { command })], 1_777_000_001_000),
      {
        role: 'user',
        ts: 1_777_000_002_000,
        content: [
          text(`[execute_command for '${command}'] Result:`),
          text('Command failed with exit code 1.\nOutput:\n'),
          editor,
        ],
      },
      answer([text('Done.')], 1_777_000_003_000),
    ]);
    expect(run?.ends.map((end) => end.is_error)).toEqual([false]);
  },
);
