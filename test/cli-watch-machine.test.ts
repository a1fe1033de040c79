import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';

import { ListFeed } from '../src/cli/commands/watch/list-feed.ts';
import { followStore } from '../src/cli/commands/watch/watch-machine.ts';
import { messageOf } from '../src/core/base/error.ts';
import { StoredNames } from '../src/core/facts/task-title.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { Terminal } from '../src/cli/terminal/terminal.ts';
import { trustProject } from '../src/hosts/config/trust-project.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { Watcher } from '../src/cli/commands/watch/watcher.ts';
import { Problems } from '../src/cli/runs/problems.ts';
import { RunView } from '../src/core/facts/run-view.ts';
import { scriptRun } from './support/script-records.ts';
import { useStoresFolder } from './cli-stores.ts';
import { homeOnly, jsonLines, runCli } from './run-cli.ts';
import { endWithTest } from './support/end-with-test.ts';

const here = useStoresFolder();
const projects = (): string => join(here.cwd, 'home/.claude/projects');
const environment = () => homeOnly(join(here.cwd, 'home'));

let entries = 0;

/** A line of a session of Claude Code, written now. */
function entry(sessionId: string, type: string, message: object): string {
  entries += 1;
  const common = { sessionId, cwd: `/gone/${sessionId}-shop`, isSidechain: false, timestamp: new Date().toISOString() };
  return `${JSON.stringify({ ...common, type, uuid: `u${entries}`, message })}\n`;
}

function call(sessionId: string): string {
  const id = `t${entries}`;
  const content = [{ type: 'tool_use', id, name: 'Bash', input: { command: 'make' } }];
  const result = [{ type: 'tool_result', tool_use_id: id, content: 'no rule', is_error: true }];
  return (
    entry(sessionId, 'assistant', { id: `m${id}`, role: 'assistant', content }) +
    entry(sessionId, 'user', { role: 'user', content: result })
  );
}

async function begin(sessionId: string): Promise<string> {
  const file = join(projects(), `-${sessionId}`, `${sessionId}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, entry(sessionId, 'user', { role: 'user', content: `task of ${sessionId}` }));
  return file;
}

test('watch without a path follows every active session, also later ones, and sends notifications', async () => {
  const one = await begin('one');
  const steps: (readonly [seen: string, act: () => Promise<void>])[] = [
    ['following every session', () => appendFile(one, call('one') + call('one'))],
    [
      '#1 Bash make',
      async () => appendFile(await begin('two'), call('two') + call('two') + call('two') + call('two') + call('two')),
    ],
  ];
  let isOver = false;
  const { code, stdout, stderr } = await runCli(['watch', '--interval', '20', '--on-stuck', 'cat >> told.jsonl'], {
    cwd: here.cwd,
    env: environment(),
    onStdout: (control) => {
      for (let next = steps[0]; next !== undefined && control.all.includes(next[0]); next = steps[0]) {
        steps.shift();
        void next[1]();
      }
      if (control.all.includes('stuck,') && !isOver) control.interrupt();
      isOver = control.all.includes('stuck,');
    },
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('● task of one\n');
  expect(stdout).toContain('two-shop ● task of two\n');
  expect(stdout).toContain('two-shop   #1 Bash make  × no rule\n');
  expect(stdout).toMatch(/\nwatched 2 runs, \d calls, /);
  expect(jsonLines(await readFile(join(here.cwd, 'told.jsonl'), 'utf8'))).toMatchObject([
    { event: 'stuck', run: 'two' },
  ]);
});

test.for(['', 'late-shop'])(
  'a session whose folder is written after its first lines has the project of that folder, with --project "%s"',
  async (project) => {
    const file = join(projects(), '-late', 'late.jsonl');
    await mkdir(dirname(file), { recursive: true });
    const head = { type: 'permission-mode', permissionMode: 'default', sessionId: 'late' };
    await writeFile(file, `${JSON.stringify(head)}\n`);
    const options = project === '' ? [] : ['--project', project];
    let [hasFolder, isOver] = [false, false];
    const { code, stdout } = await runCli(['watch', '--interval', '20', '--json', ...options], {
      cwd: here.cwd,
      env: environment(),
      onStdout: ({ all, interrupt }) => {
        if (all.includes('"call"') && !isOver) interrupt();
        isOver ||= all.includes('"call"');
        if (hasFolder) return;
        hasFolder = true;
        const start = entry('late', 'user', { role: 'user', content: 'task of late' });
        void appendFile(file, start + call('late') + call('late'));
      },
    });
    expect(code).toBe(0);
    expect(jsonLines(stdout).filter(({ type }) => type === 'run_started')).toMatchObject([{ label: 'late-shop' }]);
  },
);

test('a run in the project store and in a transcript is watched once, with its recorded advice', async () => {
  await begin('both');
  await writeFile(join(here.cwd, 'coxswain.config.json'), JSON.stringify({ store: { address: 'mine.db' } }));
  trustProject(here.cwd, { env: process.env });
  const store = sqliteStore(join(here.cwd, 'mine.db'));
  const cox = createCoxswain({ store, feedback: [], guidance: [] });
  const run = cox.startRun({ runId: 'both', task: 'as the store has it' });
  run.emit({ type: 'turn_start' });
  await cox.flush();
  let isMade = false;
  let isOver = false;
  const { code, stderr, stdout } = await runCli(['watch', '--interval', '20', '--json'], {
    cwd: here.cwd,
    env: environment(),
    onStdout: (control) => {
      if (control.all.includes('"call"') && !isOver) {
        isOver = true;
        control.interrupt();
      }
      if (isMade) return;
      isMade = true;
      run.emit({ type: 'tool_execution_start', toolCallId: 'a', toolName: 'bash', args: {} });
      run.emit({ type: 'tool_execution_end', toolCallId: 'a', toolName: 'bash', result: 'x', isError: false });
    },
  });
  await cox.close();
  await store.close();
  expect([code, stderr]).toEqual([0, '']);
  const seen = jsonLines(stdout);
  expect(seen.map(({ type }) => type)).toEqual(['note', 'run_started', 'call', 'summary']);
  expect(seen[1]).toMatchObject({ run: 'both', task: 'as the store has it' });
});

test('a store that cannot be read for a moment is followed on, and nothing is missed or seen twice', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, feedback: [], guidance: [] });
  const stop = new AbortController();
  const faults: unknown[] = [];
  let round = 0;
  const reader = {
    listRuns: store.listRuns.bind(store),
    findRun: store.findRun.bind(store),
    async *readRun(...query: Parameters<typeof store.readRun>) {
      if (round === 3) throw new Error('the store is busy');
      yield* store.readRun(...query);
    },
    changes: async () => {
      round += 1;
      if (round === 2) throw new Error('attempt to write a readonly database');
      if (round > 5) stop.abort();
      else await cox.startRun({ runId: `r${round}` }).end();
      return [`r${round}`];
    },
  };
  const options = { signal: stop.signal, intervalMs: 1, stored: new StoredNames(), sinceMs: 0 };
  const seen: string[] = [];
  for await (const item of followStore(reader, { ...options, onFault: (error) => faults.push(error) }))
    if (item.type === 'record') seen.push(`${item.run.id} ${item.record.seq}`);
  await cox.close();
  expect(faults.map(messageOf)).toEqual(['attempt to write a readonly database', 'the store is busy']);
  expect(seen.toSorted()).toEqual([1, 3, 4, 5].flatMap((at) => [`r${at} 0`, `r${at} 1`]));
});

test('--newest follows the most recently written session', async () => {
  const file = await begin('new');
  let seen = '';
  const { code, stdout } = await runCli(['watch', '--newest', '--interval', '20'], {
    cwd: here.cwd,
    env: environment(),
    onStdout: ({ all, interrupt }) => {
      if (seen === '' && all.includes('the last ones')) void appendFile(file, call('new') + call('new'));
      if (seen !== 'call' && all.includes('#1')) interrupt();
      seen = all.includes('#1') ? 'call' : all.includes('the last ones') ? 'caught up' : '';
    },
  });
  expect(code).toBe(0);
  expect(stdout).toContain(`Watching ${file}`);
  const none = await runCli(['watch', '--newest'], { cwd: here.cwd, env: homeOnly(join(here.cwd, 'empty-home')) });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('there is no session of an agent program yet')]);
});

test('the list has one line per run that fits the terminal, stuck and waiting runs first', async () => {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 70, rows: 6 });
  const list = new ListFeed(new Terminal({ stdout, stderr: new PassThrough() }), 0);
  const atMs = Date.now();
  for (const run of ['a', 'b', 'c', 'd']) {
    const place = { run, label: `project-${run}`, atMs };
    await list.take({ type: 'run_started', ...place, format: 'claude-code', task: `a long task of ${run} `.repeat(9) });
    await list.take({ type: 'call', ...place, number: 1, tool: 'Bash', call: 'Bash make', failed: true });
  }
  const found = { kind: 'ping_pong', identity: 'x', stuck: true, level: 'warn', confidence: 1, evidence: [0] } as const;
  const pattern = { ...found, firstSeen: 0, flaggedAt: 0, occurrences: 2 };
  await list.take({ type: 'pattern', change: 'flagged', pattern, run: 'c', label: 'project-c', atMs });
  const localIds = new Set(['a', 'b', 'c']);
  await list.scanned({
    open: new Map([
      ['d', { waitingFor: 'permission prompt' }],
      ['a', {}],
      ['c', {}],
    ]),
    localIds,
  });
  // oxlint-disable-next-line no-control-regex -- what moves the cursor is what is looked for
  const drawn =
    String(stdout.read())
      .split(/\u001b\[J/)
      .at(-1)
      ?.replaceAll(/\u001b\[\d*m/g, '') ?? '';
  const lines = drawn.trimEnd().split('\n');
  expect(lines.map((line) => line.slice(0, 11))).toEqual([
    '4 runs. Ctr',
    '● project-c',
    '? project-d',
    '· project-a',
    'and 1 more ',
  ]);
  expect(lines[1]).toContain('stuck: back and forth between two');
  expect(lines[3]).toContain('after Bash make');
  // The process of each with a file here has ended, also of the stuck one. The other one may run elsewhere.
  await list.scanned({ open: new Map(), localIds });
  const closed = String(stdout.read()).match(/[■·?] project-[a-d] .*(?:closed: its process has|after Bash make)/g);
  expect(closed?.map((line) => line[0])).toEqual(['·', '■', '■']);
  for (const line of lines) expect(line.length).toBeLessThan(70);
});

test('the list says how each session ended whose process is gone, and whose subagent a run without a title is', async () => {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 160, rows: 20 });
  const list = new ListFeed(new Terminal({ stdout, stderr: new PassThrough() }), 0);
  const watcher = new Watcher({ feed: list, notifiers: [], deadline: undefined });
  const nowMs = Date.now();
  const views = new Map<string, RunView>();
  const source = {
    problems: new Problems(new Terminal({ stdout: new PassThrough(), stderr: new PassThrough() })),
    isLive: () => false,
    fileOf: () => ({ changedAtMs: nowMs, bytes: 1, views }),
  };
  const ends = { answered: undefined, login: { reason: 'login' }, turns: { reason: 'turn_limit' } } as const;
  for (const [id, end] of Object.entries(ends)) {
    const answer = { role: 'assistant', content: [{ type: 'text', text: 'All is done.' }] } as const;
    const records = scriptRun(
      id,
      [
        { kind: 'run_started', identity: { run_id: id, depth: 0 }, format: 'claude-code', task: `task of ${id}` },
        { kind: 'message_appended', message: { role: 'user', content: 'Do it' } },
        ...(end === undefined
          ? [{ kind: 'message_appended', message: answer } as const]
          : [{ kind: 'run_ended', outcome: 'error', reason: end.reason, new_messages: [] } as const]),
      ],
      { startMs: nowMs },
    );
    const view = new RunView();
    views.set(id, view);
    const run = { key: id, id, depth: 0 };
    for (const record of records) {
      view.fold(record);
      // Following holds the end of a file back.
      if (record.payload.kind !== 'run_ended') await watcher.take({ type: 'record', run, record }, source);
    }
  }
  await list.take({ type: 'run_started', run: 'turns/a1', parentRun: 'turns', label: 'sub', format: 'claude-code' });
  const standing = { open: new Map(), localIds: new Set(Object.keys(ends)) };
  await watcher.tick({ nowMs, steadyMs: 0, standing });
  await list.scanned(standing);
  const drawn = String(stdout.read());
  expect(drawn).not.toContain('its process has ended');
  expect(drawn).toMatch(/it answered; .*task of answered/);
  expect(drawn).toMatch(/login failed .*task of login/);
  expect(drawn).toMatch(/turn limit .*task of turns/);
  expect(drawn).toContain('subagent of task of turns');
});

test('a call that hangs, a question without an answer and a killed session are told, with project, task and the command to look', async () => {
  const atMinutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
  const tools = {
    hangs: { name: 'Bash', input: { command: 'git push' } },
    asks: { name: 'AskUserQuestion', input: { questions: [{ question: 'Which port?' }] } },
    gone: { name: 'Bash', input: { command: 'git fetch' } },
  };
  for (const [id, tool] of Object.entries(tools)) {
    const file = await begin(id);
    const content = [{ type: 'tool_use', id: `t-${id}`, ...tool }];
    const more = entry(id, 'assistant', { id: `m-${id}`, role: 'assistant', content });
    const lines = (await readFile(file, 'utf8')) + more;
    await writeFile(file, lines.replaceAll(/"timestamp":"[^"]*"/g, `"timestamp":"${atMinutesAgo(12)}"`));
    const changed = Date.now() / 1_000 - 12 * 60;
    await utimes(file, changed, changed);
  }
  const state = join(here.cwd, 'home/.claude/sessions');
  await mkdir(state, { recursive: true });
  for (const [at, sessionId] of ['hangs', 'asks'].entries())
    await writeFile(join(state, `${at + 1}.json`), JSON.stringify({ pid: process.pid, sessionId }));
  const config = {
    notify: { command: ['sh', '-c', 'cat >> told.jsonl'], on: ['waiting', 'silent', 'limit', 'failed'] },
  };
  await writeFile(join(here.cwd, 'coxswain.config.json'), JSON.stringify(config));
  trustProject(here.cwd, { env: process.env });
  /** A session whose last line, which following holds back, is the limit. */
  const beginLimited = async (): Promise<void> => {
    const file = await begin('limited');
    const content = [{ type: 'text', text: "You've hit your limit · resets 3am (UTC)" }];
    const message = { id: 'm', role: 'assistant', model: '<synthetic>', stop_reason: 'stop_sequence', content };
    const line = entry('limited', 'assistant', message).replace('{', '{"isApiErrorMessage":true,"error":"rate_limit",');
    await appendFile(file, line);
    const changed = Date.now() / 1_000 - 90;
    await utimes(file, changed, changed);
  };
  let [seen, looking]: [string, NodeJS.Timeout | undefined] = ['', undefined];
  const { code } = await runCli(['watch', '--interval', '20', '--json'], {
    cwd: here.cwd,
    env: environment(),
    onStdout: (control) => {
      seen = control.all;
      if (looking === undefined) void beginLimited();
      looking ??= setInterval(() => {
        if (readable(join(here.cwd, 'told.jsonl')).split('\n').length <= 4) return;
        // A second interrupt ends the process at once.
        clearInterval(looking);
        control.interrupt();
      }, 50);
    },
  });
  clearInterval(looking);
  expect(code).toBe(0);
  const told = jsonLines(readable(join(here.cwd, 'told.jsonl')));
  const messages = Object.fromEntries(told.map(({ message, run }) => [run, message]));
  expect(messages).toEqual({
    hangs: expect.stringMatching(
      /^hangs-shop, ‘task of hangs’ has had no record for 12 minutes: "git push" has no result; it hangs or waits for a permission, since \d\d:\d\d; coxswain show hangs$/,
    ),
    asks: expect.stringMatching(
      /^asks-shop, ‘task of asks’ waits for your answer: Which port\?, since .*; coxswain show asks$/,
    ),
    limited: `limited-shop, ‘task of limited’ reached a limit: "You've hit your limit · resets 3am (UTC)"; coxswain show limited`,
    gone: expect.stringMatching(
      /^gone-shop, ‘task of gone’ was cut off: its process ended with "git fetch" unfinished, since/,
    ),
  });
  expect(
    jsonLines(seen)
      .filter(({ type }) => type === 'alert')
      .map(({ kind, run }) => [kind, run].join(' '))
      .toSorted(),
  ).toEqual(['silent hangs', 'waiting asks']);
  const shown = await runCli(['show', 'hangs'], { cwd: here.cwd, env: environment() });
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('task of hangs')]);
  const { stdout: report } = await runCli([], { cwd: here.cwd, env: environment() });
  expect(report).toMatch(/ need you: 1 waits for you, [^]*1 silent\nwaits .*Which port\?[^]*\nsilent /);
  expect(report).toMatch(/\nsilent +hangs-shop +no record for 12 minutes: "git push" has no result.* 4\n/);
});

test('the same new failure in five sessions of a project within an hour is told once', async () => {
  const fail = (id: string): string =>
    (entry(id, 'user', { role: 'user', content: `task of ${id}` }) + call(id))
      .replaceAll(`/gone/${id}-shop`, '/gone/fleet')
      .replaceAll('"make"', '"rtk bun"')
      .replaceAll('no rule', "error: unrecognized subcommand 'bun'");
  let [looking, hasBegun]: [NodeJS.Timeout | undefined, boolean] = [undefined, false];
  const beginAll = async (): Promise<void> => {
    for (const id of ['f1', 'f2', 'f3', 'f4', 'f5', 'f6']) await writeFile(await begin(id), fail(id));
  };
  const { code, stdout } = await runCli(
    ['watch', '--interval', '20', '--json', '--on-stuck', 'cat >> fleet.jsonl; echo >> fleet.jsonl'],
    {
      cwd: here.cwd,
      env: environment(),
      onStdout: (control) => {
        if (!hasBegun) void beginAll();
        hasBegun = true;
        looking ??= setInterval(() => {
          if (!readable(join(here.cwd, 'fleet.jsonl')).includes('of 5 sessions')) return;
          clearInterval(looking);
          control.interrupt();
        }, 50);
      },
    },
  );
  clearInterval(looking);
  expect(code).toBe(0);
  const alerts = jsonLines(stdout).filter(({ kind }) => kind === 'failing');
  expect(alerts).toMatchObject([{ type: 'alert', text: 'is one of 5 sessions in which "rtk bun" failed' }]);
});

test('the watch of another machine with the same home is neither waited for nor stopped', async () => {
  const state = join(here.cwd, 'state');
  const other = spawn('sleep', ['600']);
  endWithTest(other);
  const holder = { host: 'another machine', boot: 'b', pid: other.pid, processStart: '' };
  await mkdir(join(state, 'coxswain'), { recursive: true, mode: 0o700 });
  await writeFile(join(state, 'coxswain/watch.json'), JSON.stringify({ holder, aliveAtMs: 1, sent: [] }), {
    mode: 0o600,
  });
  const env = { ...environment(), XDG_STATE_HOME: state };
  const { code, stdout } = await runCli(['watch', '--stop'], { cwd: here.cwd, env });
  expect([code, stdout, other.signalCode]).toEqual([0, 'no watch runs in the background\n', null]);
});

test('show finds a session that no report has numbered', async () => {
  const id = '7f268ba1-0000-4000-8000-000000000001';
  await begin(id);
  const { code, stdout } = await runCli(['show', '7f268ba1'], { cwd: here.cwd, env: environment() });
  expect([code, stdout]).toEqual([0, expect.stringContaining(`task of ${id}`)]);
});

test('the watch in the background tells what happens, and after being killed neither repeats nor misses anything', async () => {
  const env = { ...environment(), XDG_STATE_HOME: join(here.cwd, 'state'), XDG_CONFIG_HOME: join(here.cwd, 'config') };
  const told = join(here.cwd, 'told.jsonl');
  const watch = (option: string) => runCli(['watch', option], { cwd: here.cwd, env });
  const mayRepeat = expect.stringContaining('may have been sent before');
  const toldRuns = (): readonly unknown[] =>
    jsonLines(readable(told)).flatMap(({ message, run }) => (mayRepeat.asymmetricMatch(message) ? [] : [run]));
  const untilTold = async (...runs: readonly string[]): Promise<void> => {
    await expect.poll(() => new Set(toldRuns())).toEqual(new Set(runs));
  };
  expect(await watch('--background')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no one to tell'),
  });
  await mkdir(join(here.cwd, 'config/coxswain'), { recursive: true });
  const config = { notify: { command: ['sh', '-c', `cat >> '${told}'`], on: ['stuck'] } };
  await writeFile(join(here.cwd, 'config/coxswain/config.json'), JSON.stringify(config));
  const stuck = async (id: string): Promise<void> =>
    appendFile(await begin(id), call(id) + call(id) + call(id) + call(id));
  try {
    const started = await watch('--background');
    const pid = Number(/process (\d+)/.exec(started.stdout)?.[1]);
    expect([started.code, started.stderr]).toEqual([0, '']);
    expect((await watch('--background')).stdout).toContain(`process ${pid}`);
    await stuck('first');
    await untilTold('first');
    process.kill(pid, 'SIGKILL');
    await stuck('second');
    await watch('--background');
    await untilTold('first', 'second');
    expect(toldRuns()).toHaveLength(2);
  } finally {
    await watch('--stop');
  }
  expect((await watch('--stop')).stdout).toBe('no watch runs in the background\n');
});

function readable(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
