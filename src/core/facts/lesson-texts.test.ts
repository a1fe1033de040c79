import { expect, test } from 'vitest';

import type { Json } from '../base/json.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { LessonTexts } from './lesson-texts.ts';

/** Returns the result of a call as lessons keep it. */
function resultOf(args: Json, result: string, isError = false): Json | undefined {
  const texts = new LessonTexts();
  const id = { tool_call_id: 'c', tool_name: 'Bash' };
  texts.keep({ kind: 'tool_started', ...id, args });
  const kept = texts.keep({ kind: 'tool_ended', ...id, is_error: isError, result });
  return kept.kind === 'tool_ended' ? kept.result : undefined;
}

function contentOf(role: 'user' | 'system' | 'assistant', content: string): unknown {
  const payload: TrajectoryPayload = { kind: 'message_appended', message: { role, content } };
  const kept = new LessonTexts().keep(payload);
  return kept.kind === 'message_appended' ? kept.message.content : undefined;
}

test.each([
  ['failed', { command: 'make' }, 'no rule', true],
  ['failed behind a pipe', { command: 'rtk bun | tail -5' }, 'error: unknown command "bun"', false],
  ['shows an instruction file', { file_path: '/w/CLAUDE.md' }, '1\tUse rtk.', false],
  ['began a program that runs on', { cmd: 'npm start' }, 'Process running with session ID 7', false],
  ['asked such a program', { session_id: 7, chars: '' }, 'ready', false],
])('the result of a call stays if it %s', (_case, args, result, isError) => {
  expect(resultOf(args, result, isError)).toBe(result);
});

test.each([
  ['a call that worked', { command: 'make | tail -5' }, 'done'],
  ['a file that is no instruction', { file_path: '/w/a.md' }, 'error: unknown command'],
])('the result of %s is left out', (_case, args, result) => {
  expect(resultOf(args, result)).toBe('');
});

test('messages are left out, except instruction files and the word that says that the agent has no work', () => {
  expect(contentOf('assistant', 'Contents of the file')).toBe('');
  expect(contentOf('user', 'do it')).toBe('');
  expect(contentOf('user', ' [Request interrupted by user]')).toBe('[Request interrupted');
  expect(contentOf('user', '<command-name>/exit</command-name>')).toBe('<command-');
  const given = 'Contents of /w/CLAUDE.md:\n\nUse rtk.';
  expect(contentOf('system', given)).toBe(given);
});
