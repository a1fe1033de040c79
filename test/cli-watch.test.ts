import { appendFile, readFile, rename, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { testFolder } from './support/test-folder.ts';
import { jsonLines, runCli, type CliControl, type CliResult } from './run-cli.ts';

const START_MS = Date.UTC(2026, 0, 1);

let folder: string;
let cwd: string;
let file: string;

beforeEach(() => {
  folder = testFolder();
  cwd = folder;
  file = join(cwd, 'run.jsonl');
});

/** Writes own records, one run. */
class Recording {
  #seq = 0;
  readonly #runId: string;
  readonly #parentRunId: string | undefined;

  constructor(runId = 'r1', parentRunId?: string) {
    this.#runId = runId;
    this.#parentRunId = parentRunId;
  }

  record(payload: object): string {
    const seq = this.#seq;
    this.#seq += 1;
    return `${JSON.stringify({
      schema_version: 1,
      seq,
      run_id: this.#runId,
      ...(this.#parentRunId === undefined ? {} : { parent_run_id: this.#parentRunId }),
      depth: this.#parentRunId === undefined ? 0 : 1,
      recorded_at_unix_ms: START_MS + seq * 5_000,
      payload,
    })}\n`;
  }

  start(): string {
    return this.record({ kind: 'run_started', identity: { run_id: this.#runId, depth: 0 }, task: 'make it pass' });
  }

  call(result = 'same', tool = 'bash'): string {
    const tool_call_id = `c${this.#seq}`;
    return (
      this.record({ kind: 'turn_started' }) +
      this.record({ kind: 'tool_started', tool_call_id, tool_name: tool, args: { command: 'make' } }) +
      this.record({ kind: 'tool_ended', tool_call_id, tool_name: tool, result, is_error: false })
    );
  }

  end(): string {
    return this.record({ kind: 'run_ended', outcome: 'ended', new_messages: [] });
  }
}

/** An action once the output contains a text; each once, in order. */
type Step = readonly [seen: string, act: (control: CliControl) => Promise<void> | void];

function watch(args: readonly string[], steps: readonly Step[]): Promise<CliResult> {
  const waiting = [...steps];
  return runCli(['watch', 'run.jsonl', '--interval', '20', ...args], {
    cwd,
    onStdout: (control) => {
      // One chunk may contain the texts of several steps.
      for (let next = waiting[0]; next !== undefined && control.all.includes(next[0]); next = waiting[0]) {
        waiting.shift();
        void next[1](control);
      }
    },
  });
}

const interrupt: Step[1] = (control) => control.interrupt();
const append =
  (text: string): Step[1] =>
  () =>
    appendFile(file, text);

test('advice is printed while the file grows, and no record is lost between two reads', async () => {
  const run = new Recording();
  await writeFile(file, run.start() + run.call());
  const { code, stdout, stderr } = await watch(
    ['--until-end', '--deadline', '8m'],
    [
      ['the last ones', append(run.call() + run.call())],
      ['#3 bash make', () => {}],
      ['[Feedback - Pattern]', append(run.call('done', 'read_file'))],
      ['#4 read_file', append(run.end())],
    ],
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Watching run\.jsonl, [^]*nothing reaches the agent\.\n/);
  expect(stdout).toContain('— read 1 run, 1 call, 0 patterns, 1 piece of advice; the last ones:\n');
  expect(stdout).toContain('  ▲ stuck, likely: the same call with the same result, bash, seen 3 times since call 1\n');
  expect(stdout).toContain(
    '    ▸ Deadline feedback, info\n    │ [Feedback - Deadline]\n    │\n    │ You have 7 minutes remaining.\n',
  );
  expect(stdout).toContain('■ finished, run r1\n');
  expect(stdout).toMatch(/\nwatched 1 run, 4 calls, 1 pattern, \d pieces of advice\n$/);
});

test('watch waits for a missing file, and Ctrl-C ends it with a summary and exit code 0', async () => {
  const run = new Recording();
  const { code, stdout, stderr } = await watch(
    [],
    [
      ['does not exist yet', () => writeFile(file, run.start() + run.call())],
      ['#1 bash make', interrupt],
    ],
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/\nwatched 1 run, 1 call, 0 patterns, 0 pieces of advice\n$/);
});

test('with --no-wait a missing file is one line and exit code 1', async () => {
  const { code, stderr } = await watch(['--no-wait'], []);
  expect([code, stderr]).toEqual([1, 'coxswain: run.jsonl: no such file\n']);
});

test('a line is read once it is complete', async () => {
  const run = new Recording();
  const start = run.start();
  const whole = run.call();
  const cut = whole.length - 30;
  await writeFile(file, start + whole.slice(0, cut));
  const { stdout, stderr } = await watch(
    ['--until-end'],
    [
      [
        'the last ones',
        () =>
          new Promise((resolve) => setTimeout(resolve, 100)).then(() => appendFile(file, whole.slice(cut) + run.end())),
      ],
    ],
  );
  expect(stderr).toBe('');
  expect(stdout).toContain('— read 1 run, 1 call,');
  expect(stdout).toContain('  #1 bash make\n');
});

test.each([
  ['truncated', () => truncate(file, 0)],
  ['replaced', async (text: string) => (await writeFile(join(cwd, 'new'), text), await rename(join(cwd, 'new'), file))],
  // In place: `writeFile` would cut it short first, and a read in between would see that.
  ['rewritten', (text: string) => writeFile(file, `${text}${' '.repeat(5_000)}\n`, { flag: 'r+' })],
])('a %s file is read again', async (reason, change) => {
  const run = new Recording();
  const other = new Recording('other-run');
  const text = other.start() + other.call('x', 'read_file') + other.end();
  await writeFile(file, run.start() + run.call() + run.call());
  const { code, stdout } = await watch(
    ['--until-end'],
    [
      ['the last ones', () => change(text)],
      ['reading it again', () => (reason === 'truncated' ? appendFile(file, text) : undefined)],
    ],
  );
  expect(code).toBe(0);
  expect(stdout).toContain(`— run.jsonl was ${reason}: reading it again\n`);
  expect(stdout).toMatch(/coxswain, run other-run\n/);
  expect(stdout).toContain('watched 2 runs, 3 calls');
});

test('lines of several runs start with a short name of the run', async () => {
  const run = new Recording('parent');
  const child = new Recording('parent/agent-7f3a99', 'parent');
  await writeFile(file, run.start() + run.call());
  const { stdout } = await watch(
    ['--from-start', '--until-end'],
    [['#1 bash make', append(child.start() + child.call() + child.end() + run.call() + run.end())]],
  );
  expect(stdout).toContain('\n  #1 bash make\n');
  expect(stdout).toContain('\n7f3a99   #1 bash make\n');
  expect(stdout).toContain('\n7f3a99   coxswain, run parent/agent-7f3a99, started by parent\n');
  expect(stdout).toContain('\nparent   #2 bash make\n');
});

test('Claude Code lines are followed; a call is shown as soon as its result is written', async () => {
  let entries = 0;
  const entry = (type: string, message: object): string => {
    entries += 1;
    const timestamp = new Date(START_MS + entries * 1_000).toISOString();
    return `${JSON.stringify({ type, uuid: `u${entries}`, sessionId: 's1', isSidechain: false, timestamp, message })}\n`;
  };
  const call = (id: string): string =>
    entry('assistant', {
      id: `m-${id}`,
      role: 'assistant',
      content: [{ type: 'tool_use', id, name: 'Bash', input: { command: 'make' } }],
    }) +
    entry('user', {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'no rule', is_error: true }],
    });
  await writeFile(file, entry('user', { role: 'user', content: 'Build it.' }));
  const { code, stdout, stderr } = await watch(
    [],
    [
      ['the last ones', append(call('a'))],
      ['#1 Bash make  × no rule', append(call('b') + call('c') + call('d'))],
      ['[Feedback - Pattern]', () => {}],
      ['#4 Bash make  × no rule', interrupt],
    ],
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/claude-code, run s1\n|— read 1 run/);
  expect(stdout).toMatch(/\n {4}│ \d calls of Bash failed in the same way \(calls 1 to \d\)\. Last result: error\.\n/);
  expect(stdout).toContain('watched 1 run, 4 calls');
});

test('--json prints one object per event, safe for a terminal', async () => {
  const run = new Recording();
  const hostile = '\u001b[31mevil\u202e';
  await writeFile(file, run.start() + run.call() + run.call() + run.call() + run.call('x', hostile) + run.end());
  const { code, stdout } = await watch(['--json', '--from-start', '--until-end', '--deadline', '1m'], []);
  expect(code).toBe(0);
  expect(stdout).not.toMatch(/[\u001b\u202e]/);
  const items = jsonLines(stdout);
  expect(items[0]).toEqual({
    schema: 2,
    type: 'run_started',
    run: 'r1',
    label: 'r1',
    atMs: START_MS,
    format: 'coxswain',
    task: 'make it pass',
  });
  expect(items.find(({ type }) => type === 'call')).toEqual({
    schema: 2,
    type: 'call',
    number: 1,
    tool: 'bash',
    call: 'bash make',
    failed: false,
    run: 'r1',
    label: 'r1',
    atMs: START_MS + 15_000,
  });
  expect(items.find(({ type }) => type === 'pattern')).toMatchObject({
    change: 'flagged',
    pattern: { kind: 'identical_call', level: 'warn' },
  });
  expect(items.find(({ type }) => type === 'advice')).toMatchObject({
    source: 'feedback',
    provider: 'Deadline',
    severity: 'warning',
    point: 'post_tool_result',
  });
  expect(items.at(-2)).toMatchObject({ type: 'run_ended', outcome: 'ended' });
  expect(items.at(-1)).toMatchObject({ type: 'summary', runs: 1, calls: 4, patterns: 1 });
  expect(items.some(({ tool }) => tool === hostile)).toBe(true);
  const text = (await watch(['--from-start', '--until-end'], [])).stdout;
  expect(text).not.toMatch(/[\u001b\u202e]/);
  expect(text).toContain('#4 evil make');
});

test('a broken line is one error line, the rest is read, and the exit code is 1', async () => {
  const run = new Recording();
  await writeFile(file, `${run.start()}{"torn\n${run.call()}${run.end()}`);
  const { code, stdout, stderr } = await watch(['--until-end'], []);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^coxswain: run\.jsonl:2: [^\n]+\n$/);
  expect(stdout).toContain('  #1 bash make\n');
});

test('a file that cannot be followed is an error', async () => {
  await writeFile(file, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]));
  const packed = await watch([], []);
  expect([packed.code, packed.stderr]).toEqual([
    1,
    expect.stringMatching(/^coxswain: run\.jsonl: is packed \(gzip\)[^\n]+\n$/),
  ]);
  await writeFile(file, 'not a line of JSON\n'.repeat(40));
  const text = await watch([], []);
  expect([text.code, text.stderr]).toEqual([
    1,
    expect.stringMatching(/^coxswain: run\.jsonl: no line is valid JSON[^\n]+\n$/),
  ]);
});

test('--on-stuck runs the command once for a run that gets stuck while watched', async () => {
  const run = new Recording();
  await writeFile(file, run.start() + run.call());
  const command = `cat >> told.jsonl; echo "$COXSWAIN_EVENT" >> events.txt`;
  const { code, stderr } = await watch(
    ['--until-end', '--on-stuck', command],
    [['the last ones', append(run.call() + run.call() + run.call() + run.end())]],
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(await readFile(join(cwd, 'events.txt'), 'utf8')).toBe('stuck\n');
  expect(jsonLines(await readFile(join(cwd, 'told.jsonl'), 'utf8'))).toEqual([
    {
      event: 'stuck',
      run: 'r1',
      message: '‘make it pass’ is stuck: the same call with the same result (bash), seen 3 times',
    },
  ]);
});

test('--on-stuck ignores patterns from before the start', async () => {
  const run = new Recording();
  await writeFile(file, run.start() + run.call() + run.call() + run.call());
  const { code, stdout } = await watch(
    ['--until-end', '--on-stuck', 'echo told >> told.txt'],
    [['the last ones', append(run.end())]],
  );
  expect(code).toBe(0);
  expect(stdout).toContain('stuck, likely: the same call');
  await expect(readFile(join(cwd, 'told.txt'), 'utf8')).rejects.toThrow('ENOENT');
});

test('a failing --on-stuck command is one line on standard error, and watching continues', async () => {
  const run = new Recording();
  await writeFile(file, run.start() + run.call());
  const { code, stdout, stderr } = await watch(
    ['--until-end', '--on-stuck', 'exit 3'],
    [['the last ones', append(run.call() + run.call() + run.end())]],
  );
  expect([code, stderr]).toEqual([0, 'coxswain: run.jsonl: note: --on-stuck was not notified (stuck): exit code 3\n']);
  expect(stdout).toContain(', run r1');
});

test('an empty --on-stuck command is wrong usage', async () => {
  const { code, stderr } = await runCli(['watch', '--on-stuck', ' '], { cwd });
  expect([code, stderr]).toEqual([2, 'coxswain: --on-stuck is empty: give a shell command\n']);
});

/** Lines of a Claude Code session whose last one is the failure of a request. */
function limitedSession(): string {
  const base = { sessionId: 's1', cwd: '/work/app', version: '2.1.300', timestamp: '2026-01-01T03:00:00.000Z' };
  const text = 'You have hit your session limit · resets 5am';
  const content = [{ type: 'text', text }];
  const lines = [
    { ...base, uuid: 'u1', parentUuid: null, type: 'user', message: { role: 'user', content: 'Run the migration.' } },
    {
      ...base,
      uuid: 'u2',
      parentUuid: 'u1',
      type: 'assistant',
      isApiErrorMessage: true,
      error: 'rate_limit',
      message: { id: 'm', role: 'assistant', model: '<synthetic>', content },
    },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

test('a session file that ends in a limit ends --until-end, and its end is told', async () => {
  await writeFile(file, limitedSession());
  await utimes(file, new Date(START_MS), new Date(START_MS));
  const { code, stdout, stderr } = await watch(['--until-end', '--from-start'], []);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/■ ended with an error/);
});
