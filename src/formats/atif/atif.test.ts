import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importDocument } from '../../../test/support/import-check.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import { atifImporter } from './atif.ts';

const source = { path: 'file.json', name: 'file.json' };
const call = (id: string, name = 'bash') => ({ tool_call_id: id, function_name: name, arguments: { id } });
const trajectory = (steps: readonly unknown[], more: object = {}) => ({
  schema_version: 'ATIF-v1.7',
  session_id: 's1',
  agent: { name: 'agent-x', version: '1', model_name: 'model-x' },
  steps,
  ...more,
});

test('an agent step is a turn with its calls, and results pair by id, then by order', () => {
  const { runs, diagnostics } = importDocument(
    atifImporter,
    trajectory([
      { step_id: 1, source: 'system', message: 'Be careful.', timestamp: '2026-01-01T00:00:00Z' },
      { step_id: 2, source: 'user', message: [{ type: 'text', text: 'Do it.' }] },
      {
        step_id: 3,
        source: 'agent',
        message: 'Looking.',
        reasoning_content: 'hm',
        model_name: 'model-y',
        timestamp: '2026-01-01T00:00:05Z',
        tool_calls: [call('a'), call('b'), call('c')],
        observation: {
          results: [
            { source_call_id: 'c', content: 'C' },
            { content: 'bash: x: command not found' },
            { source_call_id: 'b', content: 'fine', extra: { coxswain: { is_error: true } } },
          ],
        },
        metrics: { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4, cost_usd: 0.01 },
      },
    ]),
  );
  expect(diagnostics).toEqual([]);
  const [run] = runs;
  expect(run?.run).toEqual({
    key: 's1',
    id: 's1',
    format: 'atif',
    task: 'Do it.',
    conversationId: 's1',
    agentName: 'agent-x',
    modelId: 'model-x',
    startedAtMs: Date.UTC(2026, 0, 1),
  });
  expect(run?.payloads[3]).toMatchObject({
    message: {
      role: 'assistant',
      content: [{ type: 'reasoning' }, { type: 'text' }, { id: 'a' }, { id: 'b' }, { id: 'c' }],
      model_id: 'model-y',
      usage: { input_tokens: 10, output_tokens: 2, cache_read_tokens: 4, cost_usd: 0.01 },
    },
  });
  expect(run?.ends.map((end) => [end.tool_call_id, end.is_error, end.error_inferred])).toEqual([
    ['c', false, undefined],
    ['a', true, true],
    ['b', true, undefined],
  ]);
  expect(run?.atMs.at(-1)).toBe(Date.UTC(2026, 0, 1, 0, 0, 5));
});

test('a converter may write the steps of subagents first, and the flag of a result beside its step', () => {
  const step = (id: string, seconds: number, metadata: object) => ({
    step_id: seconds,
    source: 'agent',
    message: 'x',
    timestamp: `2026-01-01T00:00:0${seconds}Z`,
    tool_calls: [call(id)],
    observation: { results: [{ source_call_id: id, content: 'exit status of the tests' }] },
    extra: { tool_result_metadata: metadata },
  });
  const asked = { step_id: 1, source: 'user', message: 'Do it.', timestamp: '2026-01-01T00:00:02Z' };
  const [run] = importDocument(
    atifImporter,
    trajectory([step('a', 4, {}), asked, step('b', 5, { is_error: true })]),
  ).runs;
  expect(run?.run.startedAtMs).toBe(Date.UTC(2026, 0, 1, 0, 0, 2));
  expect(run?.ends.map((end) => [end.is_error, end.error_inferred])).toEqual([
    [false, undefined],
    [true, undefined],
  ]);
});

test('a result that stands on a later step still finds its call', () => {
  const { runs } = importDocument(
    atifImporter,
    trajectory([
      { step_id: 1, source: 'agent', message: '', tool_calls: [call('a')] },
      {
        step_id: 2,
        source: 'agent',
        message: 'next',
        observation: { results: [{ source_call_id: 'a', content: 'A' }] },
      },
    ]),
  );
  expect(runs[0]?.ends).toMatchObject([{ tool_call_id: 'a', result: 'A' }]);
});

test('an observation without a call is kept as a user message', () => {
  const { runs, diagnostics } = importDocument(
    atifImporter,
    trajectory([{ step_id: 1, source: 'agent', message: 'ls', observation: { results: [{ content: 'a.txt' }] } }]),
  );
  expect(runs[0]?.calls).toEqual([]);
  expect(runs[0]?.payloads.at(-1)).toEqual({ kind: 'message_appended', message: { role: 'user', content: 'a.txt' } });
  expect(diagnostics).toMatchObject([{ severity: 'note' }]);
});

test('embedded subagents are child runs at any depth', () => {
  const leaf = trajectory([{ step_id: 1, source: 'agent', message: '', tool_calls: [call('x')] }], {
    trajectory_id: 't3',
  });
  const middle = trajectory([], { subagent_trajectories: [leaf, 'odd'] });
  const { runs, diagnostics } = importDocument(
    atifImporter,
    trajectory([], { trajectory_id: 't1', subagent_trajectories: [middle] }),
  );
  expect(runs.map(({ run, calls }) => [run.id, run.parentId, calls.length])).toEqual([
    ['t1', undefined, 0],
    ['s1', 't1', 0],
    ['t3', 's1', 1],
  ]);
  expect(diagnostics).toMatchObject([{ severity: 'error', runKey: 's1' }]);
});

test('a continuation file is a separate run in the same conversation', () => {
  const first = importDocument(atifImporter, trajectory([], { continued_trajectory_ref: 'x.cont-1.json' }));
  const next = importDocument(atifImporter, trajectory([], { agent: { name: 'x', extra: { continuation_index: 1 } } }));
  expect([first, next].map(({ runs }) => [runs[0]?.run.id, runs[0]?.run.conversationId])).toEqual([
    ['s1', 's1'],
    ['s1/cont-1', 's1'],
  ]);
  expect(first.diagnostics.map(({ message }) => message)).toEqual(['the run goes on in another file: "x.cont-1.json"']);
});

test('the outcome under extra.coxswain ends the run, and nothing else does', () => {
  const ended = trajectory([], {
    extra: { coxswain: { outcome: 'limit', success: false, reward: 0.5, labels: { a: 1 } } },
  });
  expect(importDocument(atifImporter, ended).runs[0]?.payloads).toEqual([
    { kind: 'run_ended', outcome: 'limit', new_messages: [], success: false, reward: 0.5, labels: { a: 1 } },
  ]);
  expect(importDocument(atifImporter, trajectory([])).runs[0]?.payloads).toEqual([]);
});

test('nesting far deeper than the stack is read', () => {
  let nested: unknown = trajectory([]);
  for (let depth = 0; depth < 20_000; depth += 1) nested = { steps: [], subagent_trajectories: [nested] };
  expect([...atifImporter.read(nested, source)].filter((item) => item.type === 'run')).toHaveLength(20_001);
});

test('no JSON value makes it throw', () => {
  const step = fc.record(
    {
      source: fc.constantFrom('agent', 'user', 'system', 1),
      message: fc.jsonValue(),
      tool_calls: fc.array(fc.jsonValue()),
      observation: fc.oneof(fc.jsonValue(), fc.record({ results: fc.array(fc.jsonValue()) })),
      extra: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const document = fc.record(
    {
      schema_version: fc.constantFrom('ATIF-v1.5', 3),
      agent: fc.jsonValue(),
      steps: fc.array(fc.oneof(step, fc.jsonValue())),
      subagent_trajectories: fc.array(fc.jsonValue()),
      extra: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), document), (value) => {
      expect(atifImporter.recognise(value, source)).toBeLessThanOrEqual(1);
      importDocument(atifImporter, value);
    }),
  );
});

const folder = sharedPath('trajectories/raw/atif-trajectory');
const samples = [
  'openhands_hello-world.trajectory.json',
  'openhands_hello-world.trajectory.no_function_calling.json',
  'terminus_2_hello-world-context-summarization-linear-history.trajectory.json',
  'terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json',
];

test.skipIf(folder === undefined).each(samples)(
  '%s gives every call and every agent step (needs ../shared)',
  (name) => {
    const document = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));
    const steps: { source: string; tool_calls?: unknown[] }[] = document.steps;
    expect(atifImporter.recognise(document, source)).toBe(1);
    const { runs, diagnostics } = importDocument(atifImporter, document, name);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.calls).toHaveLength(steps.reduce((sum, step) => sum + (step.tool_calls?.length ?? 0), 0));
    expect(runs[0]?.payloads.filter(({ kind }) => kind === 'turn_started')).toHaveLength(
      steps.filter((step) => step.source === 'agent').length,
    );
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  },
);
