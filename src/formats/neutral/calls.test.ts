import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { sharedPath } from '../../../test/support/shared-data.ts';
import { callsImporter, callsLinesImporter } from './calls.ts';
import type { ImportItem } from '../importer.ts';
import { importSource } from '../import-source.ts';

const SOURCE = { path: '/x/run.json', name: 'run.json' };

function read(document: unknown): readonly ImportItem[] {
  return [...callsImporter.read(document, SOURCE)];
}

function payloads(items: readonly ImportItem[]): readonly object[] {
  return items.flatMap((item) => (item.type === 'record' ? [item.payload] : []));
}

/** One word for each item, with the call's id. */
function outline(items: readonly ImportItem[]): readonly string[] {
  return items.map((item) => {
    if (item.type !== 'record') return item.type;
    const { payload } = item;
    return 'tool_call_id' in payload ? `${payload.kind} ${payload.tool_call_id}` : payload.kind;
  });
}

test('calls of one turn start together and end in order', () => {
  const call = (turn: number) => ({ turn, tool: 'read', args: {}, result: 'x', isError: false });
  expect(outline(read({ id: 'r', calls: [call(0), call(0), call(1)] }))).toEqual([
    'run',
    'turn_started',
    'tool_started call',
    'tool_started call#2',
    'tool_ended call',
    'tool_ended call#2',
    'turn_started',
    'tool_started call#3',
    'tool_ended call#3',
    'end',
  ]);
});

test('without `turn` every call is a separate turn', () => {
  const items = read({
    calls: [
      { tool: 'a', result: '' },
      { tool: 'a', result: '' },
    ],
  });
  expect(outline(items).filter((word) => word === 'turn_started')).toHaveLength(2);
  expect(items[0]).toMatchObject({ type: 'run', run: { id: 'run', format: 'calls' } });
});

test('a user message before a call begins a turn', () => {
  const call = { turn: 0, tool: 'a', result: '' };
  const items = read({ calls: [call, { ...call, userBefore: 'go on' }] });
  expect(outline(items).slice(4, 6)).toEqual(['message_appended', 'turn_started']);
  expect(payloads(items)[3]).toEqual({ kind: 'message_appended', message: { role: 'user', content: 'go on' } });
});

test('a missing result is null, no error, and marked', () => {
  const calls = [
    { turn: 0, tool: 'a', args: {}, result: 'ignored', noResult: true },
    { turn: 0, tool: 'a', args: {}, result: 'second', isError: false },
  ];
  const ended = payloads(read({ calls })).filter((payload) => 'result' in payload);
  expect(ended).toEqual([
    { kind: 'tool_ended', tool_call_id: 'call', tool_name: 'a', result: null, is_error: false, result_missing: true },
    { kind: 'tool_ended', tool_call_id: 'call#2', tool_name: 'a', result: 'second', is_error: false },
  ]);
});

test('the flag decides; without one the text does, and an error read from it is marked', () => {
  const calls = [
    { tool: 'a', result: 'Error: no', isError: false },
    { tool: 'a', result: 'Error: no' },
    { tool: 'a', result: 'fine' },
  ];
  const ended = payloads(read({ calls })).filter((payload) => 'result' in payload);
  expect(ended).toMatchObject([{ is_error: false }, { is_error: true, error_inferred: true }, { is_error: false }]);
  expect(ended.map((payload) => 'error_inferred' in payload)).toEqual([false, true, false]);
});

test('times and the outcome are taken over', () => {
  const items = read({ outcomeSuccess: true, calls: [{ tool: 'a', result: '', atMs: 1_500 }] });
  expect(items.filter((item) => item.type === 'record').map((item) => item.atMs)).toEqual([
    1_500,
    1_500,
    1_500,
    undefined,
  ]);
  expect(payloads(items).at(-1)).toEqual({ kind: 'run_ended', outcome: 'ended', new_messages: [], success: true });
});

test('a call without a tool is left out with an error', () => {
  const items = read({ calls: [{ tool: 'a', result: '' }, { args: 1 }, 7] });
  expect(items.filter((item) => item.type === 'diagnostic')).toHaveLength(2);
});

test('only this form is recognised', () => {
  const good = { id: 'a', calls: [{ tool: 'a', args: {}, result: '' }] };
  expect(callsImporter.recognise(good, SOURCE)).toBe(1);
  for (const other of [null, 1, [], {}, { calls: 1 }, { calls: [] }, { calls: [{ name: 'a' }] }]) {
    expect(callsImporter.recognise(other, SOURCE)).toBe(0);
  }
  expect(callsLinesImporter.recognise([good, good, {}], SOURCE)).toBeCloseTo(2 / 3);
});

const scenarios = sharedPath('scenarios');
const windows = sharedPath('windows');

test.skipIf(scenarios === undefined || windows === undefined)(
  'every labelled scenario gives all its calls (needs the shared data)',
  async () => {
    for (const folder of [scenarios ?? '', windows ?? '']) {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
      expect(names.length).toBeGreaterThan(30);
      for (const name of names) {
        const path = join(folder, name);
        const document: { id: string; calls: readonly unknown[] } = JSON.parse(await readFile(path, 'utf8'));
        const items = await Array.fromAsync(importSource(path));
        const run = items.find((item) => item.type === 'run')?.run;
        const kinds = payloads(items).map((payload) => ('kind' in payload ? payload.kind : undefined));
        const seen = {
          id: run?.id,
          started: kinds.filter((kind) => kind === 'tool_started').length,
          ended: kinds.filter((kind) => kind === 'tool_ended').length,
          diagnostics: items.filter((item) => item.type === 'diagnostic'),
        };
        const { length } = document.calls;
        expect(seen).toEqual({ id: document.id, started: length, ended: length, diagnostics: [] });
      }
    }
  },
);
