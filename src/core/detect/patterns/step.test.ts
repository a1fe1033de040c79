import { expect, test } from 'vitest';
import { makeStep, type RawCall, type Step } from './step.ts';

function stepOf(call: Partial<RawCall>): Step {
  const raw = {
    index: 0,
    turn: 0,
    atMs: 0,
    tool: 'Read',
    args: {},
    result: 'text',
    isError: false,
    resultMissing: false,
  };
  return makeStep({ ...raw, ...call }, {});
}

test('the order of keys does not distinguish calls', () => {
  expect(stepOf({ args: { a: 1, b: [2] } }).argsKey).toBe(stepOf({ args: { b: [2], a: 1 } }).argsKey);
  expect(stepOf({ args: { a: 1 } }).argsKey).not.toBe(stepOf({ args: { a: 2 } }).argsKey);
  expect(stepOf({ tool: 'A' }).argsKey).not.toBe(stepOf({ tool: 'B' }).argsKey);
});

test('a time does not distinguish results, a count does', () => {
  expect(stepOf({ result: 'at 10:00:01 nothing' }).resultKey).toBe(stepOf({ result: 'at 10:00:09 nothing' }).resultKey);
  expect(stepOf({ result: '3 left' }).resultKey).not.toBe(stepOf({ result: '2 left' }).resultKey);
  expect(stepOf({ result: 'x', isError: true }).resultKey).not.toBe(stepOf({ result: 'x' }).resultKey);
});

test('blanks in a one-line shell command do not distinguish calls', () => {
  const one = stepOf({ tool: 'Bash', args: { command: 'ls   -la ' } });
  expect(one.argsKey).toBe(stepOf({ tool: 'Bash', args: { command: 'ls -la' } }).argsKey);
  const two = stepOf({ tool: 'Bash', args: { command: 'cat <<X\na  b\nX' } });
  expect(two.argsKey).not.toBe(stepOf({ tool: 'Bash', args: { command: 'cat <<X\na b\nX' } }).argsKey);
});

test('a search without a hit is an answer, whatever its exit code', () => {
  const grep = { tool: 'Bash', args: { command: 'grep -i gold a.sav' }, isError: true };
  for (const result of ['Exit code 1', { stdout: '', stderr: '', exit_code: 1 }, { output: '', returncode: 1 }]) {
    expect(stepOf({ ...grep, result })).toMatchObject({ kind: 'read', empty: true });
    expect(stepOf({ ...grep, result }).failure).toBeUndefined();
  }
  expect(stepOf({ ...grep, result: 'Exit code 2\ngrep: a.sav: No such file or directory' }).failure).toBeDefined();
  expect(stepOf({ ...grep, args: { command: 'make' }, result: 'Exit code 1' }).failure).toBeDefined();
});

test('a failure is flagged, or soft if only the text reports it', () => {
  expect(stepOf({ result: 'boom', isError: true }).failure).toMatchObject({ soft: false });
  expect(stepOf({ result: 'Error: no such file' }).failure).toMatchObject({ soft: true, category: 'not-found' });
  expect(stepOf({ result: 'fine' }).failure).toBeUndefined();
  expect(stepOf({ result: null, resultMissing: true, isError: true }).failure).toBeUndefined();
});

test('a result that reports pending work makes a read a poll, but not a write or a shell command', () => {
  expect(stepOf({ tool: 'get_job', result: 'still running' }).kind).toBe('poll');
  expect(stepOf({ tool: 'create_job', result: 'queued' }).kind).toBe('write');
  expect(stepOf({ tool: 'Bash', args: { command: 'cat state' }, result: 'pending' }).kind).toBe('read');
});

test('a pause that returns a view of the screen is a read, however long it is', () => {
  const page = `### Page state\n- heading "We are verifying your document"\n- progressbar\n- text: This takes less than a minute.\n- link "Help"`;
  const wait = (time: number, result: string): Step => stepOf({ tool: 'browser_wait_for', args: { time }, result });
  expect(wait(5, page)).toMatchObject({ kind: 'poll', transparent: false });
  expect(wait(5, page).argsKey).toBe(wait(10, page).argsKey);
  expect(wait(5, 'Waited for 5 seconds')).toMatchObject({ kind: 'wait', transparent: true });
});

test('a status command that fails while checks are pending has not failed', () => {
  const step = stepOf({
    tool: 'Bash',
    args: { command: 'gh pr checks 7' },
    result: 'build\tpending\t0',
    isError: true,
  });
  expect(step).toMatchObject({ kind: 'poll' });
  expect(step.failure).toBeUndefined();
  const health = stepOf({
    tool: 'Bash',
    args: { command: 'curl -s localhost/health' },
    result: '{"status":"starting"}',
  });
  expect(health.kind).toBe('poll');
});

test('an unknown tool that only says done counts as a write', () => {
  expect(stepOf({ tool: 'op_1', result: 'done' }).kind).toBe('write');
  expect(stepOf({ tool: 'op_1', result: '17 rows, 3 columns' }).kind).toBe('unknown');
});

test('thoughts and pauses are transparent', () => {
  expect(stepOf({ tool: 'think' }).transparent).toBe(true);
  expect(stepOf({ tool: 'Bash', args: { command: 'sleep 5' } }).transparent).toBe(true);
  expect(stepOf({ tool: 'Read' }).transparent).toBe(false);
});

test('an edit names the state it starts from and the one it leaves', () => {
  const there = stepOf({ tool: 'Edit', args: { path: 'f', old_string: 'a', new_string: 'b' } });
  const back = stepOf({ tool: 'Edit', args: { path: 'f', old_string: 'b', new_string: 'a' } });
  expect(there).toMatchObject({ target: 'f', kind: 'write', fromKey: back.leavesKey, leavesKey: back.fromKey });
});

test('the length of a pause in a command does not distinguish calls', () => {
  const look = (seconds: number): Step =>
    stepOf({ tool: 'Bash', args: { command: `sleep ${seconds} && tail -n 3 train.log` }, result: 'epoch 3' });
  expect(look(30)).toMatchObject({ kind: 'poll', argsKey: look(60).argsKey });
});

test('an output that reports a failure fails a program that ran, not a file that was shown', () => {
  const result = 'cc -c a.c\na.c:1:1: fatal error: zlib.h: No such file\nstopped';
  expect(stepOf({ tool: 'Bash', args: { command: 'make || true' }, result }).failure?.soft).toBe(true);
  expect(
    stepOf({ tool: 'Bash', args: { command: 'grep -n error build.log' }, result: '3:ERROR one\n4:x' }).failure,
  ).toBe(undefined);
});

test('a poll that reports a failure is a read', () => {
  const args = { port: 'COM7' };
  expect(stepOf({ tool: 'serial_monitor', args, result: 'boot\nGuru Meditation Error: panic' }).kind).toBe('read');
  expect(stepOf({ tool: 'serial_monitor', args, result: 'boot\nready' }).kind).toBe('poll');
});

test('output that a harness wraps in JSON with an exit code is read as program output', () => {
  const run = (output: string, exit_code: number, duration: number): Step =>
    stepOf({
      tool: 'shell',
      args: { command: 'make' },
      result: JSON.stringify({ output, metadata: { exit_code, duration_seconds: duration } }),
    });
  expect(run('main.c: error: x', 2, 0.1).failure).toMatchObject({ line: 'main.c: error: x', soft: false });
  expect(run('main.c: error: x', 2, 0.1).resultKey).toBe(run('main.c: error: x', 2, 0.9).resultKey);
  expect(run('built', 0, 0.1)).toMatchObject({ resultChars: 5 });
  expect(run('built', 0, 0.1).failure).toBeUndefined();
});

test('a program that ends with 0 has not failed, whatever it prints, unless its output went through a pipe', () => {
  const ran = (command: string): Step =>
    stepOf({
      tool: 'bash',
      args: { command },
      result: '<returncode>0</returncode>\n<output>\nTraceback (most recent call last):\nValueError: caught\n</output>',
    });
  expect(ran('python reproduce.py').failure).toBeUndefined();
  expect(ran('python reproduce.py | tail -5').failure).toMatchObject({ soft: true });
});
