import { expect, test } from 'vitest';

import { FailedCallsFold, keyRunsOf, type FailedCall, type KeyRun } from './failed-calls.ts';
import { keyNumber } from './call-keys.ts';
import type { RunCall } from './run-call.ts';
import { RunningPrograms } from './background-output.ts';

interface Step {
  readonly tool?: string;
  readonly args?: Readonly<Record<string, string | number>>;
  readonly error?: string;
  readonly result?: string;
  readonly outcome?: RunCall['outcome'];
}

/** Folds calls, one active minute and one cent apart. */
function folded(...steps: readonly Step[]): { failures: readonly FailedCall[]; keys: readonly KeyRun[] } {
  const fold = new FailedCallsFold();
  const programs = new RunningPrograms();
  for (const [index, { args = {}, error, outcome, result = '', tool = 'Bash' }] of steps.entries()) {
    const id = `c${index}`;
    const call = {
      id,
      number: index + 1,
      tool,
      args,
      seq: index,
      endSeq: index,
      startLost: false,
      resultMissing: false,
      ...(outcome === undefined ? {} : { outcome }),
    };
    const spent = { activeMs: index * 60_000, callMs: 1_000, costUsd: index / 100, tokens: index * 10 };
    const payload = {
      kind: 'tool_ended',
      tool_call_id: id,
      tool_name: tool,
      result,
      is_error: error !== undefined,
    } as const;
    const begun = programs.begunBy(args);
    const ended = { ...call, failed: error !== undefined, ...(begun === undefined ? {} : { begun }) };
    programs.note(ended, result);
    fold.fold(payload, ended, { cause: error, atMs: 1, ...spent });
  }
  return { failures: fold.failures, keys: keyRunsOf(fold.keys) };
}

const RTK = { args: { command: 'cd /w && rtk bun run test 2>&1 | tail -5' }, error: "unrecognized subcommand 'bun'" };

test('a failure costs its own time, and the calls, the time, the money and the tokens until a call like it worked', () => {
  const { failures } = folded(
    RTK,
    { tool: 'Read', args: { file_path: '/w/a.ts' } },
    { args: { command: 'bun run test' } },
  );
  expect(failures[0]).toMatchObject({
    shown: 'rtk bun run test',
    cause: "unrecognized subcommand '…'",
    number: 1,
    calls: 2,
    ms: 120_000,
    tokens: 20,
    costUsd: 0.02,
    worked: 'bun run test',
  });
});

test('what worked instead resembles the failed call, even if something else of the tool worked before it', () => {
  const { failures } = folded(RTK, { args: { command: 'ls -la src' } }, { args: { command: 'bun run test' } });
  expect(failures[0]).toMatchObject({ calls: 2, worked: 'bun run test' });
  const cat = (flag: string, part: string): Step => ({ args: { command: `sed -n '${part}p' a.ts | cat ${flag}` } });
  const complaint = { ...cat('-A', '1,20'), error: 'cat: illegal option -- A' };
  const [shown] = folded(complaint, cat('-vet', '30,44')).failures;
  expect(shown?.worked).toBe("sed -n '30,44p' a.ts | cat -vet");
});

test('if no call like it worked within 20 calls, only the failed call is known to be lost', () => {
  const alone = { calls: 1, ms: 1_000, tokens: 0, costUsd: 0 };
  const [other, late] = [{ args: { command: 'ls -la src' } }, { args: { command: 'bun run test' } }];
  expect(folded(RTK, other).failures).toMatchObject([alone]);
  const [failure] = folded(RTK, ...Array.from({ length: 20 }, () => other), late).failures;
  expect(failure).toMatchObject(alone);
  expect(failure?.worked).toBeUndefined();
});

test('a refused or cancelled call makes no failure and no key', () => {
  expect(folded({ ...RTK, outcome: 'refused' }, { ...RTK, outcome: 'cancelled' })).toEqual({ failures: [], keys: [] });
});

test('a failure behind a pipe is found by its complaint, and one without a complaint is none', () => {
  const args = { command: 'rtk bun run test | tail -5' };
  expect(folded({ args, result: "error: unrecognized subcommand 'bun'" }).failures).toMatchObject([{ kind: 'hidden' }]);
  expect(folded({ args, result: '12 pass' }).failures).toEqual([]);
});

test('a replacement in a file that the run neither read nor wrote is a name, whatever the file', () => {
  const unread = keyNumber({ kind: 'name', text: 'Edit of an unread file' });
  const edit = (file: string, error?: string): Step => ({
    tool: 'Edit',
    args: { file_path: file, old_string: 'a', new_string: 'b' },
    ...(error === undefined ? {} : { error }),
  });
  const outcome = (...steps: readonly Step[]): string | undefined =>
    folded(...steps).keys.find(({ key }) => key === unread)?.last;
  const refused = 'File has not been read yet. Read it first before writing to it.';
  expect(outcome(edit('/w/a.ts', refused))).toBe('failed');
  expect(folded(edit('/w/a.ts', refused)).failures[0]?.keys).toContainEqual({
    kind: 'name',
    text: 'Edit of an unread file',
  });
  expect(outcome(edit('/w/a.ts'))).toBe('worked');
  expect(outcome(edit('/w/a.ts', 'File has been modified since read. Read it again before you write it.'))).toBe(
    'none',
  );
  expect(outcome(edit('/w/a.ts', 'String to replace not found in file.'))).toBe('none');
  // A search shows only parts of a file.
  const [read, search] = [
    { tool: 'Read', args: { file_path: '/w/a.ts' } },
    { tool: 'Grep', args: { path: '/w/a.ts', pattern: 'a' } },
  ];
  expect([outcome(read, edit('/w/a.ts')), outcome(search, edit('/w/a.ts', refused))]).toEqual([undefined, 'failed']);
  expect(outcome({ ...read, error: 'File does not exist.' }, edit('/w/a.ts', refused))).toBe('failed');
});

test('a key has the outcome of its last call', () => {
  const outcome = (...steps: readonly Step[]): readonly string[] =>
    folded(...steps)
      .keys.filter(({ key }) => key === keyNumber({ kind: 'command', text: 'npm run x' }))
      .map(({ first, last, number }) => `${number} ${first} ${last}`);
  const [bad, good] = [{ args: { command: 'npm run x' }, error: 'no' }, { args: { command: 'npm run x' } }];
  expect([outcome(bad, bad), outcome(bad, good), outcome(good, bad)]).toEqual([
    ['1 failed failed'],
    ['1 failed worked'],
    ['1 worked failed'],
  ]);
});

test('a test that fails was run, so its command works', () => {
  const { failures, keys } = folded({ args: { command: 'npm test' }, error: '2 failed' });
  expect(failures).toMatchObject([{ kind: 'check' }]);
  expect(new Set(keys.map(({ last }) => last))).toEqual(new Set(['worked']));
});

test('a program that the agent ends with Ctrl-C has not failed', () => {
  const keys = (chars: string): Step => ({
    tool: 'write_stdin',
    args: { chars },
    error: 'Process exited with code 130',
  });
  expect(folded(keys('\u0003')).failures).toEqual([]);
  expect(folded(keys('run\n')).failures).toHaveLength(1);
});

test.each([
  'docker compose config | wc -l',
  'docker compose config; echo done',
  'docker compose config\nls',
  'docker compose config || true',
  'docker compose config & ls',
  'true || docker compose config',
  '! docker compose config',
  'if docker compose config; then ls; fi',
  'for f in a b; do docker compose config; done',
  'echo "$(docker compose config)"',
])('exit code 0 of `%s` proves nothing about docker compose config', (command) => {
  const { failures, keys } = folded(
    { args: { command: 'docker compose config -q' }, error: 'no such command: docker compose' },
    { args: { command } },
  );
  expect(failures[0]?.worked).toBeUndefined();
  expect(keys.find(({ key }) => key === keyNumber({ kind: 'name', text: 'docker compose' }))?.last).toBe('failed');
});

test.each([
  'docker compose config',
  'cd /w && docker compose config',
  'ls; docker compose config',
  'ls | docker compose config && echo done',
  'set -euo pipefail; docker compose config | wc -l; echo done',
  '(ls; docker compose config)',
  'ls || true && docker compose config 2>&1',
])('exit code 0 of `%s` proves that docker compose config worked', (command) => {
  const { failures, keys } = folded(
    { args: { command: 'docker compose config -q' }, error: 'no such command: docker compose' },
    { args: { command } },
  );
  expect(failures[0]?.worked).toContain('docker compose config');
  expect(keys.find(({ key }) => key === keyNumber({ kind: 'name', text: 'docker compose' }))?.last).toBe('worked');
});

test('a command that runs on fails or works by what the last question about it gets', () => {
  const start = {
    tool: 'exec_command',
    args: { cmd: 'make deploy' },
    result: 'Process running with session ID 7\nOutput:',
  };
  const ask = { tool: 'write_stdin', args: { session_id: '7', chars: '' } };
  const asked = folded(
    start,
    { ...ask, result: 'Process running with session ID 7' },
    { ...ask, error: 'make: no rule for deploy' },
  );
  expect(asked.failures).toMatchObject([
    { tool: 'exec_command', shown: 'make deploy', number: 1, cause: 'make: no rule for deploy' },
  ]);
  expect(asked.keys.map(({ callFailed, first, number }) => [number, callFailed, first])).toContainEqual([
    1,
    true,
    'failed',
  ]);
  const worked = folded(start, { ...ask, result: 'Process exited with code 0' });
  expect(worked.failures).toEqual([]);
  expect(worked.keys.map(({ last }) => last)).toContain('worked');
  const stopped = folded(start, { ...ask, args: { ...ask.args, chars: '\u0003' }, error: 'make: interrupted' });
  expect([stopped.failures, stopped.keys]).toEqual([[], folded(start).keys]);
});

test('a failure that a pipe hides is the message of a program, not a line of a file that says the same', () => {
  const hidden = (result: string) => folded({ args: { command: 'cat a | head' }, result }).failures.length;
  const messages = ['cat: illegal option -- A', "error: unexpected argument '-n' found", '/bin/sh: 1: cat: not found'];
  expect(messages.map(hidden)).toEqual([1, 1, 1]);
  const lines = [
    '  // unknown flag',
    '12: unknown option',
    'src/a.ts:4: unknown flag',
    '== unknown flag',
    'Branch: not found',
  ];
  expect(lines.map(hidden)).toEqual([0, 0, 0, 0, 0]);
});

test('what worked instead keeps most words of the failed command', () => {
  const worked = (failed: string, then: string) =>
    folded({ args: { command: failed }, error: 'no' }, { args: { command: then } }).failures[0]?.worked;
  expect(worked('entire status --no-pager', 'entire status')).toBe('entire status');
  expect(worked('bun run test', 'cd a && bun run test')).toBe('the same after cd a');
  const script =
    '"from a.technical import compute_all, parse_candles, find_key_levels, Candle; print(compute_all(1, 2, 3))"';
  const looks = `which python3 && ${'ls -la /w/a && '.repeat(6)}cd /w/a`;
  expect(worked(`python -c ${script}`, `${looks} && python3 -c ${script}`)).toBe(`python3 -c ${script}`);
  expect(worked('git for-each-ref | sort -u | rg x', 'sort -u')).toBeUndefined();
  expect(worked('git -C /w add a && git status', 'git status')).toBeUndefined();
  expect(worked('scripts/send.sh --to x', '/home/a/scripts/send.sh --to x')).toBe('/home/a/scripts/send.sh --to x');
  const skill = (name: string) => ({ tool: 'Skill', args: { skill: name } });
  expect(folded({ ...skill('commit'), error: 'Unknown skill: commit' }, skill('git:commit')).failures[0]).toMatchObject(
    {
      worked: 'Skill git:commit',
    },
  );
});

test('a call that looks whether a file is there, and one that the host could not read, make no key', () => {
  const missing = 'ls: .git/index.lock: No such file or directory';
  expect(folded({ args: { command: 'ls -l .git/index.lock 2>&1' }, error: missing }).failures[0]?.keys).toEqual([]);
  expect(folded({ args: { command: 'ls a && rm b' }, error: 'rm: b: No such file' }).failures[0]?.keys).not.toEqual([]);
  const unread = { tool: 'Read', args: { __unparsedToolInput: '{' }, error: 'InputValidationError: x' };
  expect(folded(unread).failures[0]?.keys).toEqual([]);
});

test('of an answer in JSON, its message is the cause', () => {
  const error = '{"data":null,"errors":[{"type":"NOT_FOUND","message":"Could not resolve to a Repository"}]}';
  const fold = folded({ args: { command: 'gh api graphql' }, error, result: error });
  expect(fold.failures[0]?.cause).toBe('Could not resolve to a Repository');
});

test('a call that worked with other arguments is told apart from the failed one', () => {
  const worked = (tool: string, failed: Step['args'], then: Step['args']) =>
    folded({ tool, args: failed ?? {}, error: 'no' }, { tool, args: then ?? {} }).failures[0]?.worked;
  expect(worked('Read', { file_path: '/a.ts' }, { file_path: '/a.ts', limit: 9 })).toBe('the same with limit');
  expect(worked('Grep', { pattern: 'x', path: 'cmd/a' }, { pattern: 'x', path: 'cmd' })).toBe('the same with path=cmd');
  const edit = { file_path: '/a.ts', old_string: 'a' };
  expect(worked('Edit', edit, { ...edit, old_string: 'b' })).toBeUndefined();
  const [again] = folded(
    { tool: 'Edit', args: edit, error: 'no' },
    { tool: 'Edit', args: { ...edit, old_string: 'b' } },
  ).failures;
  expect(again?.recovered).toBe(true);
  const show = (file: string, lines: string) => ({ command: `sed -n '${lines}p' ${file}` });
  expect(worked('Bash', show('a/b.mjs', '1,40'), show('src/c.js', '144,220'))).toBeUndefined();
  expect(worked('Bash', show('a/b.mjs', '1,40'), show('w/a/b.mjs', '1,40'))).toBe("sed -n '1,40p' w/a/b.mjs");
  expect(worked('Read', { file_path: '/a.ts' }, { file_path: '/a.ts' })).toBe('Read /a.ts');
  const [status, free] = [{ cmd: 'gh auth status' }, { sandbox_permissions: 'require_escalated', timeout_ms: 9 }];
  expect(worked('exec_command', status, { ...status, ...free })).toBe(
    'the same with sandbox_permissions=require_escalated',
  );
});

test('a path that is found from another folder is told with this folder', () => {
  const failed = {
    args: { command: "sed -n '1,40p' site/scripts/build.mjs" },
    error: 'sed: site/scripts/build.mjs: No such file',
  };
  const worked = (command: string) => folded(failed, { args: { command } }).failures[0]?.worked;
  expect(worked('cd /w && ls site && head -30 site/scripts/build.mjs')).toBe('the same path after cd /w');
  expect(worked('ls site && head -30 site/scripts/build.mjs')).toBeUndefined();
  expect(worked('cd /w && head -30 site/scripts/other.mjs')).toBeUndefined();
});

test('what the shell says last is the cause, whatever the output before it contains', () => {
  const said = 'var exitError *exec.ExitError\n(eval):1: == not found';
  const args = { command: 'sed -n 1,9p a.go; echo ===; sed -n 1,9p b.go' };
  const long = { args, result: `${'x'.repeat(5_000)}\n${said}` };
  expect(folded({ args, error: 'var exitError *exec.ExitError', result: said }).failures[0]?.keys).toContainEqual({
    kind: 'name',
    text: '===',
  });
  expect(folded(long).failures).toMatchObject([{ kind: 'hidden', cause: '(eval):<n>: == not found' }]);
});
