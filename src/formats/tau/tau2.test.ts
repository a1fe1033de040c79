import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importDocument } from '../../../test/support/import-check.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import { openaiChatImporter } from '../openai-chat/openai-chat.ts';
import { tau2Importer } from './tau2.ts';

const source = { path: 'file.json', name: 'file.json' };
const call = (id: string, requestor = 'assistant') => ({ id, name: 'lookup', arguments: { id }, requestor });
const result = (id: string, error: boolean, requestor = 'assistant') => ({
  id,
  role: 'tool',
  content: 'Error in name only',
  requestor,
  error,
});

const simulation = {
  id: 'sim-1',
  task_id: '7',
  trial: 0,
  start_time: '2026-06-30T11:40:23.773',
  end_time: '2026-06-30T11:41:00',
  termination_reason: 'user_stop',
  reward_info: { reward: 1 },
  messages: [
    { role: 'assistant', content: 'Hello.', timestamp: '2026-06-30T11:40:24' },
    { role: 'user', content: 'Help.', tool_calls: null },
    { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
    { role: 'tool', tool_messages: [result('b', false), result('a', true)] },
    { role: 'user', content: null, tool_calls: [call('u', 'user')] },
    result('u', false, 'user'),
  ],
};

test('a simulation keeps the flag of its tools and the reward', () => {
  const { runs, diagnostics } = importDocument(tau2Importer, {
    info: { agent_info: { llm: 'model-x', implementation: 'llm_agent' } },
    tasks: [{ id: '7', user_scenario: { instructions: { reason_for_call: 'A refund.' } } }],
    simulations: [simulation],
  });
  expect(runs[0]?.run).toEqual({
    key: 'sim-1',
    id: 'sim-1',
    format: 'tau2',
    task: 'A refund.',
    modelId: 'model-x',
    agentName: 'llm_agent',
    startedAtMs: Date.UTC(2026, 5, 30, 11, 40, 23, 773),
  });
  expect(runs[0]?.ends.map((end) => [end.tool_call_id, end.is_error, end.error_inferred])).toEqual([
    ['b', false, undefined],
    ['a', true, undefined],
  ]);
  expect(runs[0]?.payloads.at(-1)).toEqual({
    kind: 'run_ended',
    outcome: 'user_stop',
    new_messages: [],
    success: true,
    reward: 1,
    labels: { task_id: '7', trial: 0 },
  });
  expect(diagnostics.map(({ message }) => message)).toEqual([
    'left out: 1 tool calls of the simulated user, 1 tool results of the simulated user',
  ]);
});

test('pieces of speech in ticks become one message each, and calls in ticks become a turn', () => {
  const tick = (agent: string | null, user: string | null, more: object = {}) => ({
    timestamp: '2026-06-30T11:40:29',
    agent_chunk: { role: 'assistant', content: agent, contains_speech: agent !== null },
    user_chunk: { role: 'user', content: user, contains_speech: user !== null },
    ...more,
  });
  const { runs, diagnostics } = importDocument(tau2Importer, {
    id: 'sim-2',
    task_id: '1',
    ticks: [
      tick(null, 'Where is '),
      tick(null, 'my order?'),
      tick(null, null),
      tick('One ', null),
      tick('moment.', null, { agent_tool_calls: [call('a')], agent_tool_results: [result('a', true)] }),
      tick(null, null),
      tick('It is late.', null),
    ],
  });
  const utterances = runs[0]?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' ? [payload.message.content] : [],
  );
  expect(utterances).toEqual([
    'Where is my order?',
    [
      { type: 'text', text: 'One moment.' },
      { type: 'tool_call', id: 'a', name: 'lookup', args: { id: 'a' } },
    ],
    'It is late.',
  ]);
  expect(runs[0]?.ends).toMatchObject([{ tool_call_id: 'a', is_error: true }]);
  expect(diagnostics.map(({ message }) => message)).toEqual(['left out: 2 ticks without text or calls']);
});

test('a results file without simulations holds no run and says so', () => {
  const index = { timestamp: 'x', info: { environment_info: {} }, tasks: [] };
  expect(tau2Importer.recognise(index, source)).toBeGreaterThan(0.5);
  const { runs, diagnostics } = importDocument(tau2Importer, index);
  expect(runs).toEqual([]);
  expect(diagnostics).toMatchObject([{ severity: 'note' }]);
});

test('it is told apart from plain OpenAI messages', () => {
  expect(tau2Importer.recognise(simulation, source)).toBeGreaterThan(0.9);
  expect(openaiChatImporter.recognise(simulation, source)).toBe(0);
  expect(tau2Importer.recognise({ messages: simulation.messages }, source)).toBe(0);
});

test('no JSON value makes it throw', () => {
  const run = fc.record(
    {
      id: fc.jsonValue(),
      task_id: fc.jsonValue(),
      termination_reason: fc.jsonValue(),
      reward_info: fc.jsonValue(),
      messages: fc.array(fc.jsonValue()),
      ticks: fc.array(
        fc.oneof(
          fc.jsonValue(),
          fc.record({
            agent_chunk: fc.jsonValue(),
            agent_tool_calls: fc.jsonValue(),
            agent_tool_results: fc.array(fc.jsonValue()),
          }),
        ),
      ),
    },
    { requiredKeys: [] },
  );
  const results = fc.record({
    simulations: fc.array(fc.oneof(run, fc.jsonValue())),
    tasks: fc.jsonValue(),
    info: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), run, results), (value) => {
      expect(tau2Importer.recognise(value, source)).toBeLessThanOrEqual(1);
      importDocument(tau2Importer, value);
    }),
  );
});

const folder = sharedPath('trajectories/raw/tau2-simulation');
const read = (name: string) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));

test.skipIf(folder === undefined)('the real results index holds no run (needs ../shared)', () => {
  const document = read('results.json');
  expect(document.simulations).toBeUndefined();
  expect(tau2Importer.recognise(document, source)).toBeGreaterThan(0.5);
  expect(importDocument(tau2Importer, document).runs).toEqual([]);
});

test.skipIf(folder === undefined)(
  'the real full-duplex simulation is one run with every call (needs ../shared)',
  () => {
    const document = read('49b22f0c-4a56-41c5-922f-bc2a56e53a23.json');
    const { runs, diagnostics } = importDocument(tau2Importer, document);
    const count = (text: string, member: string): number => text.split(`"${member}"`).length - 1;
    // Its ticks hold speech marks only: no text, no calls.
    expect(count(JSON.stringify(document), 'agent_tool_calls') + count(JSON.stringify(document), 'tool_calls')).toBe(0);
    expect(runs.map(({ run, calls }) => [run.id, calls.length])).toEqual([[document.id, 0]]);
    expect(runs[0]?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'user_stop' });
    expect(diagnostics.map(({ message }) => message)).toEqual([
      `left out: ${document.ticks.length} ticks without text or calls`,
    ]);
  },
);
