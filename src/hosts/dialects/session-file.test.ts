import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { endWithTest } from '../../../test/support/end-with-test.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { claudeCodeImporter } from '../../formats/claude-code/claude-code-import.ts';
import { codexRolloutImporter } from '../../formats/codex/codex.ts';
import { copilotImporter } from '../../formats/copilot/copilot.ts';
import type { LineImporter } from '../../formats/importer.ts';
import { readSession, waitForTexts } from './session-file.ts';

const EVENT_MS = Date.UTC(2026, 10, 23, 16);

const linesOf = (entries: readonly (object | string)[]): string =>
  entries.map((entry) => (typeof entry === 'string' ? entry : `${JSON.stringify(entry)}\n`)).join('');

function written(...entries: readonly (object | string)[]): string {
  const path = join(testFolder(), 's1.jsonl');
  writeFileSync(path, linesOf(entries));
  return path;
}

const partOf = (path: string, importer: LineImporter = claudeCodeImporter) =>
  readSession({ path, importer, sessionId: 's1' }, () => false);
const endingOf = (path: string) => partOf(path).ending;

const at = (seconds: number): string => new Date(EVENT_MS + seconds * 1_000).toISOString();
const entry = (type: string, message: object) => ({ type, sessionId: 's1', timestamp: at(1), message });
const answered = entry('assistant', {
  id: 'm2',
  content: [{ type: 'text', text: 'Done.' }],
  stop_reason: 'end_turn',
});
const called = entry('assistant', { id: 'm1', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }] });
const result = entry('user', { content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] });
const maxTurns = { type: 'attachment', attachment: { type: 'max_turns_reached', maxTurns: 4 }, sessionId: 's1' };

test('the last word of the main thread decides how a session of Claude Code ended', () => {
  expect(endingOf(written(called, result, answered))).toEqual({ outcome: 'ended', reason: 'answered' });
  expect(endingOf(written(called, result, maxTurns))?.reason).toBe('turn_limit');
  // No person stopped it: that is written.
  const killed = { outcome: 'aborted', reason: 'killed' };
  expect(endingOf(written(called, result, { ...answered, isSidechain: true, agentId: 'x' }))).toEqual(killed);
  expect(endingOf(written(called, result))).toEqual(killed);
  const esc = entry('user', { content: [{ type: 'text', text: '[Request interrupted by user]' }] });
  expect(endingOf(written(called, result, esc))).toEqual({ outcome: 'aborted', reason: 'interrupted' });
});

test('of a long file the end is read, whose first line is cut, and a line without an end waits', () => {
  const long = entry('user', { content: 'x'.repeat(300_000) });
  expect(endingOf(written(long, answered, '{"half'))?.reason).toBe('answered');
});

test('a fork is known by the first line of a long file, and what it copies is not its own', () => {
  const own = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'own' }] };
  const path = written(
    { type: 'session_meta', payload: { id: '019a2000-0000-7000-8000-0000000000bb', forked_from_id: 'x' } },
    { type: 'response_item', payload: { ...own, content: [{ type: 'output_text', text: 'x'.repeat(300_000) }] } },
    { type: 'response_item', payload: own },
    { type: 'turn_context', payload: { turn_id: '019a2000-1111-7000-8000-000000000002', model: 'm' } },
    { type: 'response_item', payload: own },
  );
  expect(partOf(path, codexRolloutImporter).answers.map(({ text }) => text)).toEqual(['own']);
});

test('what is no file, or says nothing, gives no answers and no end', () => {
  const path = written('no JSON');
  mkdirSync(`${path}-folder`);
  for (const one of [path, `${path}-none`, `${path}-folder`]) expect(partOf(one)).toEqual({ answers: [] });
});

const line = (type: string, seconds: number, data: object = {}) => ({ type, data, timestamp: at(seconds) });

test('the answer of Copilot CLI is read once its file has reached the event, which may be after the hook began', () => {
  const path = written(line('assistant.message', -0.9, { messageId: 'a', content: 'I list the files.' }));
  const rest = linesOf([
    line('assistant.message', -0.1, { messageId: 'b', content: 'All done.' }),
    line('hook.start', 0.1),
  ]);
  const append = `setTimeout(() => require('fs').appendFileSync(${JSON.stringify(path)}, ${JSON.stringify(rest)}), 50)`;
  endWithTest(spawn(process.execPath, ['-e', append]));
  const { answers } = readSession(
    { path, importer: copilotImporter, sessionId: 's1', writtenUntilMs: EVENT_MS },
    () => false,
  );
  expect(answers.at(-1)?.text).toBe('All done.');
});

test('a wait for texts ends with the last of them, after 100 ms without it, and at once without a file', () => {
  const waitedFor = (path: string, comes: (waitedMs: number) => string): number => {
    let waitedMs = 0;
    waitForTexts(path, ['one', 'two'], (ms) => {
      waitedMs += ms;
      appendFileSync(path, comes(waitedMs));
    });
    return waitedMs;
  };
  expect(waitedFor(written('one two'), () => '')).toBe(0);
  expect(waitedFor(written('one '), (waitedMs) => (waitedMs >= 30 ? 'two' : '.'))).toBe(30);
  expect(waitedFor(written('one '), () => '.')).toBe(100);
  expect(waitedFor(join(testFolder(), 'none'), () => '')).toBe(0);
});

test('only the file of Copilot CLI says that the program has ended', () => {
  const said = line('assistant.message', 1, { messageId: 'a', content: 'All done.' });
  const ended = (...entries: readonly object[]) => partOf(written(said, ...entries), copilotImporter).hasEnded;
  expect([ended(), ended(line('session.shutdown', 2, { shutdownType: 'routine' }))]).toEqual([undefined, true]);
  expect(partOf(written(called, result, answered)).hasEnded).toBeUndefined();
});

test('the total of a fork, which includes its original, is no cost of its own, also where only the end is read', () => {
  const cost = { type: 'cost-state', sessionId: 's1', totalCostUSD: 1.25 };
  const long = entry('user', { content: [{ type: 'tool_result', tool_use_id: 'b', content: 'x'.repeat(30_000) }] });
  const isKnown = (): boolean => true;
  const copied = { ...called, requestSessionId: 's0', uuid: 'u0' };
  const own = { ...answered, requestSessionId: 's1' };
  const asked = entry('user', { content: 'Go.' });
  const costOf = (first: object): number | undefined =>
    readSession(
      { path: written(asked, first, long, own, cost), importer: claudeCodeImporter, sessionId: 's1' },
      isKnown,
    ).costUsd;
  expect(costOf({ ...called, requestSessionId: 's1' })).toBe(1.25);
  expect(costOf(copied)).toBeUndefined();
});
