import { expect, test } from 'vitest';

import { UsageFold } from '../../core/facts/usage-fold.ts';
import { allTokens } from '../../core/facts/usage-text.ts';
import { MODEL_PRICES } from '../../core/records/model-prices.ts';
import { importLines } from '../../../test/support/import-check.ts';
import type { LineImporter } from '../importer.ts';
import { importers } from '../importers.ts';
import { surest } from '../reading/choose-importer.ts';
import { piImporter } from './pi.ts';

const header = { type: 'session', version: 3, id: 's1', timestamp: '2026-11-23T04:00:00.000Z', cwd: '/p' };
const entry = (id: string, parentId: string | null, message: object) => ({ type: 'message', id, parentId, message });
const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });
const answer = (more: object) => ({ role: 'assistant', content: [], stopReason: 'stop', ...more });

test('going back to an earlier entry is a compaction, and every branch is part of the run', () => {
  const { runs } = importLines(piImporter, [
    header,
    entry('a', null, user('Go.')),
    entry('b', 'a', answer({ content: [{ type: 'toolCall', id: 'c1', name: 'bash', arguments: {} }] })),
    entry('c', 'a', user('Try another way.')),
  ]);
  expect(runs[0]?.run).toMatchObject({ id: 's1', task: 'Go.' });
  expect(runs[0]?.payloads.map(({ kind }) => kind)).toEqual([
    'message_appended',
    'turn_started',
    'message_appended',
    'tool_started',
    'compaction',
    'message_appended',
    'tool_ended',
  ]);
});

test("an extension's text is no user text, and a failed request is no turn", () => {
  const { runs } = importLines(piImporter, [
    header,
    { type: 'custom_message', id: 'a', parentId: null, customType: 'coxswain', content: 'advice', display: true },
    entry('b', 'a', user('Go.')),
    entry('c', 'b', answer({ stopReason: 'error', errorMessage: '400 bad request', usage: { input: 0, output: 0 } })),
  ]);
  expect(JSON.stringify(runs[0]?.payloads)).not.toContain('usage');
  expect(runs[0]?.payloads).toMatchObject([
    { message: { role: 'system', content: 'advice' } },
    { message: { role: 'user', content: 'Go.' } },
    { message: { role: 'assistant', error_message: '400 bad request' } },
    { kind: 'run_ended', outcome: 'error' },
  ]);
});

test('entries older than a fork are copies of the session that it was forked from', () => {
  const timed = (id: string, parentId: string | null, timestamp: string, role: string, text: string): object => ({
    type: 'message',
    id,
    parentId,
    timestamp,
    message: { role, content: [{ type: 'text', text }] },
  });
  const { runs } = importLines(piImporter, [
    {
      type: 'session',
      version: 3,
      id: 'b',
      timestamp: '2026-10-12T23:59:59.000Z',
      cwd: '/w',
      parentSession: '/w/a.jsonl',
    },
    timed('1', null, '2026-10-12T22:00:00.000Z', 'user', 'The old task'),
    timed('2', '1', '2026-10-12T22:00:10.000Z', 'assistant', 'Gave up'),
    timed('3', '2', '2026-10-13T00:00:00.000Z', 'user', 'Only update the README'),
    timed('4', '3', '2026-10-13T00:00:10.000Z', 'assistant', 'README updated'),
  ]);
  expect(runs[0]?.run.task).toBe('Only update the README');
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'message_appended')).toHaveLength(2);
});

test('a fork that an extension named a subagent belongs to the session from which it began', () => {
  const forked = { ...header, id: 'b', parentSession: '/w/2026-10-12T23-59-59-000Z_019ffa52-a.jsonl' };
  const parentOf = (name: string): string | undefined =>
    importLines(piImporter, [
      forked,
      { type: 'session_info', id: 'i', parentId: null, name },
      entry('a', 'i', user('Go.')),
    ]).runs[0]?.run.parentId;
  expect(parentOf('subagent-worker-1')).toBe('019ffa52-a');
  expect(parentOf('Fix the login')).toBeUndefined();
});

test('an aborted answer is no turn, and its tokens count', () => {
  const aborted = { stopReason: 'aborted', errorMessage: 'Operation aborted', model: 'm' };
  const { runs } = importLines(piImporter, [
    header,
    entry('a', null, user('Go.')),
    entry('b', 'a', answer({ ...aborted, usage: { input: 900, output: 7, cacheRead: 0, cacheWrite: 0 } })),
  ]);
  expect(runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started')).toEqual([]);
  expect(runs[0]?.payloads[1]).toMatchObject({
    message: { error_message: 'Operation aborted', model_id: 'm', usage: { input_tokens: 900, output_tokens: 7 } },
  });
});

test('a message of an extension before the first prompt does not take the place of the task', () => {
  const { runs } = importLines(piImporter, [
    header,
    { type: 'custom_message', id: 'x', parentId: null, customType: 'context', content: 'A note.', display: false },
    entry('a', null, user('Go.')),
  ]);
  expect(runs.map(({ run }) => run.task)).toEqual(['Go.']);
});

test('cached tokens, which the input of pi never has, count once for each model', () => {
  const usage = { input: 900, output: 10, cacheRead: 500, cacheWrite: 0, cost: { total: 0 } };
  const total = (model: string) => {
    const fold = new UsageFold(MODEL_PRICES);
    const { runs } = importLines(piImporter, [
      header,
      entry('a', null, user('Go.')),
      entry('b', 'a', answer({ model, usage })),
    ]);
    for (const payload of runs[0]?.payloads ?? []) fold.fold(payload, { modelId: undefined, format: 'pi' });
    return [allTokens(fold.usage), fold.usage.costUsd === undefined];
  };
  expect(['gpt-5-mini', 'claude-sonnet-4-5', 'unknown'].map(total)).toEqual([
    [1_410, false],
    [1_410, false],
    [1_410, true],
  ]);
});

test('a request that a stop aborted ends the run as stopped', () => {
  const [run] = importLines(piImporter, [
    header,
    entry('a', null, user('Go.')),
    entry('b', 'a', answer({ stopReason: 'error', errorMessage: 'This operation was aborted' })),
  ]).runs;
  expect(run?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'aborted', reason: 'interrupted' });
});

test('an answer has the time of its end, which its entry has', () => {
  const { runs } = importLines(piImporter, [
    header,
    entry('a', null, user('Go.')),
    {
      ...entry('b', 'a', { ...answer({}), timestamp: Date.UTC(2026, 9, 12, 22, 0, 0) }),
      timestamp: '2026-10-12T22:01:00.000Z',
    },
  ]);
  const at = runs[0]?.payloads.findIndex(({ kind }) => kind === 'turn_started') ?? -1;
  expect(runs[0]?.atMs[at]).toBe(Date.UTC(2026, 9, 12, 22, 1, 0));
});

test('a session that begins within a conversation, without its header, is one of pi', () => {
  const at = { timestamp: '2026-10-12T22:00:00.000Z' };
  const lines = [
    { ...entry('a', 'z', user('Go.')), ...at },
    { ...entry('b', 'a', answer({})), ...at },
  ];
  const source = { path: 's.jsonl', name: 's.jsonl' };
  const best = surest(importers.filter(({ shape }) => shape === 'lines') as readonly LineImporter[], (importer) =>
    importer.recognise(lines, source),
  );
  expect(best?.importer.format).toBe('pi');
});

test('a call that an extension blocked is refused, and what a tool of pi says of its own failure is an error', () => {
  const outcomes = (toolName: string, ...texts: readonly string[]) =>
    texts.map((text) => {
      const call = { type: 'toolCall', id: 'c1', name: toolName, arguments: { path: 'a.ts', command: 'x' } };
      const result = { role: 'toolResult', toolCallId: 'c1', toolName, content: [{ type: 'text', text }] };
      const { runs } = importLines(piImporter, [
        header,
        entry('a', null, user('Go.')),
        entry('b', 'a', answer({ content: [call] })),
        entry('c', 'b', { ...result, isError: true, details: {} }),
      ]);
      const ended = runs[0]?.payloads.find(({ kind }) => kind === 'tool_ended');
      return ended?.kind === 'tool_ended' ? (ended.outcome ?? 'failed') : undefined;
    });
  expect(outcomes('edit', 'Guard: no failing test drives this.', 'Plain text only.')).toEqual(['refused', 'refused']);
  expect(outcomes('write', "ENOENT: no such file or directory, open 'a'")).toEqual(['failed']);
  expect(outcomes('edit', 'Could not find the exact text in a.ts.', 'Found 2 occurrences of edits[1] in a.')).toEqual([
    'failed',
    'failed',
  ]);
  expect(outcomes('bash', 'Guard blocked a shell-based change.', '! Blocked: protected folder')).toEqual([
    'refused',
    'refused',
  ]);
  expect(outcomes('bash', 'blocked by x\n\nCommand exited with code 1', '1 failed', 'Command aborted')).toEqual([
    'failed',
    'failed',
    'cancelled',
  ]);
});

test('a session begins with its first line, as that of other programs', () => {
  const at = '2026-11-23T05:00:00.000Z';
  const asked = { type: 'message', id: 'e1', parentId: null, timestamp: at, message: { role: 'user', content: 'Go.' } };
  const { runs } = importLines(piImporter, [header, asked]);
  expect(runs[0]?.run.startedAtMs).toBe(Date.parse(header.timestamp));
});
