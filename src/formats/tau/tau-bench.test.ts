import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importDocument } from '../../../test/support/import-check.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import { openaiChatImporter } from '../openai-chat/openai-chat.ts';
import { tauBenchImporter } from './tau2.ts';

const source = { path: 'file.json', name: 'file.json' };
const call = (id: string) => ({ id, type: 'function', function: { name: 'lookup', arguments: '{"id":1}' } });

const episodes = [
  {
    task_id: 3,
    trial: 1,
    reward: 1,
    info: { task: { instruction: 'Book a flight.' } },
    traj: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, tool_calls: [call('same')] },
      { role: 'tool', tool_call_id: 'same', name: 'lookup', content: 'Error: user not found' },
      { role: 'assistant', content: null, tool_calls: [call('same')] },
      { role: 'tool', tool_call_id: 'same', name: 'lookup', content: '{"error": "a word in data"}' },
    ],
  },
  { task_id: 4, trial: 0, reward: 0, info: {}, traj: [] },
];

test('each episode is a run with its reward, and repeated call ids are told apart', () => {
  const { runs } = importDocument(tauBenchImporter, episodes);
  expect(runs.map(({ run }) => [run.id, run.task])).toEqual([
    ['task-3-trial-1', 'Book a flight.'],
    ['task-4-trial-0', undefined],
  ]);
  expect(runs[0]?.ends.map((end) => [end.tool_call_id, end.is_error])).toEqual([
    ['same', true],
    ['same#2', false],
  ]);
  expect(runs.map(({ payloads }) => payloads.at(-1))).toMatchObject([
    { kind: 'run_ended', success: true, reward: 1 },
    { kind: 'run_ended', success: false, reward: 0 },
  ]);
});

test('only a result that begins with Error is an error, and it is marked as read from the text', () => {
  const [run] = importDocument(tauBenchImporter, episodes).runs;
  expect(run?.ends.map((end) => end.error_inferred)).toEqual([true, undefined]);
});

test('two episodes of one task and trial get different ids', () => {
  const { runs } = importDocument(tauBenchImporter, [episodes[1], episodes[1]]);
  expect(runs.map(({ run }) => run.id)).toEqual(['task-4-trial-0', 'task-4-trial-0#2']);
});

test('it is told apart from plain OpenAI messages', () => {
  expect(tauBenchImporter.recognise(episodes, source)).toBeGreaterThan(0.9);
  expect(openaiChatImporter.recognise(episodes, source)).toBe(0);
  expect(tauBenchImporter.recognise(episodes[0]?.traj, source)).toBe(0);
});

test('no JSON value makes it throw', () => {
  const episode = fc.record({ traj: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())), reward: fc.jsonValue() });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.array(fc.oneof(episode, fc.jsonValue()))), (value) => {
      expect(tauBenchImporter.recognise(value, source)).toBeLessThanOrEqual(1);
      importDocument(tauBenchImporter, value);
    }),
  );
});

const sample = sharedPath('trajectories/raw/tau-bench-results/gpt-4o-airline.first12.json');

test.skipIf(sample === undefined)('real results give every run and every call (needs ../shared)', () => {
  const document = JSON.parse(readFileSync(sample ?? '', 'utf8'));
  const { runs, diagnostics } = importDocument(tauBenchImporter, document);
  expect(runs).toHaveLength(document.length);
  expect(runs.map(({ calls }) => calls.length)).toEqual(
    document.map((episode: { traj: { tool_calls?: unknown[] }[] }) =>
      episode.traj.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0),
    ),
  );
  expect(runs.flatMap(({ ends }) => ends).filter((end) => end.is_error)).toHaveLength(
    document
      .flatMap((episode: { traj: { role: string; content: string | null }[] }) => episode.traj)
      .filter(
        (message: { role: string; content: string }) => message.role === 'tool' && message.content.startsWith('Error'),
      ).length,
  );
  expect(runs.flatMap(({ ends }) => ends).some((end) => end.result_missing)).toBe(false);
  expect(diagnostics).toEqual([]);
});
