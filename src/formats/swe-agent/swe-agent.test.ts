import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importDocument } from '../../../test/support/import-check.ts';
import { mutatedJson } from '../../../test/support/json-mutation.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import { openhandsDocumentImporter } from '../openhands/openhands.ts';
import { sweAgentImporter } from './swe-agent.ts';

const source = { path: 'x.traj', name: 'x.traj' };

function step(action: string, observation: unknown, more: object = {}) {
  return { action, observation, response: `I run ${action}`, thought: 'hm', state: '{}', ...more };
}

const trajectory = {
  environment: 'main',
  trajectory: [
    step('create a.py\n', '[File: a.py]'),
    step('python a.py | head\n', 'Traceback (most recent call last):\n  x', { execution_time: 0.25 }),
    step('', ''),
    step('exit_cost', 'Exit due to cost limit'),
  ],
  history: [
    { role: 'system', content: 'You are', agent: 'main' },
    { role: 'user', content: 'A demonstration', agent: 'main', is_demo: true },
    { role: 'user', content: 'Fix it.', agent: 'main' },
    { role: 'assistant', content: 'x', action: 'create a.py\n', agent: 'main' },
  ],
  info: { exit_status: 'submitted (exit_cost)', model_stats: { api_calls: 4, instance_cost: 0.5 } },
};

const history = [
  { role: 'system', content: 'You are', agent: 'main', message_type: 'system_prompt' },
  { role: 'user', content: [{ type: 'text', text: 'Fix it.' }], agent: 'main', message_type: 'observation' },
  ...['one', 'two'].flatMap((text) => [
    {
      role: 'assistant',
      content: text,
      agent: 'main',
      action: 'open a.py',
      message_type: 'action',
      tool_calls: [{ id: 'same', type: 'function', function: { name: 'open', arguments: '{"path":"a.py"}' } }],
    },
    { role: 'tool', content: `result ${text}`, agent: 'main', tool_call_ids: ['same'] },
  ]),
];

test('every step with an action is a call; interface commands are separate tools, the rest is bash', () => {
  const [run] = importDocument(sweAgentImporter, trajectory, 'repo__1.traj').runs;
  expect(run?.run).toMatchObject({ id: 'repo__1', task: 'Fix it.' });
  expect(run?.calls.map((call) => [call.tool_call_id, call.tool_name, call.args])).toEqual([
    ['call', 'create', { command: 'create a.py' }],
    ['call#2', 'bash', { command: 'python a.py | head' }],
  ]);
  expect(run?.ends.map((end) => [end.is_error, end.error_inferred, end.duration_ms])).toEqual([
    [false, undefined, undefined],
    [true, true, 250],
  ]);
  expect(run?.payloads.at(-1)).toMatchObject({ outcome: 'limit', labels: { api_calls: 4, cost_usd: 0.5 } });
});

test('the history gives the messages before the first answer, without the demonstration', () => {
  const { runs, diagnostics } = importDocument(sweAgentImporter, trajectory);
  const messages = runs[0]?.payloads.flatMap((payload) =>
    payload.kind === 'message_appended' ? [payload.message] : [],
  );
  expect(messages?.slice(0, 2)).toEqual([
    { role: 'system', content: 'You are' },
    { role: 'user', content: 'Fix it.' },
  ]);
  expect(diagnostics.map(({ message }) => message).join()).toContain('1 demonstration messages');
});

test('where the history has tool calls, tool and arguments are the model’s own', () => {
  const document = { trajectory: [step('open a.py', 'x'), step('open a.py', 'No file open. Use')], history, info: {} };
  const [run] = importDocument(sweAgentImporter, document).runs;
  expect(run?.calls.map((call) => [call.tool_call_id, call.tool_name, call.args])).toEqual([
    ['same', 'open', { path: 'a.py' }],
    ['same#2', 'open', { path: 'a.py' }],
  ]);
  expect(run?.ends.map((end) => [end.result, end.is_error])).toEqual([
    ['x', false],
    ['No file open. Use', true],
  ]);
});

test('a file with a history alone is read from it, with repeated call ids told apart', () => {
  const [run] = importDocument(sweAgentImporter, { history }).runs;
  expect(run?.calls.map((call) => call.tool_call_id)).toEqual(['same', 'same#2']);
  expect(run?.ends.map((end) => end.result)).toEqual(['result one', 'result two']);
  expect(run?.payloads.at(-1)?.kind).not.toBe('run_ended');
});

test('each attempt of the retry agent is a run, and the chosen one is not read twice', () => {
  const document = { ...trajectory, attempts: [trajectory, { ...trajectory, info: {} }] };
  const { runs, diagnostics } = importDocument(sweAgentImporter, document);
  expect(runs.map(({ run }) => run.id)).toEqual(['file/attempt-1', 'file/attempt-2']);
  expect(diagnostics.some(({ runKey }) => runKey === undefined)).toBe(true);
});

const miniMessages = [
  { role: 'system', content: 'You are' },
  { role: 'user', content: 'Fix it.' },
  { role: 'assistant', content: 'THOUGHT: look\n\n```bash\nls -l\n```' },
  { role: 'user', content: '<returncode>2</returncode>\n<output>\nno\n</output>' },
  { role: 'assistant', content: 'two\n```bash\na\n```\n```bash\nb\n```' },
  { role: 'user', content: 'Please give exactly one action.' },
  {
    role: 'assistant',
    content: '',
    extra: { timestamp: 1775803413.5, actions: [{ command: 'pwd', tool_call_id: 'c1' }] },
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"pwd"}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: '<returncode>0</returncode>', extra: { returncode: 0 } },
  { role: 'exit', content: 'done' },
];
const mini = {
  info: { exit_status: 'Submitted', model_stats: {}, mini_version: '2.0.0', config: { model: { model_name: 'm' } } },
  messages: miniMessages,
  trajectory_format: 'mini-swe-agent-1.1',
};

test('mini-SWE-agent files: one fenced block or tool call is a call, and the return code is its flag', () => {
  expect(sweAgentImporter.recognise(mini, source)).toBe(1);
  const [run] = importDocument(sweAgentImporter, mini, 'x.traj.json').runs;
  expect(run?.run).toMatchObject({ id: 'x', modelId: 'm', task: 'Fix it.' });
  expect(run?.calls.map((call) => [call.tool_call_id, call.tool_name, call.args])).toEqual([
    ['call', 'bash', { command: 'ls -l' }],
    ['c1', 'bash', { command: 'pwd' }],
  ]);
  expect(run?.ends.map((end) => [end.is_error, end.error_inferred])).toEqual([
    [true, undefined],
    [false, undefined],
  ]);
  expect(run?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
});

test('the list of messages alone, as the first versions of mini-SWE-agent wrote it, has the same calls', () => {
  for (const list of [miniMessages, { messages: miniMessages }]) {
    expect(sweAgentImporter.recognise(list, source)).toBe(1);
    const [run] = importDocument(sweAgentImporter, list, 'x.traj.json').runs;
    expect(run?.calls).toHaveLength(2);
    expect(run?.ends.map((end) => end.is_error)).toEqual([true, false]);
    expect(run?.payloads.at(-1)).not.toMatchObject({ kind: 'run_ended' });
  }
  const submit = { role: 'assistant', content: '```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```' };
  const [run] = importDocument(sweAgentImporter, [...miniMessages.slice(0, 4), submit], 'x.traj.json').runs;
  expect(run?.payloads.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
  expect(sweAgentImporter.recognise(miniMessages.toSpliced(3, 1), source)).toBe(0);
});

test('the tokens and the cost that the harness counts are those of the run', () => {
  const stats = { api_calls: 2, instance_cost: 0.5, tokens_sent: 900, tokens_received: 60 };
  const usageWith = (model_stats: object) =>
    importDocument(sweAgentImporter, {
      ...trajectory,
      info: { exit_status: 'submitted', model_stats },
    }).runs[0]?.payloads.at(-1);
  expect(usageWith(stats)).toMatchObject({ usage: { cost_usd: 0.5, tokens: 960 } });
  expect(usageWith({ ...stats, instance_cost: 0, tokens_sent: 0, tokens_received: 0 })).not.toHaveProperty('usage');
});

test('it is told apart from OpenHands records, chat messages and call lists', () => {
  expect(sweAgentImporter.recognise(trajectory, source)).toBeGreaterThan(0.9);
  expect(openhandsDocumentImporter.recognise(trajectory, source)).toBe(0);
  expect(openhandsDocumentImporter.recognise({ history }, source)).toBe(0);
  expect(sweAgentImporter.recognise({ history: [{ id: 1, source: 'agent', action: 'run', args: {} }] }, source)).toBe(
    0,
  );
  expect(sweAgentImporter.recognise({ messages: miniMessages.slice(0, 3) }, source)).toBe(0);
  expect(sweAgentImporter.recognise({ id: 'x', calls: [{ tool: 't' }] }, source)).toBe(0);
  expect(sweAgentImporter.recognise({ schema_version: 'ATIF-v1.7', agent: {}, steps: [] }, source)).toBe(0);
});

test('no JSON value makes it throw', () => {
  const shaped = [trajectory, { history }, { ...trajectory, history }, mini, { attempts: [trajectory] }].map(
    mutatedJson,
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), ...shaped), (value) => {
      expect(sweAgentImporter.recognise(value, source)).toBeLessThanOrEqual(1);
      importDocument(sweAgentImporter, value);
    }),
    { numRuns: 500 },
  );
});

const folder = sharedPath('trajectories', 'raw', 'swe-agent-traj');
const files = [
  'function_calling_simple.traj',
  'i_got_id_demo.traj',
  'marshmallow-code__marshmallow-1867.traj',
  'pydicom__pydicom-1458.traj',
];

interface RawTrajectory {
  readonly trajectory?: readonly { readonly action: string; readonly observation: string }[];
  readonly history: readonly { readonly role: string; readonly tool_calls?: readonly unknown[] }[];
}

test.skipIf(folder === undefined).each(files)('%s: as many calls as the file has (needs ../shared)', (name) => {
  // The shape of the file, as its SOURCE.txt names it.
  const document = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as RawTrajectory;
  const steps = document.trajectory?.filter(({ action }) => action.trim() !== '' && !action.startsWith('exit_'));
  const structured = document.history.flatMap((entry) => entry.tool_calls ?? []);
  const { runs } = importDocument(sweAgentImporter, document, name);
  expect(sweAgentImporter.recognise(document, { path: name, name })).toBeGreaterThan(0.9);
  expect(runs).toHaveLength(1);
  expect(runs[0]?.calls).toHaveLength(steps?.length ?? structured.length);
  expect(runs[0]?.calls.length).toBeGreaterThan(4);
  const results = runs[0]?.ends.map((end) => end.result);
  expect(results).toEqual(steps?.map((one) => one.observation) ?? results);
  expect(runs[0]?.ends.filter((end) => end.result_missing)).toEqual([]);
});
