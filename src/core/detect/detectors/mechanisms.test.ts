import { expect, test } from 'vitest';
import { defaultDetectors } from './default-detectors.ts';
import { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';

interface Call {
  readonly tool: string;
  readonly args: object;
  readonly result: string;
  readonly isError?: boolean;
  readonly outcome?: 'cancelled';
  /** Number of its turn; default its own. */
  readonly turn?: number;
}

/** The flagged stuck patterns of a run, and those that were cleared. */
function flagged(calls: readonly Call[]): { readonly kinds: readonly string[]; readonly left: readonly string[] } {
  const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
  let turn = -1;
  for (const [at, call] of calls.entries()) {
    const base = { schema_version: 1, seq: 3 * at, depth: 0, recorded_at_unix_ms: 0 } as const;
    if ((call.turn ?? at) !== turn) analysis.fold({ ...base, payload: { kind: 'turn_started' } });
    turn = call.turn ?? at;
    const id = { tool_call_id: `c${at}`, tool_name: call.tool };
    // The calls of this file are JSON.
    const args = JSON.parse(JSON.stringify(call.args)) as { readonly [name: string]: string };
    analysis.fold({ ...base, payload: { kind: 'tool_started', ...id, args } });
    const { result, isError = false, outcome } = call;
    const ended = { kind: 'tool_ended', ...id, result, is_error: isError } as const;
    analysis.fold({ ...base, payload: outcome === undefined ? ended : { ...ended, outcome } });
  }
  const stuck = analysis.patterns().filter((pattern) => pattern.stuck && pattern.flaggedAt !== null);
  return {
    kinds: stuck.map(({ kind }) => kind),
    left: stuck.filter(({ clearedAt }) => clearedAt !== undefined).map(({ kind }) => kind),
  };
}

function times(count: number, make: (at: number) => Call): readonly Call[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

const shell = (command: string, result: string, isError = false): Call => ({
  tool: 'Bash',
  args: { command },
  result,
  isError,
});

test('a failure whose line numbers grow is one failure', () => {
  const fail = (at: number): Call =>
    shell(`cd fastxml/ # ${at}`, `/bin/bash: line ${1_270 + at}: cd: fastxml/: No such file or directory`, true);
  expect(flagged(times(6, fail)).kinds).toContain('repeated_error');
});

test('pictures are distinguished by their digest', () => {
  const shot = (digest: string): Call => ({
    tool: 'computer',
    args: { action: 'left_click', coordinate: [10, 20] },
    result: JSON.stringify([
      { type: 'image', source: { type: 'base64', data: { type: 'binary', bytes: 812, digest } } },
    ]),
  });
  expect(flagged(times(4, () => shot('aa11'))).kinds).toContain('identical_call');
  expect(flagged(times(8, (at) => shot(`aa1${at}`))).kinds).toEqual([]);
});

test('a refusal that quotes several lines of the call is the same refusal whatever they are', () => {
  const edit = (at: number): Call => {
    const old = `function part${'abcdef'[at] ?? ''}() {\n  return value${'ghijkl'[at] ?? ''} + other;\n}`;
    return {
      tool: 'Edit',
      args: { file_path: 'a.ts', old_string: old, new_string: 'x' },
      result: `String to replace not found in file.\nString: ${old.split('\n').slice(0, 2).join('\n')}`,
      isError: true,
    };
  };
  expect(flagged(times(5, edit)).kinds).toContain('repeated_error');
});

test.each(['Process exited with code 1', 'Exit code: 1', 'Command exited with exit code 1', '[exit code: 1]'])(
  'a search without a hit is an answer when its harness says %j',
  (result) => {
    const search = (at: number): Call => shell(`grep -rn ${'abcdefgh'[at] ?? ''} src`, result, true);
    expect(flagged(times(5, search)).kinds).toEqual([]);
  },
);

test('the failures of one parallel turn count once, and the calls that were cancelled with them not at all', () => {
  const turn = (number: number): readonly Call[] => [
    { ...shell(`make ${number}`, 'Error: cannot connect to daemon', true), turn: number },
    ...times(5, (at) => ({
      ...shell(`cat ${number}${at}`, '<tool_use_error>Sibling tool call errored</tool_use_error>', true),
      outcome: 'cancelled' as const,
      turn: number,
    })),
  ];
  expect(flagged([...turn(1), ...turn(2)]).kinds).toEqual([]);
});

test('polls of one terminal with changing output are not a loop', () => {
  const poll = (at: number): Call => ({
    tool: 'write_stdin',
    args: { session_id: 7, chars: '' },
    result: `Chunk ID: a${at}\nWall time: 5 seconds\nProcess running with session ID 7\nOutput:\ncompiled ${3 * at} of 90`,
  });
  expect(flagged(times(20, poll)).kinds).toEqual([]);
});

test('a harness that kills each command and gives no exit code tells of a time limit', () => {
  const install = (at: number): Call => {
    const command = ['pip install a', 'pip install --no-cache-dir a', 'apt install -y python3-a', 'conda create -n a'][
      at
    ];
    return shell(
      command ?? '',
      `The last command <command>${command}</command> timed out and has been killed.\nThe output of the command was:\n <output>\nCollecting ${at}\n</output>\nPlease try another command.`,
    );
  };
  expect(flagged(times(4, install)).kinds).toEqual(['repeated_error']);
});

test('a time limit is one cause, with interrupts between', () => {
  const run = (at: number): readonly Call[] => [
    { tool: 'Write', args: { file_path: 'a.py', content: `x = ${'abcdefgh'[at] ?? ''}\nprint(x)` }, result: 'ok' },
    shell(`python a.py --part ${'abcdefgh'[at] ?? ''}`, 'Command timed out after 120 seconds', true),
    { tool: 'send_keys', args: { keys: 'C-c' }, result: '^C' },
  ];
  expect(flagged([0, 1, 2, 3, 4, 5].flatMap(run)).kinds).toContain('same_failure_after_edits');
});

test('the passing check ends the pattern at once', () => {
  const edit = (at: number): Call => ({
    tool: 'Edit',
    args: { file_path: 'a', old_string: `o${at}`, new_string: `n${at}` },
    result: 'ok',
  });
  const check = (passes: boolean): Call =>
    passes ? shell('npm test', '12 passed') : shell('npm test', 'AssertionError: expected 3 to be 4', true);
  const failing = [0, 1, 2, 3, 4, 5].flatMap((at) => [edit(at), check(false)]);
  expect(flagged(failing)).toMatchObject({ kinds: ['same_failure_after_edits'], left: [] });
  expect(flagged([...failing, edit(9), check(true)])).toMatchObject({ left: ['same_failure_after_edits'] });
});

test('similar calls with equal results between real work are not a repetition', () => {
  const credit = (at: number): readonly Call[] => [
    { tool: 'kb_get', args: { article: 'CREDIT' }, result: 'Confirm this article before each credit.' },
    { tool: 'account_credit', args: { account: `T-${55_010 + 7 * at}` }, result: '{"credited":"1.33 EUR"}' },
  ];
  expect(flagged([0, 1, 2, 3, 4, 5, 6].flatMap(credit)).kinds).toEqual([]);
});
