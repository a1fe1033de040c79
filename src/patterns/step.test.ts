import { expect, test } from 'vitest';
import type { RawCall } from '../calls/raw-call.ts';
import { makeStep, type Step } from './step.ts';

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

test('the order of keys does not make another call', () => {
  expect(stepOf({ args: { a: 1, b: [2] } }).argsKey).toBe(stepOf({ args: { b: [2], a: 1 } }).argsKey);
  expect(stepOf({ args: { a: 1 } }).argsKey).not.toBe(stepOf({ args: { a: 2 } }).argsKey);
  expect(stepOf({ tool: 'A' }).argsKey).not.toBe(stepOf({ tool: 'B' }).argsKey);
});

test('a clock in the result does not make another result, a count does', () => {
  expect(stepOf({ result: 'at 10:00:01 nothing' }).resultKey).toBe(stepOf({ result: 'at 10:00:09 nothing' }).resultKey);
  expect(stepOf({ result: '3 left' }).resultKey).not.toBe(stepOf({ result: '2 left' }).resultKey);
  expect(stepOf({ result: 'x', isError: true }).resultKey).not.toBe(stepOf({ result: 'x' }).resultKey);
});

test('blanks in a one-line shell command do not make another call', () => {
  const one = stepOf({ tool: 'Bash', args: { command: 'ls   -la ' } });
  expect(one.argsKey).toBe(stepOf({ tool: 'Bash', args: { command: 'ls -la' } }).argsKey);
  const two = stepOf({ tool: 'Bash', args: { command: 'cat <<X\na  b\nX' } });
  expect(two.argsKey).not.toBe(stepOf({ tool: 'Bash', args: { command: 'cat <<X\na b\nX' } }).argsKey);
});

test('blanks and line breaks in a statement for a database do not make another call', () => {
  const ask = (sql: string): string => stepOf({ tool: 'pg_query', args: { sql } }).argsKey;
  const one = ask("SELECT a, count(*) FROM t WHERE b = 'x';");
  expect(ask("\nSELECT a,  count(*)\n  FROM t\n\tWHERE b = 'x';\n")).toBe(one);
  expect(ask("SELECT a, count(*) FROM t WHERE b = 'y';")).not.toBe(one);
});

test('what is handed over empty, a pause beside a question and a lone explanation do not make another call', () => {
  const key = (args: RawCall['args']): string => stepOf({ tool: 'memory_list', args }).argsKey;
  expect(key({ prefix: '' })).toBe(key({}));
  expect(key({ prefix: null, limit: 5 })).toBe(key({ limit: 5 }));
  expect(key({ explanation: 'once more' })).toBe(key({ explanation: 'to be sure' }));
  expect(key({ thought: 'once more' })).not.toBe(key({ thought: 'to be sure' }));
  expect(key({ url: 'https://ci', wait_before_s: 30 })).toBe(key({ url: 'https://ci', wait_before_s: 60 }));
  expect(key({ wait: 30 })).not.toBe(key({ wait: 60 }));
});

test('how a look is joined to the pause before it does not make another call', () => {
  const poll = (command: string): string => stepOf({ tool: 'Bash', args: { command } }).argsKey;
  expect(poll('sleep 15; kubectl get pods')).toBe(poll('sleep 30 && kubectl get pods'));
  expect(poll('sleep 15; kubectl get pods')).not.toBe(poll('sleep 15; kubectl get jobs'));
});

test('the number of a receipt does not make another result where the call says what was sent', () => {
  const sent = (args: RawCall['args'], result: string): string => stepOf({ tool: 'fax_send', args, result }).resultKey;
  const args = { to: '+44 1632 960147', file: 'referral.pdf' };
  expect(sent(args, 'Fax accepted. Job FX58121, 2 pages')).toBe(sent(args, 'Fax accepted. Job FX58123, 2 pages'));
  expect(sent(args, 'Fax accepted. Job FX58121, 2 pages')).not.toBe(sent(args, 'Fax accepted. Job FX58121, 3 pages'));
  expect(sent({}, 'Job FX58121 sent')).not.toBe(sent({}, 'Job FX58122 sent'));
  const begun = (name: string): string =>
    stepOf({ tool: 'spawn', args: { order: 'make the mesh' }, result: `Started in background as ${name}` }).resultKey;
  expect(begun('fern-3edf')).toBe(begun('slate-a59f'));
});

test('what is begun by the same command is the same, however its jobs are numbered', () => {
  const begun = (command: string, job: string): string =>
    stepOf({ tool: 'run_in_background', args: { command }, result: { job, pid: 3_048, state: 'started' } }).resultKey;
  expect(begun('stitch --prefix out/ridge ridge.pto', 'bg_11')).toBe(
    begun('stitch --prefix out/ridge ridge.pto', 'bg_12'),
  );
  expect(begun('samples-a', 'S-014')).not.toBe(begun('samples-a', 'S-015'));
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

test('nothing is a mere acknowledgement alone, and one fact among others', () => {
  const preview = { tool: 'podglad', args: { numer: 'FV/1' } };
  expect(stepOf({ ...preview, result: '{"result":null}' }).acknowledged).toBe(true);
  expect(stepOf({ ...preview, result: '{"numer":null,"pozycje":[]}' }).acknowledged).toBe(false);
});

test('a failure is flagged, or soft where only the text tells it', () => {
  expect(stepOf({ result: 'boom', isError: true }).failure).toMatchObject({ soft: false });
  expect(stepOf({ result: 'Error: no such file' }).failure).toMatchObject({ soft: true, category: 'not-found' });
  expect(stepOf({ result: 'fine' }).failure).toBeUndefined();
  expect(stepOf({ result: null, resultMissing: true, isError: true }).failure).toBeUndefined();
});

test('an answer that the work goes on makes a question a poll, but no write or shell command', () => {
  expect(stepOf({ tool: 'get_job', result: 'still running' }).kind).toBe('poll');
  expect(stepOf({ tool: 'create_job', result: 'queued' }).kind).toBe('write');
  expect(stepOf({ tool: 'Bash', args: { command: 'cat state' }, result: 'pending' }).kind).toBe('read');
});

test('a pause that ends with a view of the screen is a look, however long it is', () => {
  const page = `### Page state\n- heading "We are verifying your document"\n- progressbar\n- text: This takes less than a minute.\n- link "Help"`;
  const wait = (time: number, result: string): Step => stepOf({ tool: 'browser_wait_for', args: { time }, result });
  expect(wait(5, page)).toMatchObject({ kind: 'poll', transparent: false });
  expect(wait(5, page).argsKey).toBe(wait(10, page).argsKey);
  expect(wait(5, 'Waited for 5 seconds')).toMatchObject({ kind: 'wait', transparent: true });
});

test('colours and footers go from around what stands around an answer, and from within it', () => {
  const shown = (text: string): string => JSON.stringify([{ type: 'text', text }]);
  const plain = stepOf({ result: 'three orders are open' }).resultKey;
  expect(stepOf({ result: `\u001b[2m${shown('three orders are open')}\u001b[0m` }).resultKey).toBe(plain);
  expect(stepOf({ result: `${shown('three orders are open')}\n\n[Step 7/60]` }).resultKey).toBe(plain);
  expect(stepOf({ result: shown('three orders are open\n(4 of 90 actions left)') }).resultKey).toBe(plain);
  const printed = { stdout: '\u001b[1mthree orders are open\u001b[0m', stderr: '', exit_code: 0 };
  expect(stepOf({ result: printed }).resultKey).toBe(plain);
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
  const asked = stepOf({
    tool: 'Bash',
    args: { command: 'curl -s localhost/health' },
    result: '{"status":"starting"}',
  });
  expect(asked.kind).toBe('poll');
});

test('a screen that only repeats the action has said nothing of it', () => {
  expect(stepOf({ tool: 'browser_scroll', result: 'Scrolled down 500 pixels' }).acknowledged).toBe(true);
  expect(stepOf({ tool: 'browser_click', result: 'Clicked, page unchanged' }).acknowledged).toBe(false);
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

test('the numbers of a receipt do not make another result of a content stored again', () => {
  const save = (text: string, revision: number, tool = 'doc_write'): Step =>
    stepOf({ tool, args: { doc: 'novel', text }, result: `{"saved": true, "revision": ${revision}}` });
  expect(save('It was late.', 41).callKey).toBe(save('It was late.', 42).callKey);
  expect(save('It was late.', 41).callKey).not.toBe(save('It was early.', 41).callKey);
  const move = (at: number): Step => stepOf({ tool: 'move', args: { dir: 'up' }, result: `moved to ${at}` });
  expect(move(1).callKey).not.toBe(move(2).callKey);
});

test('how long a line sleeps before it looks makes no other call', () => {
  const look = (seconds: number): Step =>
    stepOf({ tool: 'Bash', args: { command: `sleep ${seconds} && tail -n 3 train.log` }, result: 'epoch 3' });
  expect(look(30)).toMatchObject({ kind: 'poll', argsKey: look(60).argsKey });
});

test('what a screen shows is told without the order it repeats', () => {
  const click = (ref: string, page: string): Step =>
    stepOf({ tool: 'browser_click', args: { ref }, result: `Clicked element ${ref}\n- heading "${page}"\n`.repeat(3) });
  expect(click('e3', 'Cart').resultKey).toBe(click('e4', 'Cart').resultKey);
  expect(click('e3', 'Cart').resultKey).not.toBe(click('e4', 'Pay').resultKey);
});

test('an output that tells of a failure is one, for a program that ran and not for a file that was shown', () => {
  const result = 'cc -c a.c\na.c:1:1: fatal error: zlib.h: No such file\nstopped';
  expect(stepOf({ tool: 'Bash', args: { command: 'make || true' }, result }).failure?.soft).toBe(true);
  expect(
    stepOf({ tool: 'Bash', args: { command: 'grep -n error build.log' }, result: '3:ERROR one\n4:x' }).failure,
  ).toBe(undefined);
});

test('a lone text that is merely acknowledged is a remark, whatever the tool is called', () => {
  expect(stepOf({ tool: 'op1', args: { text: 'perhaps so' }, result: 'ok' })).toMatchObject({ transparent: true });
  expect(stepOf({ tool: 'op1', args: { id: 1, text: 'so' }, result: 'ok' })).toMatchObject({ kind: 'write' });
});

test('an order that comes to nothing and a finding of nothing are told', () => {
  expect(stepOf({ tool: 'act', args: { order: 'wash mug' }, result: 'Nothing happens.' }).ineffective).toBe(true);
  expect(stepOf({ result: 'count\n-----\n0' }).negative).toBe(true);
  expect(stepOf({ result: 'count\n-----\n4128 in all' })).toMatchObject({ ineffective: false, negative: false });
});

test('a failure that the call foretold is none', () => {
  const post = (args: Readonly<Record<string, string | number>>): Step =>
    stepOf({
      tool: 'http_request',
      args: { url: '/orders', ...args },
      result: 'HTTP 400 invalid order',
      isError: true,
    });
  expect(post({ expect: 400 })).toMatchObject({ acknowledged: true });
  expect(post({ expect: 400 }).failure).toBeUndefined();
  expect(post({ expect: 201 }).failure).toBeDefined();
  expect(post({}).failure).toBeDefined();
});

test('what is made again under another id is the same', () => {
  const book = (id: string, room: string): Step =>
    stepOf({ tool: 'create_event', args: { title: 'Q2' }, result: `{"id":"${id}","room":"${room}"}` });
  expect(book('7s0d1q9m4hk2vb6c3u8e', 'Lagune').resultKey).toBe(book('0nf8r2x6w5cz1yqk9ldm', 'Lagune').resultKey);
  expect(book('7s0d1q9m4hk2vb6c3u8e', 'Lagune').resultKey).not.toBe(book('7s0d1q9m4hk2vb6c3u8e', 'Insel').resultKey);
});

test('who asks what has come since a time, and nothing has, waits; a look that finds null does not merely acknowledge', () => {
  const args = { box: 'a', since: '2026-03-30' };
  expect(stepOf({ tool: 'mail_list', args, result: '{"messages": []}' }).kind).toBe('poll');
  expect(stepOf({ tool: 'mail_list', args, result: '{"messages": [{"subject":"Code 1"}]}' }).kind).toBe('read');
  expect(stepOf({ tool: 'mail_list', args: { box: 'a' }, result: '{"messages": []}' }).kind).toBe('read');
  expect(stepOf({ tool: 'get_value', result: 'null' }).acknowledged).toBe(false);
  expect(stepOf({ tool: 'set_value', result: 'null' }).acknowledged).toBe(true);
});

test('a tool whose arguments no name tells writes its longest text under the others', () => {
  const put = (source: string, cell: number): Step =>
    stepOf({ tool: 'put_cell', args: { notebook: 'a.ipynb', i: cell, source }, result: '{"saved":true}' });
  expect(put('df = read(1)', 2)).toMatchObject({ kind: 'write', target: '2 a.ipynb' });
  expect(put('df = read(1)', 2).leavesKey).toBe(put('df = read(1)', 3).leavesKey);
  expect(put('df = read(1)', 2).leavesKey).not.toBe(put('df = read(2)', 2).leavesKey);
});

test('a poll that tells of a failure is a look', () => {
  const args = { port: 'COM7' };
  expect(stepOf({ tool: 'serial_monitor', args, result: 'boot\nGuru Meditation Error: panic' }).kind).toBe('read');
  expect(stepOf({ tool: 'serial_monitor', args, result: 'boot\nready' }).kind).toBe('poll');
});

test('what counts up as a revision or a tracking number is the same when it is written again', () => {
  const undo = (rev: number, state: string): Step =>
    stepOf({ tool: 'undo', args: { doc: 'plan' }, result: `{"state":"${state}","rev":${rev}}` });
  expect(undo(4411, 'removed').resultKey).toBe(undo(4413, 'removed').resultKey);
  expect(undo(4411, 'removed').resultKey).not.toBe(undo(4411, 'present').resultKey);
  const buy = (tracking: string): Step => stepOf({ tool: 'buy_label', result: `{"ok":true,"tracking":"${tracking}"}` });
  expect(buy('01503266565353').resultKey).toBe(buy('01502560207396').resultKey);
});

test('what a harness wraps in JSON with an exit code is read as what was printed', () => {
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
