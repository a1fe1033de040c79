import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { sharedPath } from '../../../test/support/shared-data.ts';
import type { ImportItem } from '../importer.ts';
import { importSource } from '../import-source.ts';
import { stepsImporter, stepsLinesImporter } from './steps.ts';

const SOURCE = { path: '/x/runs.jsonl', name: 'runs.jsonl' };

const user = (text: string) => ({ kind: 'user', text });
const assistant = (msg: number | undefined, text: string) => ({ kind: 'assistant', text, msg });
const call = (msg: number | undefined, id: string) => ({
  kind: 'tool_call',
  tool: 'bash',
  args: { id },
  call_id: id,
  msg,
});
const result = (msg: number | undefined, id: string, flag: boolean | undefined = false) => ({
  kind: 'tool_result',
  call_id: id,
  result: `result ${id}`,
  is_error: flag,
  msg,
});

function read(steps: readonly object[], members: object = {}): readonly ImportItem[] {
  return [...stepsImporter.read({ id: 'r', ...members, steps }, SOURCE)];
}

function outline(items: readonly ImportItem[]): string {
  const words = items.map((item) => {
    if (item.type !== 'record') return item.type;
    const { payload } = item;
    switch (payload.kind) {
      case 'message_appended':
        return payload.message.role;
      case 'tool_started':
        return `start:${payload.tool_call_id}`;
      case 'tool_ended':
        return `${payload.result_missing === true ? 'missing' : 'end'}:${payload.tool_call_id}`;
      case 'turn_started':
        return 'turn';
      default:
        return payload.kind;
    }
  });
  return words.join(' ');
}

test('text and calls of one message are one turn; results may carry another message index', () => {
  const steps = [
    user('go'),
    assistant(5, 'a'),
    call(5, 'c1'),
    result(6, 'c1'),
    assistant(7, 'b'),
    call(7, 'c2'),
    result(8, 'c2'),
  ];
  expect(outline(read(steps))).toBe('run user turn assistant start:c1 end:c1 turn assistant start:c2 end:c2 end');
});

test('parallel calls start together, also where the source gives each result behind its call', () => {
  const steps = [call(0, 'a'), result(0, 'a'), call(0, 'b'), result(0, 'b')];
  expect(outline(read(steps))).toBe('run turn start:a start:b end:a end:b end');
});

test('without message indices, calls with no result between are one turn', () => {
  const none = undefined;
  const steps = [
    call(none, 'a'),
    call(none, 'b'),
    result(none, 'a'),
    result(none, 'b'),
    call(none, 'c'),
    result(none, 'c'),
  ];
  expect(outline(read(steps))).toBe('run turn start:a start:b end:a end:b turn start:c end:c end');
});

test('a user message ends the turn', () => {
  const steps = [call(0, 'a'), result(0, 'a'), user('no'), call(0, 'b'), result(0, 'b')];
  expect(outline(read(steps))).toBe('run turn start:a end:a user turn start:b end:b end');
});

test('call ids that repeat become unique and pair in order', () => {
  const steps = [call(0, 'a'), call(0, 'a'), result(0, 'a'), result(0, 'a'), call(1, 'a'), result(1, 'a')];
  expect(outline(read(steps))).toBe('run turn start:a start:a#2 end:a end:a#2 turn start:a#3 end:a#3 end');
});

test('a call without a result ends as missing before the next turn, and at the end', () => {
  const steps = [call(0, 'a'), call(0, 'b'), result(0, 'b'), call(1, 'c')];
  expect(outline(read(steps))).toBe('run turn start:a start:b end:b missing:a turn start:c missing:c end');
});

test('a step of no known kind is an error, and a result without a call is left out with a note', () => {
  const items = read([result(0, 'x'), { kind: 'dream' }, call(1, 'a'), result(1, 'a')]);
  expect(items.flatMap((item) => (item.type === 'diagnostic' ? [item.diagnostic] : []))).toMatchObject([
    { severity: 'error', message: 'not usable: 1 steps of no known kind' },
    { severity: 'note', message: 'left out: 1 tool results without a call' },
  ]);
});

test('an error flag is kept, a missing one is inferred and marked', () => {
  const items = read([
    call(0, 'a'),
    { ...result(0, 'a'), is_error: true },
    call(1, 'b'),
    { ...result(1, 'b'), is_error: undefined, result: 'Error: no' },
  ]);
  const ended = items.flatMap((item) =>
    item.type === 'record' && item.payload.kind === 'tool_ended' ? [item.payload] : [],
  );
  expect(ended[0]).toMatchObject({ is_error: true });
  expect(ended[0]).not.toHaveProperty('error_inferred');
  expect(ended[1]).toMatchObject({ is_error: true, error_inferred: true });
});

test('outcome, labels, model, task and times are taken over', () => {
  const outcome = { success: false, reward: 0.25, labels: [{ type: 'hardness', value: 'medium' }] };
  const steps = [
    { ...user('go'), ts: '2025-01-01T00:00:00Z' },
    { ...call(0, 'a'), ts: 1_735_689_601 },
    { ...result(0, 'a'), ts: 1_735_689_602_500 },
  ];
  const items = read(steps, { outcome, model: 'm', task: 't' });
  expect(items[0]).toMatchObject({ run: { modelId: 'm', task: 't', startedAtMs: 1_735_689_600_000 } });
  const records = items.filter((item) => item.type === 'record');
  expect(records.map(({ atMs }) => (atMs ?? 0) - 1_735_689_600_000)).toEqual([0, 1_000, 1_000, 2_500, 2_500]);
  expect(records.at(-1)?.payload).toEqual({
    kind: 'run_ended',
    outcome: 'ended',
    new_messages: [],
    success: false,
    reward: 0.25,
    labels: { hardness: 'medium' },
  });
});

test('only this form is recognised', () => {
  const good = { id: 'a', steps: [{ i: 0, ...user('x') }] };
  expect(stepsLinesImporter.recognise([good], SOURCE)).toBe(1);
  expect(stepsImporter.recognise({ steps: [{ step_id: 1, source: 'user' }] }, SOURCE)).toBe(0);
});

const corpora = [
  ['intercode_sql', 9_403],
  ['intercode_bash', 1_352],
  ['intercode_ctf', 68],
  ['intercode_python', 187],
  ['openhands_examples', 3],
  ['sweagent_demos', 21],
] as const;

for (const [name, runs] of corpora) {
  const path = sharedPath('trajectories', `${name}.jsonl.gz`);
  test.skipIf(path === undefined)(`every run and call of ${name} is read (needs the shared data)`, async () => {
    const text = gunzipSync(await readFile(path ?? '')).toString('utf8');
    const expected = { runs, started: text.split('"kind": "tool_call"').length - 1, ended: 0, open: 0 };
    expected.ended = expected.started;
    const seen = { runs: 0, started: 0, ended: 0, open: 0 };
    for await (const item of importSource(path ?? '')) {
      if (item.type === 'run') seen.runs += 1;
      if (item.type === 'diagnostic') throw new Error(item.diagnostic.message);
      if (item.type !== 'record') continue;
      if (item.payload.kind === 'tool_started') seen.started += 1;
      if (item.payload.kind === 'tool_ended') seen.ended += 1;
    }
    expect(seen).toEqual(expected);
  });
}
