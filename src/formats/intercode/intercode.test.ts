import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { importDocument } from '../../../test/support/import-check.ts';
import { mutatedJson } from '../../../test/support/json-mutation.ts';
import { sharedPath } from '../../../test/support/shared-data.ts';
import { intercodeImporter } from './intercode.ts';

const source = { path: 'file.json', name: 'file.json' };

function episode(
  environment: string,
  history: object,
  summary: object = { max_reward: 0, turns_taken: 1, turns_max: 9 },
) {
  return { environment, dataset: 'd', task_id: 0, query: 'Find it.', turn_history: history, summary };
}

const results = {
  '0': episode(
    'ic_bash',
    { actions: ['ls', 'lz'], observations: ['a', 'b'], rewards: [0, 1], valid_action: [true, false] },
    { max_reward: 1, turns_taken: 2, turns_max: 10 },
  ),
  '7': episode('ic_ctf', {
    actions: ['cmd ls -l', 'python3 -c "1"', 'submit flag{x}', 'oops'],
    observations: ['a', 'Traceback (most recent call last):\n  x', 'Wrong', 'Malformed command'],
    rewards: [0, 0, 0, 0],
  }),
};

test('each entry is a run named for its file, with the reward as outcome', () => {
  const { runs } = importDocument(intercodeImporter, results, 'ic_x.json');
  expect(runs.map(({ run }) => [run.id, run.task])).toEqual([
    ['ic_x/0', 'Find it.'],
    ['ic_x/7', 'Find it.'],
  ]);
  expect(runs.map(({ payloads }) => payloads.at(-1))).toMatchObject([
    { kind: 'run_ended', outcome: 'ended', success: true, reward: 1 },
    { kind: 'run_ended', outcome: 'ended', success: false, reward: 0 },
  ]);
});

test('the tool comes from the environment or the prefix of the action, without its wrapper', () => {
  const [bash, ctf] = importDocument(intercodeImporter, results).runs;
  expect(bash?.calls.map((call) => [call.tool_name, call.args])).toEqual([
    ['bash', { command: 'ls' }],
    ['bash', { command: 'lz' }],
  ]);
  expect(ctf?.calls.map((call) => [call.tool_name, call.args])).toEqual([
    ['bash', { command: 'ls -l' }],
    ['python', { command: 'python3 -c "1"' }],
    ['submit', { command: 'submit flag{x}' }],
    ['bash', { command: 'oops' }],
  ]);
});

test('valid_action is the error flag; without it the text decides and the result is marked', () => {
  const [bash, ctf] = importDocument(intercodeImporter, results).runs;
  expect(bash?.ends.map((end) => [end.is_error, end.error_inferred])).toEqual([
    [false, undefined],
    [true, undefined],
  ]);
  expect(ctf?.ends.map((end) => [end.is_error, end.error_inferred])).toEqual([
    [false, undefined],
    [true, true],
    [false, undefined],
    [true, true],
  ]);
});

test('a refusal is an error although the flag of the turn before says otherwise', () => {
  const history = { actions: ['execute[SELECT 1]'], observations: ['Error executing query: no'], valid_action: [true] };
  const [run] = importDocument(intercodeImporter, { '0': episode('ic_sql', history) }).runs;
  expect(run?.calls[0]).toMatchObject({ tool_name: 'sql', args: { command: 'SELECT 1' } });
  expect(run?.ends[0]).toMatchObject({ is_error: true, error_inferred: true });
});

test.each([
  ["{'output': '', 'error': ''}", false],
  ["{'output': '', 'error': 'NameError: x'}", true],
  ["{'error': 'Error: invalid syntax (<string>, line 5)'}", true],
  ['Error executing action: invalid syntax (<unknown>, line 1)', true],
  ['Test case did not pass. Please try again.', false],
  ['Failed 3/3 Test Cases. Please try again.', false],
  ['Failed Test Case: assert f(1) == 2', false],
])('the Python environment’s %s is an error: %s', (observation, expected) => {
  const history = { actions: ['a'], observations: [observation], valid_action: [null] };
  const [run] = importDocument(intercodeImporter, { '0': episode('ic_python', history) }).runs;
  expect(run?.ends.map((end) => end.is_error)).toEqual([expected]);
});

test('the submit that the script issues at the turn limit is no call of the agent', () => {
  const history = {
    thoughts: ['hm', 'EXCEEDED MAX TURNS: submit'],
    actions: ['a', 'submit'],
    observations: ['x', 'y'],
  };
  const { runs, diagnostics } = importDocument(intercodeImporter, { '0': episode('ic_bash', history) });
  expect(runs[0]?.calls).toHaveLength(1);
  expect(runs[0]?.payloads.at(-1)).toMatchObject({ outcome: 'limit' });
  expect(diagnostics.map(({ severity }) => severity)).toEqual(['note']);
});

test('an action without an observation ends as missing', () => {
  const [run] = importDocument(intercodeImporter, {
    '0': episode('ic_bash', { actions: ['a', 'b'], observations: ['x'] }),
  }).runs;
  expect(run?.ends.map((end) => end.result_missing)).toEqual([undefined, true]);
});

test('no JSON value makes it throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), mutatedJson(results)), (value) => {
      expect(intercodeImporter.recognise(value, source)).toBeLessThanOrEqual(1);
      importDocument(intercodeImporter, value);
    }),
    { numRuns: 300 },
  );
});

const folder = sharedPath('trajectories', 'raw', 'intercode-json');
const files = [
  'ic_bash_multiturn_gpt-4_10_turns_fs_1.json',
  'ic_ctf_gpt-4_25_turns.json',
  'ic_python_multiturn_gpt-3.5_7_turns.json',
];

test.skipIf(folder === undefined).each(files)(
  '%s: as many runs and calls as the file has (needs ../shared)',
  (name) => {
    const document: unknown = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));
    // The shape of the file, as its SOURCE.txt names it.
    const entries = Object.values(
      document as Record<string, { turn_history: { actions: string[]; valid_action?: (boolean | null)[] } }>,
    );
    const checked = importDocument(intercodeImporter, document, name);
    expect(intercodeImporter.recognise(document, { path: name, name })).toBe(1);
    expect(checked.runs).toHaveLength(entries.length);
    expect(checked.runs.map(({ calls }) => calls.length)).toEqual(
      entries.map((entry) => entry.turn_history.actions.length),
    );
    const refused = entries
      .flatMap((entry) => entry.turn_history.valid_action ?? [])
      .filter((valid) => valid === false).length;
    const flagged = checked.runs
      .flatMap(({ ends }) => ends)
      .filter((end) => end.is_error && end.error_inferred === undefined);
    expect(flagged).toHaveLength(refused);
    expect(checked.runs.flatMap(({ ends }) => ends).filter((end) => end.result_missing)).toEqual([]);
    expect(checked.diagnostics).toEqual([]);
  },
);
