import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importDocument, importLines } from '../../../test/support/import-check.ts';
import { mutatedJson } from '../../../test/support/json-mutation.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import { testFolder } from '../../../test/support/test-folder.ts';
import { findSources } from '../find-sources.ts';
import { importSource } from '../import-source.ts';
import { openhandsDocumentImporter, openhandsLineImporter } from './openhands.ts';
import { sweAgentImporter } from '../swe-agent/swe-agent.ts';

const source = { path: 'file.jsonl', name: 'file.jsonl' };
const at = (second: number) => `2025-04-30T16:45:${String(second).padStart(2, '0')}.500000`;

function metadata(toolCallId: string, responseId: string, name: string, args: object) {
  const call = { id: toolCallId, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  const message = { role: 'assistant', content: 'I look.', tool_calls: [call] };
  return { function_name: name, tool_call_id: toolCallId, model_response: { id: responseId, choices: [{ message }] } };
}

const stream = [
  { id: 0, timestamp: at(0), source: 'agent', action: 'system', args: { content: 'You are' } },
  { id: 1, timestamp: at(1), source: 'user', action: 'message', args: { content: 'Fix it.' } },
  { id: 2, timestamp: at(1), source: 'user', action: 'recall', args: { query: 'x' } },
  { id: 3, timestamp: at(1), source: 'environment', observation: 'recall', content: 'ctx', cause: 2, extras: {} },
  {
    id: 4,
    timestamp: at(2),
    source: 'agent',
    action: 'read',
    args: { path: '/a', thought: 'I look.' },
    tool_call_metadata: metadata('t1', 'r1', 'str_replace_editor', {
      command: 'view',
      path: '/a',
      security_risk: 'LOW',
    }),
  },
  { id: 5, timestamp: at(3), source: 'agent', observation: 'read', content: 'text', cause: 4, extras: { path: '/a' } },
  {
    id: 6,
    timestamp: at(4),
    source: 'agent',
    action: 'run',
    args: { command: 'ls', thought: '' },
    tool_call_metadata: metadata('t2', 'r1', 'execute_bash', { command: 'ls' }),
  },
  {
    id: 7,
    timestamp: at(5),
    source: 'agent',
    observation: 'run',
    content: 'no such',
    cause: 6,
    success: false,
    extras: { command: 'ls', metadata: { exit_code: 2 } },
  },
  {
    id: 8,
    timestamp: at(6),
    source: 'agent',
    observation: 'error',
    content: "Parameter 'command' is wrong",
    extras: {},
  },
  { id: 9, timestamp: at(7), source: 'agent', action: 'think', args: { thought: 'Hm.' } },
  {
    id: 10,
    timestamp: at(8),
    source: 'agent',
    observation: 'think',
    content: 'Your thought has been logged.',
    cause: 9,
  },
  {
    id: 11,
    timestamp: at(9),
    source: 'agent',
    action: 'finish',
    args: { final_thought: 'Done.' },
    tool_call_metadata: metadata('t3', 'r2', 'finish', { message: 'Done.' }),
  },
  {
    id: 12,
    timestamp: at(9),
    source: 'environment',
    observation: 'agent_state_changed',
    extras: { agent_state: 'finished' },
  },
];

const record = {
  instance_id: 'repo__1',
  instruction: 'Fix it.',
  history: stream,
  error: null,
  metrics: { accumulated_cost: 0.5 },
  metadata: { agent_class: 'CodeActAgent', llm_config: { model: 'm' } },
  test_result: { git_patch: '', report: { resolved: true } },
};

test('a record is a run with its task, agent, model and outcome', () => {
  const [run] = importLines(openhandsLineImporter, [record]).runs;
  expect(run?.run).toMatchObject({ id: 'repo__1', task: 'Fix it.', agentName: 'CodeActAgent', modelId: 'm' });
  const labels = { cost_usd: 0.5 };
  expect(run?.payloads.at(-1)).toEqual({
    kind: 'run_ended',
    outcome: 'ended',
    new_messages: [],
    success: true,
    reward: 1,
    labels,
    usage: { cost_usd: 0.5 },
  });
});

test('actions are calls as the model wrote them; messages and bookkeeping are not', () => {
  const { runs, diagnostics } = importLines(openhandsLineImporter, [record]);
  expect(runs[0]?.calls.map((call) => [call.tool_call_id, call.tool_name, call.args])).toEqual([
    ['t1', 'str_replace_editor', { command: 'view', path: '/a' }],
    ['t2', 'execute_bash', { command: 'ls' }],
    ['event-9', 'think', { thought: 'Hm.' }],
    ['t3', 'finish', { message: 'Done.' }],
  ]);
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]).toMatchObject({ severity: 'note', runKey: 'repo__1' });
  expect(diagnostics[0]?.message).toContain('1 recall actions');
});

test('actions of one model answer are one turn, with what the model said once', () => {
  const [run] = importLines(openhandsLineImporter, [record]).runs;
  const kinds = run?.payloads.map((payload) => payload.kind) ?? [];
  expect(kinds.slice(2, 8)).toEqual([
    'turn_started',
    'message_appended',
    'tool_started',
    'tool_started',
    'tool_ended',
    'tool_ended',
  ]);
  const answer = run?.payloads[3];
  const content = answer?.kind === 'message_appended' ? answer.message.content : [];
  expect(Array.isArray(content) ? content.map((block) => block.type) : content).toEqual([
    'text',
    'tool_call',
    'tool_call',
  ]);
});

test('an exit code that is not 0 is the flag, and a call that ends the run has no result', () => {
  const [run] = importLines(openhandsLineImporter, [record]).runs;
  expect(run?.ends.map((end) => [end.tool_call_id, end.is_error, end.error_inferred, end.result_missing])).toEqual([
    ['t1', false, undefined, undefined],
    ['t2', true, undefined, undefined],
    ['event-9', false, undefined, undefined],
    ['t3', false, undefined, true],
  ]);
});

test('an error that answers no action is a message to the agent', () => {
  const [run] = importLines(openhandsLineImporter, [record]).runs;
  const users = run?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' && payload.message.role === 'user' ? [payload.message.content] : [],
  );
  expect(users).toEqual(['Fix it.', "Parameter 'command' is wrong"]);
});

test('times without a zone are read as UTC', () => {
  const [run] = importLines(openhandsLineImporter, [record]).runs;
  expect(run?.atMs[0]).toBe(Date.UTC(2025, 3, 30, 16, 45, 0, 500));
});

test('without the model’s own arguments the action’s are taken, without what the framework adds', () => {
  const event = {
    id: 1,
    source: 'agent',
    action: 'run',
    args: { command: 'ls', thought: 'x', confirmation_state: 'confirmed', cwd: null, hidden: false, is_input: false },
  };
  const [run] = importDocument(openhandsDocumentImporter, [event]).runs;
  expect(run?.calls[0]).toMatchObject({ tool_name: 'run', args: { command: 'ls', is_input: false } });
});

const early = [
  { action: 'message', content: 'Fix it.', wait_for_response: false },
  { action: 'run', command: 'touch a', thought: 'I touch.', is_confirmed: 'confirmed', keep_prompt: true },
  { observation: 'run', content: '', command: 'touch a', exit_code: 0, command_id: -1 },
  { action: 'finish', outputs: {}, thought: '' },
];

test.each([
  ['one after the other', early],
  [
    'as pairs',
    [
      [early[0], { observation: 'null', content: '' }],
      [early[1], early[2]],
      [early[3], null],
    ],
  ],
])('early events without ids are read %s', (_, history) => {
  const lines = [{ issue: { owner: 'o', repo: 'r', number: 5 }, history, success: false }];
  expect(openhandsLineImporter.recognise(lines, source)).toBeGreaterThan(0.6);
  const [run] = importLines(openhandsLineImporter, lines).runs;
  expect(run?.run.id).toBe('o/r#5');
  expect(run?.calls.map((call) => [call.tool_name, call.args])).toEqual([['run', { command: 'touch a' }]]);
  expect(run?.ends).toMatchObject([{ result: '', is_error: false }]);
  expect(run?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', success: false });
});

const sdk = [
  { kind: 'SystemPromptEvent', id: 's', source: 'agent', system_prompt: { type: 'text', text: 'You are' } },
  {
    kind: 'MessageEvent',
    id: 'u',
    source: 'user',
    llm_message: { role: 'user', content: [{ type: 'text', text: 'Fix it.' }] },
  },
  ...['a', 'b'].map((id) => ({
    kind: 'ActionEvent',
    id,
    source: 'agent',
    timestamp: at(1),
    thought: [{ type: 'text', text: 'I look.' }],
    tool_name: 'terminal',
    tool_call_id: `c-${id}`,
    llm_response_id: 'r',
    summary: `volatile ${id}`,
    action: { kind: 'TerminalAction', command: 'ls', timeout: null },
  })),
  {
    kind: 'ObservationEvent',
    id: 'o2',
    source: 'environment',
    action_id: 'b',
    tool_call_id: 'c-b',
    timestamp: at(2),
    observation: {
      kind: 'TerminalObservation',
      content: [{ type: 'text', text: 'out' }],
      is_error: false,
      exit_code: 1,
    },
  },
  {
    kind: 'AgentErrorEvent',
    id: 'e',
    source: 'agent',
    tool_call_id: 'c-a',
    tool_name: 'terminal',
    error: 'bad arguments',
  },
  { kind: 'Condensation', id: 'n', source: 'environment', forgotten_event_ids: [] },
  { kind: 'ConversationStateUpdateEvent', id: 'x', source: 'environment', key: 'execution_status', value: 'finished' },
];

test('events of the newer SDK are read, results in the order in which they came', () => {
  expect(openhandsDocumentImporter.recognise(sdk, source)).toBeGreaterThan(0.9);
  const [run] = importDocument(openhandsDocumentImporter, sdk).runs;
  expect(run?.calls.map((call) => [call.tool_call_id, call.tool_name, call.args])).toEqual([
    ['c-a', 'terminal', { command: 'ls' }],
    ['c-b', 'terminal', { command: 'ls' }],
  ]);
  expect(run?.ends.map((end) => [end.tool_call_id, end.result, end.is_error, end.error_inferred])).toEqual([
    ['c-b', 'out', true, undefined],
    ['c-a', 'bad arguments', true, undefined],
  ]);
  expect(run?.payloads.map((payload) => payload.kind).slice(-2)).toEqual(['compaction', 'run_ended']);
});

test('each answer has the tokens by which the totals of the conversation grew, and their model', () => {
  const stats = (prompt: number, cached: number, condenser = 0) => ({
    kind: 'ConversationStateUpdateEvent',
    id: `s${prompt}`,
    source: 'environment',
    key: 'stats',
    value: {
      usage_to_metrics: {
        agent: {
          model_name: 'model-x',
          accumulated_token_usage: { prompt_tokens: prompt, completion_tokens: 1, cache_read_tokens: cached },
        },
        condenser: { accumulated_token_usage: { prompt_tokens: condenser } },
      },
    },
  });
  const action = (id: string) => ({
    kind: 'ActionEvent',
    id,
    source: 'agent',
    tool_name: 'terminal',
    tool_call_id: `c-${id}`,
    llm_response_id: `r-${id}`,
    action: { command: id },
  });
  const seen = (id: string) => ({
    kind: 'ObservationEvent',
    id: `o${id}`,
    source: 'environment',
    action_id: id,
    tool_call_id: `c-${id}`,
    observation: { exit_code: 0, content: [] },
  });
  const lines = [stats(100, 0), action('a'), stats(150, 90, 7), seen('a'), action('b'), seen('b')];
  const { runs, diagnostics } = importLines(openhandsLineImporter, lines, 'session.jsonl');
  expect(diagnostics).toEqual([]);
  const answers = runs[0]?.payloads.flatMap((one) => (one.kind === 'message_appended' ? [one.message] : []));
  expect(answers).toMatchObject([
    { model_id: 'model-x', usage: { input_tokens: 100, output_tokens: 1, cache_read_tokens: 0 } },
    { model_id: 'model-x', usage: { input_tokens: 57, output_tokens: 0, cache_read_tokens: 90 } },
  ]);
  expect(runs[0]?.ends).toHaveLength(2);
});

test('one event a line is one run named for the file', () => {
  expect(openhandsLineImporter.recognise(stream, source)).toBeGreaterThan(0.9);
  const { runs } = importLines(openhandsLineImporter, stream, 'session.jsonl');
  expect(runs.map(({ run, calls }) => [run.id, calls.length])).toEqual([['session', 4]]);
});

test('a list of events, an export object and a list of records are documents', () => {
  expect(importDocument(openhandsDocumentImporter, stream).runs).toHaveLength(1);
  expect(openhandsDocumentImporter.recognise({ trajectory: stream }, source)).toBeGreaterThan(0.9);
  expect(importDocument(openhandsDocumentImporter, { trajectory: stream }).runs[0]?.calls).toHaveLength(4);
  const { runs } = importDocument(openhandsDocumentImporter, [record, record]);
  expect(runs.map(({ run }) => run.id)).toEqual(['repo__1', 'repo__1#2']);
});

test('an exit code by which a search says that it found nothing is no failure, but one with a message is', () => {
  const run = (id: number, command: string, content: string): readonly object[] => [
    { id, source: 'agent', action: 'run', args: { command } },
    { id: id + 1, source: 'agent', observation: 'run', cause: id, content, extras: { metadata: { exit_code: 1 } } },
  ];
  const events = [
    ...run(1, 'grep -r needle src', ''),
    ...run(3, 'grep needle x', 'no such file'),
    ...run(5, 'make', ''),
  ];
  const [only] = importDocument(openhandsDocumentImporter, events).runs;
  expect(only?.ends.map((end) => end.is_error)).toEqual([false, true, true]);
});

test('a run that was cut off says so', () => {
  const error = 'RuntimeError: Agent reached maximum iteration in headless mode';
  const [run] = importLines(openhandsLineImporter, [{ ...record, error, test_result: {} }]).runs;
  expect(run?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'limit', labels: { error } });
});

test('it is told apart from the other formats', () => {
  const steps = [{ action: 'ls', observation: null, response: 'x', thought: 'x' }];
  expect(openhandsDocumentImporter.recognise({ trajectory: steps, history: [] }, source)).toBe(0);
  expect(sweAgentImporter.recognise(record, source)).toBe(0);
  expect(openhandsDocumentImporter.recognise([{ role: 'user', content: 'x' }], source)).toBe(0);
  expect(openhandsDocumentImporter.recognise({ id: 'x', calls: [{ tool: 't' }] }, source)).toBe(0);
  expect(
    openhandsLineImporter.recognise([{ schema_version: 1, seq: 0, payload: { kind: 'run_started' } }], source),
  ).toBe(0);
  expect(openhandsDocumentImporter.recognise([{ task_id: 1, traj: [], reward: 1 }], source)).toBe(0);
});

test('no JSON value makes it throw', () => {
  const shaped = [record, { ...record, history: early }, stream, sdk, [record], early].map(mutatedJson);
  const value = fc.oneof(fc.jsonValue(), ...shaped);
  fc.assert(
    fc.property(value, fc.array(fc.oneof(value, ...stream.map(mutatedJson)), { maxLength: 4 }), (document, lines) => {
      expect(openhandsDocumentImporter.recognise(document, source)).toBeLessThanOrEqual(1);
      expect(openhandsLineImporter.recognise(lines, source)).toBeLessThanOrEqual(1);
      importDocument(openhandsDocumentImporter, document);
      importLines(openhandsLineImporter, lines);
    }),
    { numRuns: 500 },
  );
});

interface RawEvent {
  readonly source?: string;
  readonly action?: string;
  readonly tool_call_metadata?: unknown;
}

/** The counting rule, said once more: actions of the agent but messages and bookkeeping, `finish` when it was called. */
function countCalls(history: readonly RawEvent[]): number {
  const calls = history.filter(({ action, source: from, tool_call_metadata: called }) => {
    if (action === undefined || from === 'user') return false;
    if (action === 'finish') return called !== undefined;
    return !['message', 'system', 'recall'].includes(action);
  });
  return calls.length;
}

const folder = sharedPath('trajectories', 'raw', 'openhands-eventstream');

test.skipIf(folder === undefined).each(['output.jsonl', 'multi_swe_bench.1of3.jsonl'])(
  '%s: as many runs and calls as the file has (needs ../shared)',
  (name) => {
    const text = readFileSync(`${folder}/${name}`, 'utf8');
    const lines = text.split('\n').filter((line) => line !== '');
    // The shape of the file, as its SOURCE.txt names it.
    const records = lines.map((line) => JSON.parse(line) as { history: (RawEvent | RawEvent[])[] });
    expect(openhandsLineImporter.recognise(records, source)).toBeGreaterThan(0.9);
    const { runs } = importLines(openhandsLineImporter, records, name);
    expect(runs.map(({ calls }) => calls.length)).toEqual(records.map(({ history }) => countCalls(history.flat())));
    expect(runs.every(({ calls }) => calls.length > 1)).toBe(true);
    // Only the last call of the newer file, `finish`, has no observation.
    const missing = runs.flatMap(({ ends }) => ends).filter((end) => end.result_missing);
    expect(missing.map((end) => end.tool_name)).toEqual(name === 'output.jsonl' ? [] : ['finish']);
  },
);

test('an export without an instruction has its first request as the task, and the totals of its metrics', () => {
  const { runs } = importDocument(openhandsDocumentImporter, [
    { id: 1, source: 'user', action: 'message', message: 'Build a page', args: { content: 'Build a page' } },
    {
      id: 2,
      source: 'agent',
      action: 'finish',
      args: { final_thought: 'The page is ready.' },
      tool_call_metadata: { function_name: 'finish', tool_call_id: 't1' },
      llm_metrics: { accumulated_cost: 0.08, accumulated_token_usage: { prompt_tokens: 900, completion_tokens: 20 } },
    },
  ]);
  expect(runs[0]?.run.task).toBe('Build a page');
  expect(JSON.stringify(runs[0]?.payloads)).toContain('The page is ready.');
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ outcome: 'ended', usage: { cost_usd: 0.08, tokens: 920 } });
});

test('a conversation that the SDK stores as one file per event is one run', async () => {
  const place = join(testFolder(), 'c0ffee');
  mkdirSync(join(place, 'events'), { recursive: true });
  const put = (name: string, value: object): void => writeFileSync(join(place, name), JSON.stringify(value));
  const metrics = { accumulated_cost: 0.12, accumulated_token_usage: { prompt_tokens: 5, completion_tokens: 4 } };
  const stats = { usage_to_metrics: { agent: metrics } };
  put('base_state.json', { id: 'c0ffee', execution_status: 'finished', agent: { llm: { model: 'model-x' } }, stats });
  const content = [{ type: 'text', text: 'Write pwd to a file' }];
  put('events/event-00000-a.json', {
    id: 'a',
    source: 'user',
    kind: 'MessageEvent',
    llm_message: { role: 'user', content },
  });
  put('events/event-00001-b.json', {
    id: 'b',
    source: 'agent',
    kind: 'ActionEvent',
    action: { command: 'pwd > out.txt', kind: 'TerminalAction' },
    tool_name: 'terminal',
    tool_call_id: 'c1',
    tool_call: { id: 'c1', name: 'terminal', arguments: '{}' },
  });
  put('events/event-00002-c.json', {
    id: 'c',
    source: 'environment',
    kind: 'ObservationEvent',
    tool_name: 'terminal',
    tool_call_id: 'c1',
    observation: { content: [{ type: 'text', text: '' }], exit_code: 0, kind: 'TerminalObservation' },
  });
  const paths = await Array.fromAsync(findSources([place]), ({ path }) => path);
  expect(paths).toEqual([join(place, 'base_state.json')]);
  const items = await Array.fromAsync(importSource(paths[0] ?? ''));
  expect(items.filter(({ type }) => type === 'run')).toMatchObject([
    { run: { id: 'c0ffee', task: 'Write pwd to a file', modelId: 'model-x' } },
  ]);
  const kinds = items.flatMap((item) => (item.type === 'record' ? [item.payload.kind] : []));
  expect(kinds.filter((kind) => kind === 'tool_ended')).toHaveLength(1);
});
