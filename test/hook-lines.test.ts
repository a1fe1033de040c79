import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, test } from 'vitest';

import { putHook } from './support/built-hook.ts';
import { LINE_MARK, LINES_ARGUMENT } from '../src/hosts/claude-code/hook-lines.ts';
import { createBridge } from '../src/hosts/plugins/event-bridge.ts';
import { endWithTest } from './support/end-with-test.ts';
import { storedRecords } from './support/stored-records.ts';
import { testFolder } from './support/test-folder.ts';
import { loggedFaults, storeFileOf, trustAs } from './user-state.ts';
import { rounds, thorough } from './support/rounds.ts';

const built = testFolder();
const HOOK = join(built, 'hook.cjs');
/** The places share the compiled code of the hook. */
const CACHE = join(built, 'cache');

beforeAll(async () => {
  await putHook(built);
});

interface Place {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

function newPlace(): Place {
  const home = testFolder();
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const XDG_CONFIG_HOME = join(home, '.config');
  // Without a limit over the run, so that a short one hears several pieces.
  mkdirSync(join(XDG_CONFIG_HOME, 'coxswain'), { recursive: true });
  writeFileSync(join(XDG_CONFIG_HOME, 'coxswain', 'config.json'), '{ "noise": { "callsPerAdvice": 0 } }');
  const { PATH = '' } = process.env;
  const XDG_DATA_HOME = join(home, 'data');
  const XDG_STATE_HOME = join(home, 'state');
  return {
    project,
    env: {
      PATH,
      HOME: home,
      XDG_CONFIG_HOME,
      XDG_DATA_HOME,
      XDG_STATE_HOME,
      XDG_CACHE_HOME: CACHE,
      CLAUDE_PROJECT_DIR: project,
    },
  };
}

/** A hook that takes one event a line. */
function hookOfLines({ env }: Place): (input: string) => Promise<string> {
  const child = spawn(process.execPath, [HOOK, LINES_ARGUMENT], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  endWithTest(child);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (input) => {
    child.stdin.write(`${input}\n`);
    const { value } = await answers.next();
    const { [LINE_MARK]: answer } = JSON.parse(String(value)) as Readonly<Record<string, object>>;
    return answer === undefined || Object.keys(answer).length === 0 ? '' : JSON.stringify(answer);
  };
}

async function hookOfEvent({ env }: Place, input: string): Promise<string> {
  const child = spawn(process.execPath, [HOOK], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  endWithTest(child);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stdin.end(input);
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  return stdout;
}

const event = (name: string, more: object = {}, session = 's1'): string =>
  JSON.stringify({ session_id: session, hook_event_name: name, ...more });

const call = (id: string, command = 'npm test'): object => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
});

/** A session that goes round in circles, with a subagent, a failing tool, a denied call and a compaction. */
function script(session = 's1'): readonly string[] {
  const of = (name: string, more: object = {}): string => event(name, more, session);
  const agent = { agent_id: 'a1', agent_type: 'helper' };
  const turn = (id: string, command: string, stdout: string): readonly string[] => [
    of('PreToolUse', call(id, command)),
    of('PostToolUse', { ...call(id, command), tool_response: { stdout, stderr: '' } }),
    of('PostToolBatch', { tool_calls: [{ ...call(id, command), tool_response: stdout }] }),
  ];
  const failure = (id: string): readonly string[] => [
    of('PreToolUse', call(id, `make part-${id}`)),
    of('PostToolUseFailure', { ...call(id, `make part-${id}`), error: 'Exit code 2\nmake: cc: No such file' }),
    of('PostToolBatch', { tool_calls: [{ ...call(id, `make part-${id}`), tool_response: 'Exit code 2' }] }),
  ];
  return [
    of('SessionStart', { source: 'startup', model: 'model-x' }),
    of('UserPromptSubmit', { prompt: 'Fix the build' }),
    ...['t1', 't2', 't3', 't4'].flatMap((id) => turn(id, 'npm test', 'up to date')),
    of('SubagentStart', agent),
    of('PreToolUse', { ...agent, ...call('c1', 'ls') }),
    of('PostToolUse', { ...agent, ...call('c1', 'ls'), tool_response: { stdout: 'a', stderr: '' } }),
    of('SubagentStop', { ...agent, last_assistant_message: 'Done' }),
    ...['f1', 'f2', 'f3', 'f4', 'f5', 'f6'].flatMap(failure),
    of('PreToolUse', call('denied', 'rm x')),
    of('PostToolBatch', { tool_calls: [{ ...call('denied', 'rm x'), tool_response: 'Permission denied.' }] }),
    of('PreCompact', { trigger: 'auto' }),
    of('Stop', { stop_hook_active: false, last_assistant_message: 'All done' }),
    of('SessionEnd', { reason: 'other' }),
  ];
}

/** Texts of advice that answers hold; of a bare line, none. */
function textOf(answer: string): string | undefined {
  if (answer === '') return undefined;
  const parsed = JSON.parse(answer) as { readonly hookSpecificOutput?: { readonly additionalContext?: string } };
  return parsed.hookSpecificOutput?.additionalContext;
}

/** Records as they are stored, without what differs from one play to the next: times. */
async function comparableRecords(place: Place, runId?: string): Promise<readonly unknown[]> {
  const text = JSON.stringify(await storedRecords(place, runId), (key, value: unknown) =>
    /_ms$|^atMs$|At(Ms)?$|_hash$|Seen$/.test(key) ? 0 : value,
  );
  return JSON.parse(text) as readonly unknown[];
}

test('one process for a session and a process for each event say and record the same, also in turn', async () => {
  const ways = ['events', 'lines', 'in turns of three', ...(thorough ? ['in turn'] : [])];
  const outcomes = new Map<string, unknown>();
  for (const way of ways) {
    const place = newPlace();
    const takeLine = hookOfLines(place);
    const texts: (string | undefined)[] = [];
    for (const [index, input] of script().entries()) {
      const isLine =
        way === 'lines' || (way === 'in turn' && index % 2 === 0) || (way === 'in turns of three' && index % 6 < 3);
      texts.push(textOf(isLine ? await takeLine(input) : await hookOfEvent(place, input)));
    }
    expect(loggedFaults(place)).toBe('');
    outcomes.set(way, {
      texts,
      session: await comparableRecords(place),
      agent: await comparableRecords(place, 's1/a1'),
    });
  }
  const alone = outcomes.get('events') as { readonly texts: readonly unknown[] };
  expect(alone.texts.filter((text) => text !== undefined).length).toBeGreaterThan(2);
  for (const way of ways.slice(1)) expect([way, outcomes.get(way)]).toEqual([way, alone]);
});

test('a store that another process keeps locked does not hold the agent for long, and what waited is recorded afterwards, in order', async () => {
  const place = newPlace();
  const take = hookOfLines(place);
  await take(event('UserPromptSubmit', { prompt: 'One' }));
  const database = new DatabaseSync(storeFileOf(place));
  database.exec('BEGIN IMMEDIATE');
  expect(await take(event('PreToolUse', call('c1')))).toBe('');
  expect(loggedFaults(place)).toContain('locked');
  database.exec('ROLLBACK');
  database.close();
  expect(await take(event('PreToolUse', call('c2')))).toBe('');
  const started = (await storedRecords(place)).flatMap(({ payload }) =>
    payload.kind === 'tool_started' ? [payload.tool_call_id] : [],
  );
  expect(started).toEqual(['c1', 'c2']);
});

test('a configuration that changes counts from the next event on', async () => {
  const place = newPlace();
  const take = hookOfLines(place);
  await take(event('UserPromptSubmit', { prompt: 'One' }, 'before'));
  writeFileSync(join(place.project, 'coxswain.config.json'), '{ "mode": "shadow", "deadlin": 1 }');
  trustAs(place);
  await take(event('UserPromptSubmit', { prompt: 'Two' }, 'after'));
  expect((await storedRecords(place, 'before'))[0]?.payload).toMatchObject({ steering: { mode: 'steer' } });
  expect((await storedRecords(place, 'after'))[0]?.payload).toMatchObject({ steering: { mode: 'shadow' } });
});

test('lines that are no events are answered, and the next event is recorded', async () => {
  const place = newPlace();
  const take = hookOfLines(place);
  for (const line of ['', 'no JSON', '[]', '{}', event('Nonsense'), event('PreToolUse')])
    expect(await take(line)).toBe('');
  await take(event('UserPromptSubmit', { prompt: 'One' }));
  expect(await storedRecords(place)).not.toEqual([]);
});

test('a process that is killed after any event, with that event sent again, records each event once', async () => {
  const project = join(testFolder(), 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const log = join(built, 'pids');
  const wrapper = join(built, 'logged.cjs');
  writeFileSync(
    wrapper,
    `require('node:fs').appendFileSync(${JSON.stringify(log)}, process.pid + '\\n'); require('./hook.cjs');`,
  );
  const bridge = createBridge('pi', project, { node: process.execPath, hook: wrapper });
  const session_id = `killed-${process.pid}`;
  await bridge.send({ hook_event_name: 'UserPromptSubmit', session_id, prompt: 'Go' });
  const ids = Array.from({ length: rounds({ full: 8, short: 3 }) }, (_, index) => `c${index}`);
  for (const tool_use_id of ids) {
    const tool = { session_id, tool_name: 'bash', tool_use_id, tool_input: { command: `make ${tool_use_id}` } };
    const sent = bridge.send({ hook_event_name: 'PreToolUse', ...tool });
    const [pid] = readFileSync(log, 'utf8').trim().split('\n').slice(-1).map(Number);
    // Before, while or after it takes the event.
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await sent;
    await bridge.send({ hook_event_name: 'PostToolUse', ...tool, tool_response: 'ok' });
  }
  await bridge.send({ hook_event_name: 'SessionEnd', session_id, reason: 'exit' });
  await bridge.close();
  const { env } = process;
  const payloads = (await storedRecords({ project, env }, session_id)).map(({ payload }) => payload);
  const started = payloads.flatMap((payload) => (payload.kind === 'tool_started' ? [payload.tool_call_id] : []));
  const ended = payloads.flatMap((payload) => (payload.kind === 'tool_ended' ? [payload.tool_call_id] : []));
  expect([started, ended]).toEqual([ids, ids]);
});

test('the process ends with the agent, however that ends', async () => {
  const place = newPlace();
  const log = join(place.project, 'pid');
  const wrapper = join(built, 'ends.cjs');
  writeFileSync(
    wrapper,
    `require('node:fs').writeFileSync(process.env.PID_FILE, String(process.pid)); require('./hook.cjs');`,
  );
  const bridge = new URL('../src/hosts/plugins/event-bridge.ts', import.meta.url).href;
  const program = JSON.stringify({ node: process.execPath, hook: wrapper });
  for (const end of ['process.stdout.write("sent");', 'process.stdout.write("sent"); setInterval(() => {}, 1000);']) {
    const agent = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { createBridge } from ${JSON.stringify(bridge)};
const bridge = createBridge('pi', ${JSON.stringify(place.project)}, ${program});
await bridge.send({ hook_event_name: 'UserPromptSubmit', session_id: 's1', prompt: 'Go' });
${end}`,
      ],
      { env: { ...place.env, PID_FILE: log }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    endWithTest(agent);
    await new Promise((resolve) => agent.stdout.once('data', resolve));
    const hasEnded = new Promise((resolve) => agent.once('close', resolve));
    if (end.includes('setInterval')) agent.kill('SIGKILL');
    await hasEnded;
    await expect.poll(() => isAlive(Number(readFileSync(log, 'utf8')))).toBe(false);
  }
  expect(await storedRecords(place)).not.toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
