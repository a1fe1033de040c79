import { appendFileSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { viewOf } from '../src/core/facts/run-view.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { importSource } from '../src/formats/import-source.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { BUILD } from '../src/hosts/claude-code/build.ts';
import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { completeRuns, incompleteRuns } from '../src/hosts/claude-code/complete-sessions.ts';
import { EventIntake } from '../src/hosts/claude-code/event-intake.ts';
import { known, SESSION, START_MS, type Json } from './support/host-scripts.ts';
import { testFolder } from './support/test-folder.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

const MODEL = 'claude-sonnet-4-5';
const USAGE = { input_tokens: 4_000, output_tokens: 34, cache_read_input_tokens: 5_000 };

interface Call {
  readonly tool: string;
  readonly input: object;
  /** What the model reads. Absent for a call whose result the file does not have yet. */
  readonly result?: string;
  readonly isError?: boolean;
}

const bash = (command: string, result: string, isError = false): Call => ({
  tool: 'Bash',
  input: { command },
  result,
  isError,
});
const plain = bash('ls', 'a.txt');
const failing = bash('exit 4', 'Exit code 4', true);
const denied = bash('rm x', 'Permission to use Bash with command rm x has been denied.', true);
const refusedEdit: Call = {
  tool: 'Edit',
  input: { file_path: '/a.txt', old_string: 'x', new_string: 'y' },
  result: '<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>',
  isError: true,
};
const unknownTool: Call = {
  tool: 'Nope',
  input: {},
  result: '<tool_use_error>Error: No such tool available: Nope</tool_use_error>',
  isError: true,
};

/** Claude Code at work: it writes the session file before it calls a hook, as version 2.1.332 does. */
class Host {
  readonly main: string = join(testFolder(), 'projects', 'p', `${SESSION}.jsonl`);
  readonly store = memoryStore();
  /** Text for the model by the number of calls before it. */
  readonly advice: (readonly [calls: number, text: string])[] = [];
  #second = 0;
  #calls = 0;
  readonly #sessions: ClaudeSessions;
  readonly #intake: EventIntake;
  readonly #agentId: string | undefined;

  constructor({ steering = {}, agentId, from, ...limits }: HostOptions = {}) {
    const clock = { nowMs: () => START_MS + this.#second * 1_000 };
    const config = { steering, deadlineFrom: 'session', ...limits } as const;
    this.#agentId = agentId;
    if (from !== undefined) {
      this.main = from.main;
      this.store = from.store;
      this.#second = from.#second;
      this.#calls = from.#calls;
    }
    const { store } = this;
    this.#sessions = new ClaudeSessions({
      store,
      config,
      projectFolder: '/',
      redactor: NO_REDACTION,
      clock,
      build: BUILD,
    });
    const storeAddress = join(testFolder(), 'runs.db');
    this.#intake = new EventIntake({ storeAddress, redactor: NO_REDACTION, clock, onFault: () => undefined });
    mkdirSync(dirname(this.file), { recursive: true });
  }

  get file(): string {
    return this.#agentId === undefined
      ? this.main
      : join(this.main.slice(0, -'.jsonl'.length), 'subagents', `agent-${this.#agentId}.jsonl`);
  }

  get runId(): string {
    return this.#agentId === undefined ? SESSION : `${SESSION}/${this.#agentId}`;
  }

  write(type: string, more: Json, ending = '\n'): void {
    this.#second += 1;
    const timestamp = new Date(START_MS + this.#second * 1_000).toISOString();
    const about = {
      type,
      sessionId: SESSION,
      uuid: `u${this.#second}-${this.#agentId ?? ''}`,
      timestamp,
      isSidechain: this.#agentId !== undefined,
      ...(this.#agentId === undefined ? {} : { agentId: this.#agentId }),
    };
    appendFileSync(this.file, `${JSON.stringify({ ...about, ...more })}${ending}`);
  }

  async send(event: string, more: Json = {}, { late = false } = {}): Promise<void> {
    this.#second += 1;
    const place = { session_id: SESSION, transcript_path: this.main, cwd: '/', hook_event_name: event };
    const agent = this.#agentId === undefined ? {} : { agent_id: this.#agentId, agent_type: 'general-purpose' };
    const read = known({ ...place, ...agent, ...more });
    if (late) return void this.#intake.spill(read, 'the store is locked');
    await this.#intake.foldWaiting(this.#sessions, { limitMs: 60_000 });
    const { answer, faults } = await this.#sessions.answer(read.known.input, SESSION, { hasBackgroundWork: false });
    if (faults.length > 0) throw new Error(faults.join('; '));
    const text = answer.hookSpecificOutput?.additionalContext;
    if (text !== undefined) this.advice.push([this.#calls, text]);
    if (answer.stopReason !== undefined) this.advice.push([this.#calls, answer.stopReason]);
  }

  async prompt(text: string): Promise<void> {
    await this.send('UserPromptSubmit', { prompt: text });
    this.write('user', { message: { role: 'user', content: text } });
  }

  /** An answer of the model with calls, and the batch event after them unless `events` says otherwise. */
  async turn(calls: readonly Call[], { events = 'batch', late = false }: TurnOptions = {}): Promise<void> {
    const id = `msg_${this.#second}`;
    const issued = calls.map((call) => ({ ...call, id: `toolu_${(this.#calls += 1)}` }));
    for (const call of issued) {
      const block = { type: 'tool_use', id: call.id, name: call.tool, input: call.input };
      this.write('assistant', { message: message(id, [block], 'tool_use') });
    }
    const reported = (call: (typeof issued)[number]): Json => ({
      tool_name: call.tool,
      tool_input: call.input,
      tool_use_id: call.id,
    });
    for (const call of issued) {
      if (events === 'all' || events === 'before') await this.send('PreToolUse', reported(call));
      if (call.result === undefined) continue;
      if (events === 'all' && call.isError !== true)
        await this.send('PostToolUse', { ...reported(call), tool_response: call.result });
      const block = {
        type: 'tool_result',
        tool_use_id: call.id,
        content: call.result,
        is_error: call.isError === true,
      };
      this.write('user', { message: { role: 'user', content: [block] } });
    }
    const tool_calls = issued.map((call) => Object.assign({ tool_response: call.result }, reported(call)));
    if (events !== 'none') await this.send('PostToolBatch', { tool_calls }, { late });
  }

  async stop(text = 'Done.', { event = true } = {}): Promise<void> {
    const id = `msg_${this.#second}`;
    this.write('assistant', { message: message(id, [{ type: 'text', text }], 'end_turn') });
    const name = this.#agentId === undefined ? 'Stop' : 'SubagentStop';
    if (event) await this.send(name, { stop_hook_active: false, last_assistant_message: text });
  }

  async records(): Promise<readonly TrajectoryRecord[]> {
    return Array.fromAsync(this.store.readRun(this.runId));
  }
}

type Config = ConstructorParameters<typeof ClaudeSessions>[0]['config'];

interface HostOptions extends Partial<Pick<Config, 'budget' | 'prices'>> {
  readonly steering?: Config['steering'];
  readonly agentId?: string;
  /** Goes on with the files of this host: another thread, or a hook of another version. */
  readonly from?: Host;
}

interface TurnOptions {
  readonly events?: 'batch' | 'before' | 'all' | 'none';
  readonly late?: boolean;
}

function message(id: string, content: readonly object[], stop_reason: string): object {
  return { id, role: 'assistant', model: MODEL, content, stop_reason, usage: USAGE };
}

/** What must be equal in the run recorded live and the run imported from the session file. */
function factsOf(records: readonly TrajectoryRecord[]): object {
  const calls = records.flatMap(({ payload }) =>
    payload.kind === 'tool_ended'
      ? [[payload.tool_call_id, payload.tool_name, payload.result, payload.is_error, payload.outcome]]
      : [],
  );
  const args = records.flatMap(({ payload }) => (payload.kind === 'tool_started' ? [payload.args] : []));
  const answers = records.flatMap(({ payload }) =>
    payload.kind === 'message_appended' && payload.message.role === 'assistant' && payload.message.usage !== undefined
      ? [[payload.message.model_id, payload.message.usage]]
      : [],
  );
  const view = viewOf(records);
  const turns = records.filter(({ payload }) => payload.kind === 'turn_started').length;
  return { args, answers, calls, turns, usage: view.usage };
}

async function imported(host: Host): Promise<readonly TrajectoryRecord[]> {
  const records: TrajectoryRecord[] = [];
  for await (const item of readRuns(importSource(host.file), { source: 'x' })) {
    if (item.type === 'record') records.push(item.record);
  }
  return records;
}

/** The facts of the run as recorded live and as imported. */
async function bothTruths(host: Host): Promise<readonly [live: object, file: object]> {
  return [factsOf(await host.records()), factsOf(await imported(host))];
}

const SITUATIONS: Readonly<Record<string, (host: Host) => Promise<void>>> = {
  'plain calls': async (host) => {
    await host.turn([plain]);
    await host.turn([plain, bash('pwd', '/')]);
  },
  'refused, unknown and failing calls': async (host) => {
    for (const call of [refusedEdit, unknownTool, failing, denied]) await host.turn([call]);
    await host.turn([plain, failing, denied]);
  },
  'a batch whose hook was killed': async (host) => {
    await host.turn([plain]);
    await host.turn([failing, plain], { events: 'none' });
    await host.turn([refusedEdit], { events: 'none' });
    await host.turn([plain]);
  },
  'batches that waited in files because the store was locked': async (host) => {
    await host.turn([plain]);
    await host.turn([failing], { late: true });
    await host.turn([refusedEdit], { late: true });
    await host.turn([plain]);
  },
  'an answer between batches that only the file has': async (host) => {
    await host.turn([plain]);
    await host.stop('Let me think.', { event: false });
    await host.turn([plain]);
  },
  'an answer in several entries, of which the last counts': async (host) => {
    const text = { type: 'text', text: 'I look.' };
    host.write('assistant', { message: { ...message(`msg_x`, [text], ''), stop_reason: null } });
    const block = { type: 'tool_use', id: 'toolu_x', name: 'Bash', input: {} };
    host.write('assistant', { message: message('msg_x', [block], 'tool_use') });
    const result = { type: 'tool_result', tool_use_id: 'toolu_x', content: 'ok' };
    host.write('user', { message: { role: 'user', content: [result] } });
    const call = { tool_name: 'Bash', tool_input: {}, tool_use_id: 'toolu_x', tool_response: 'ok' };
    await host.send('PostToolBatch', { tool_calls: [call] });
  },
  'parallel calls, of which the last is refused first': async (host) => {
    const calls = [bash('sleep 1', 'slow'), refusedEdit].map((call, index) => ({ call, id: `toolu_${index}` }));
    for (const { call, id } of calls) {
      const block = { type: 'tool_use', id, name: call.tool, input: call.input };
      host.write('assistant', { message: message('msg_p', [block], 'tool_use') });
    }
    for (const { call, id } of calls.toReversed()) {
      const block = { type: 'tool_result', tool_use_id: id, content: call.result, is_error: call.isError };
      host.write('user', { message: { role: 'user', content: [block] } });
    }
    const tool_calls = calls.map(({ call, id }) => ({
      tool_name: call.tool,
      tool_input: call.input,
      tool_use_id: id,
      tool_response: call.result,
    }));
    await host.send('PostToolBatch', { tool_calls });
  },
  'the total cost that the host writes at the end': async (host) => {
    await host.turn([plain]);
    host.write('cost-state', { totalCostUSD: 1.25 });
  },
  'two hooks that report the same batch': async (host) => {
    const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1', tool_response: 'a.txt' };
    await host.turn([plain]);
    await host.send('PostToolBatch', { tool_calls: [call] });
  },
  'hooks before and after each call, as an earlier version installs them': async (host) => {
    await host.turn([plain], { events: 'all' });
    await host.turn([refusedEdit], { events: 'batch' });
    await host.turn([plain, bash('pwd', '/')], { events: 'all' });
  },
  'a call that is reported before it runs': async (host) => {
    for (const call of [plain, failing, denied]) await host.turn([call], { events: 'before' });
  },
  'a result that is longer than the first part that is read': async (host) => {
    await host.turn([bash('cat big', 'x'.repeat(300_000))]);
    await host.turn([bash('cat big', 'y'.repeat(300_000)), bash('cat big', 'z'.repeat(300_000))]);
  },
};

test.each(Object.entries(SITUATIONS))('the run that hooks record equals the session file: %s', async (_, play) => {
  const host = new Host();
  await host.prompt('Do it');
  await play(host);
  await host.stop();
  await host.send('SessionEnd', { reason: 'other' });
  const [live, file] = await bothTruths(host);
  expect(live).toEqual(file);
  const records = await host.records();
  expect(records.at(-1)?.payload).toMatchObject({ kind: 'run_ended', outcome: 'ended', reason: 'answered' });
});

test('a session in whose middle coxswain was installed is recorded from its beginning', async () => {
  const host = new Host();
  host.write('user', { message: { role: 'user', content: 'Do it' } });
  await host.turn([plain], { events: 'none' });
  await host.turn([failing], { events: 'none' });
  await host.turn([plain]);
  await host.stop();
  const [live, file] = await bothTruths(host);
  expect(live).toEqual(file);
});

test('a run whose calls an earlier version recorded gets the tokens of its answers', async () => {
  const before = new Host();
  await before.prompt('Do it');
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1' };
  await before.turn([plain], { events: 'none' });
  // That version read no session file.
  const noFile = { transcript_path: '/none.jsonl' };
  await before.send('PreToolUse', { ...call, ...noFile });
  await before.send('PostToolUse', { ...call, ...noFile, tool_response: 'a.txt' });
  await before.send('PostToolBatch', { ...noFile, tool_calls: [{ ...call, tool_response: 'a.txt' }] });
  const after = new Host({ from: before });
  await after.turn([plain]);
  await after.stop();
  const { calls, usage } = viewOf(await after.records());
  const file = viewOf(await imported(after));
  expect([calls, usage]).toEqual([file.calls, file.usage]);
});

test('the run of a subagent equals its own file', async () => {
  const host = new Host();
  await host.prompt('Do it');
  const agent = new Host({ from: host, agentId: 'a1' });
  await agent.send('SubagentStart');
  agent.write('user', { message: { role: 'user', content: 'Look' } });
  await agent.turn([plain]);
  await agent.turn([unknownTool]);
  await agent.stop();
  const [live, file] = await bothTruths(agent);
  expect(live).toEqual(file);
  expect((await agent.records()).at(-1)?.payload.kind).toBe('run_ended');
});

test('calls that only the session file has are advised on in the next request', async () => {
  const host = new Host({ steering: standardSteering() });
  await host.prompt('Do it');
  for (let turn = 0; turn < 4; turn += 1) await host.turn([refusedEdit]);
  expect(host.advice[0]?.[0]).toBe(3);
});

test('an answer that the host is still writing waits', async () => {
  const host = new Host();
  await host.prompt('Do it');
  const part = message('msg_1', [{ type: 'text', text: 'I look.' }], '');
  host.write('assistant', { message: { ...part, stop_reason: null, usage: { ...USAGE, output_tokens: 1 } } });
  await host.send('UserPromptSubmit', { prompt: 'And this' });
  expect(viewOf(await host.records()).usage.tokens).toBeUndefined();
  host.write('assistant', { message: part }, '');
  await host.send('UserPromptSubmit', { prompt: 'And that' });
  writeFileSync(host.file, '\n', { flag: 'a' });
  await host.stop();
  expect(viewOf(await host.records()).usage.tokens).toBe(2 * (4_000 + 34));
});

/** Completes the runs of the host's store, as a command does some minutes later. */
async function complete(host: Host): Promise<readonly string[]> {
  const folder = dirname(dirname(dirname(host.main)));
  const env = { HOME: folder, CLAUDE_CONFIG_DIR: folder, XDG_STATE_HOME: join(folder, 'state') };
  const { runs } = await host.store.listRuns();
  const writtenAtMs = Math.max(...runs.map(({ lastAtMs }) => lastAtMs)) + 60_000;
  for (const file of [host.main, host.file])
    if (existsSync(file)) utimesSync(file, writtenAtMs / 1_000, writtenAtMs / 1_000);
  const places = { home: folder, env, store: host.store };
  const incomplete = await incompleteRuns(runs, { ...places, nowMs: writtenAtMs + 60_000 });
  expect(await incompleteRuns(runs, { ...places, nowMs: writtenAtMs + 10_000 })).toEqual([]);
  await completeRuns(incomplete, host.store, folder, env);
  return incomplete.map(({ runId }) => runId);
}

test('a run whose program was killed has what the session file has, once a command has read it', async () => {
  const host = new Host();
  await host.prompt('Do it');
  await host.turn([plain]);
  await host.turn([failing, refusedEdit], { events: 'none' });
  await host.turn([{ tool: 'Bash', input: { command: 'sleep 600' } }], { events: 'none' });
  expect(await complete(host)).toEqual([SESSION]);
  const records = await host.records();
  expect(viewOf(records).usage).toEqual(viewOf(await imported(host)).usage);
  expect(records.filter(({ payload }) => payload.kind === 'tool_ended')).toHaveLength(3);
  expect(records.at(-1)?.payload).toMatchObject({ kind: 'tool_started', tool_name: 'Bash' });
  await complete(host);
  expect(await host.records()).toHaveLength(records.length);
});

test('what a host writes after its last event is recorded, and the run ends as its file says', async () => {
  const host = new Host();
  await host.prompt('Do it');
  await host.turn([plain]);
  await host.send('SessionEnd', { reason: 'other' });
  await host.turn([failing, refusedEdit], { events: 'none' });
  await host.stop('Done.', { event: false });
  expect(await complete(host)).toEqual([SESSION]);
  const [live, file] = await bothTruths(host);
  expect(live).toEqual(file);
  const records = await host.records();
  expect(records.at(-1)?.payload).toMatchObject({ kind: 'run_ended', outcome: 'ended', reason: 'answered' });
  await complete(host);
  expect(await host.records()).toHaveLength(records.length);
});

test('a call that a command saw before it ended is recorded once', async () => {
  const host = new Host();
  await host.prompt('Do it');
  const block = { type: 'tool_use', id: 'toolu_w', name: 'Bash', input: { command: 'sleep 600' } };
  host.write('assistant', { message: message('msg_w', [block], 'tool_use') });
  await complete(host);
  expect((await host.records()).at(-1)?.payload.kind).toBe('tool_started');
  const result = { type: 'tool_result', tool_use_id: 'toolu_w', content: 'ok' };
  host.write('user', { message: { role: 'user', content: [result] } });
  const call = { tool_name: 'Bash', tool_input: block.input, tool_use_id: 'toolu_w', tool_response: 'ok' };
  await host.send('PostToolBatch', { tool_calls: [call] });
  await host.stop();
  const [live, file] = await bothTruths(host);
  expect(live).toEqual(file);
});

test('the file of another session is never read', async () => {
  const host = new Host();
  await host.prompt('Do it');
  host.write('assistant', { message: message('msg_1', [{ type: 'text', text: 'Theirs' }], 'end_turn') });
  const other = join(dirname(host.main), '01a20731-32fa-7283-8738-4fb01b1c0000.jsonl');
  writeFileSync(other, `${JSON.stringify({ type: 'assistant', message: message('m', [], 'end_turn') })}\n`);
  await host.send('Stop', { transcript_path: other, last_assistant_message: 'Mine' });
  expect(viewOf(await host.records()).usage.tokens).toBeUndefined();
});

test.each([
  ['50,000 tokens', { tokens: 50_000 }, undefined, 13],
  ['10 cents by the built-in prices', { costUsd: 0.1 }, undefined, 8],
  [
    '10 cents by configured prices',
    { costUsd: 0.1 },
    { [MODEL]: { input: 1, output: 1, cacheRead: 1, cached: 'beside' } },
    12,
  ],
] as const)('a budget of %s stops the session after the call that exceeds it', async (_, budget, prices, last) => {
  const host = new Host({ steering: { stop: { budget: true } }, budget, ...(prices === undefined ? {} : { prices }) });
  await host.prompt('Do it');
  for (let turn = 1; turn <= last; turn += 1) await host.turn([bash(`step ${turn}`, `done ${turn}`)]);
  expect(host.advice.at(-1)).toEqual([last, expect.stringMatching(/^coxswain: the budget of .* is used up$/)]);
});

test('the pace of a token budget is told at the right call', async () => {
  const host = new Host({ steering: standardSteering(), budget: { tokens: 50_000 } });
  await host.prompt('Do it');
  for (let turn = 1; turn <= 10; turn += 1) await host.turn([bash(`step ${turn}`, `done ${turn}`)]);
  expect(host.advice).toEqual([
    [5, expect.stringContaining('the token budget lasts for about 7 more tool calls')],
    [7, expect.stringContaining('the token budget lasts for about 5 more tool calls')],
  ]);
});
