import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { readHookInput } from '../src/adapters/claude/read-hook-input.ts';
import { MAX_NAME_CHARS, shortName } from '../src/core/records/short-names.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import type { ImportItem } from '../src/formats/importer.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { rounds } from './support/rounds.ts';
import { testFolder } from './support/test-folder.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

/** Calls with such names, of which a store without short names would have hundreds of megabytes. */
const CALLS = rounds({ full: 2_000, short: 400 });

/** Names of 100 KB that differ only in their middle. */
const long = (what: string, index: number): string => `${what.repeat(10_000)}${index}${what.repeat(10_000)}`;

function newStore(): { readonly store: TrajectoryStore; readonly bytes: () => number } {
  const folder = join(testFolder(), 'data');
  mkdirSync(folder);
  const file = join(folder, 'runs.db');
  const store = sqliteStore(file);
  onTestFinished(() => store.close());
  return { store, bytes: () => statSync(file).size + statSync(`${file}-wal`).size };
}

/** How many calls of the records have an end of the same id, and the longest text of a name or an id. */
function callsOf(records: readonly TrajectoryRecord[]): readonly [pairs: number, longest: number] {
  const starts = new Map<string, string>();
  const lengths = [0];
  let pairs = 0;
  for (const { payload } of records) {
    if (payload.kind === 'run_started')
      lengths.push(payload.identity.agent_name?.length ?? 0, payload.identity.conversation_id?.length ?? 0);
    if (payload.kind !== 'tool_started' && payload.kind !== 'tool_ended') continue;
    const { tool_call_id: id, tool_name: name } = payload;
    lengths.push(id.length, name.length);
    if (payload.kind === 'tool_started') starts.set(id, name);
    else if (starts.get(id) === name) pairs += 1;
  }
  return [pairs, Math.max(...lengths)];
}

test('a long name keeps its beginning, and two of them stay different', () => {
  expect(shortName('x'.repeat(MAX_NAME_CHARS))).toHaveLength(MAX_NAME_CHARS);
  const [one, two] = [shortName(long('abcde', 1)), shortName(long('abcde', 2))];
  expect(one).not.toBe(two);
  expect([one.slice(0, 5), one.length <= MAX_NAME_CHARS]).toEqual(['abcde', true]);
});

test('calls with names and ids of 100 KB make a store of a few megabytes, and none is lost', async () => {
  const { store, bytes } = newStore();
  const cox = createCoxswain({ store, clock: createFakeClock() });
  const run = cox.startRun({ runId: 'run', agentName: long('agent', 0), conversationId: long('talks', 0) });
  let dropped = 0;
  for (let index = 0; index < CALLS; index += 1) {
    const call = { toolCallId: long('abcde', index), toolName: long('tools', index) };
    const started = run.emit({ type: 'tool_execution_start', ...call, args: { index } });
    const ended = run.emit({ type: 'tool_execution_end', ...call, result: 'ok', isError: false });
    if (started === 'dropped' || ended === 'dropped') dropped += 1;
  }
  expect(await run.flush()).toBe('stored');
  const [pairs, longest] = callsOf(await Array.fromAsync(store.readRun('run')));
  expect(pairs).toBe(CALLS);
  expect(longest).toBeLessThanOrEqual(MAX_NAME_CHARS);
  expect([dropped, cox.health().recorder?.dropped]).toEqual([0, 0]);
  expect(bytes()).toBeLessThan(32_000_000);
});

test('hooks of calls with such names pair them, and keep a small state', async () => {
  const { store, bytes } = newStore();
  const sessions = new ClaudeSessions({
    store,
    config: { steering: standardSteering(), deadlineFrom: 'session' },
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock: createFakeClock(),
    build: 'test',
    measureMs: () => 0,
  });
  const take = async (event: Readonly<Record<string, unknown>>): Promise<void> => {
    const input = readHookInput({ session_id: 's1', ...event });
    if (input === undefined) throw new Error('the event cannot be read');
    const { faults } = await sessions.answer(input, 's1', { hasBackgroundWork: false });
    expect(faults).toEqual([]);
  };
  await take({ hook_event_name: 'UserPromptSubmit', prompt: 'Go' });
  for (let index = 0; index < 100; index += 1) {
    const call = { tool_name: long('tools', index), tool_use_id: long('abcde', index), tool_input: { index } };
    await take({ hook_event_name: 'PreToolUse', ...call });
    await take({ hook_event_name: 'PostToolUse', ...call, tool_response: 'ok' });
  }
  const [pairs, longest] = callsOf(await Array.fromAsync(store.readRun('s1')));
  expect(pairs).toBe(100);
  expect(longest).toBeLessThanOrEqual(MAX_NAME_CHARS);
  const snapshot = await store.transact('s1', (view) => ({ records: [], result: view.snapshot }));
  expect(JSON.stringify(snapshot).length).toBeLessThan(200_000);
  expect(bytes()).toBeLessThan(16_000_000);
});

async function* itemsOf(items: readonly ImportItem[]): AsyncGenerator<ImportItem> {
  yield* items;
}

test('importers shorten such names too, and keep calls and results together', async () => {
  const items: ImportItem[] = [
    { type: 'run', run: { key: 'k', id: 'run', format: 'calls', agentName: long('agent', 0) } },
  ];
  for (let index = 0; index < 20; index += 1) {
    const call = { tool_call_id: long('abcde', index), tool_name: long('tools', index) };
    const block = { type: 'tool_call', id: call.tool_call_id, name: call.tool_name, args: {} } as const;
    const message = { role: 'assistant', content: [block] } as const;
    items.push(
      { type: 'record', runKey: 'k', payload: { kind: 'message_appended', message } },
      { type: 'record', runKey: 'k', payload: { kind: 'tool_started', ...call, args: {} } },
      { type: 'record', runKey: 'k', payload: { kind: 'tool_ended', ...call, result: 'ok', is_error: false } },
    );
  }
  const records: TrajectoryRecord[] = [];
  for await (const item of readRuns(itemsOf(items), { source: 'test' }))
    if (item.type === 'record') records.push(item.record);
  const [pairs, longest] = callsOf(records);
  expect(pairs).toBe(20);
  expect(longest).toBeLessThanOrEqual(MAX_NAME_CHARS);
  expect(JSON.stringify(records).length).toBeLessThan(20 * 8 * MAX_NAME_CHARS);
});
