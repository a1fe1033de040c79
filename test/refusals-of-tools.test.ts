import { expect, test } from 'vitest';

import { CallBook } from '../src/adapters/ai-sdk/call-book.ts';
import { Conversations } from '../src/adapters/host/conversations.ts';
import { guarded } from '../src/adapters/host/guarded.ts';
import { RunScope } from '../src/adapters/host/run-scope.ts';
import { runTool } from '../src/adapters/host/run-tool.ts';
import { createCoxswain, refusal } from '../src/index.ts';
import type { Run } from '../src/core/run/run.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { REFUSAL_ADVICE } from '../src/core/steering/prompt/refusal.ts';
import { readAll } from './support/script-records.ts';

const NO = 'The person refused this payment.';

async function outcomesOf(work: (run: Run) => Promise<void>): Promise<readonly unknown[]> {
  const store = memoryStore();
  const run = createCoxswain({ store }).startRun({ runId: 'r' });
  await work(run);
  await run.end();
  return (await readAll(store, 'r')).flatMap(({ payload }) =>
    payload.kind === 'tool_ended' ? [payload.outcome ?? (payload.is_error ? 'failed' : 'ok')] : [],
  );
}

const REFUSING: readonly (readonly [string, () => unknown])[] = [
  ['the error that refusal() makes', () => Promise.reject(refusal(NO))],
  ['an error of the user with the outcome', () => Promise.reject(Object.assign(new Error(NO), { outcome: 'refused' }))],
  ['a failed result with the outcome', () => ({ isError: true, outcome: 'refused', text: NO })],
];

test.each(REFUSING)('run.call records %s as a refusal, and only asks the agent to ask', async (_name, work) => {
  const said: (string | undefined)[] = [];
  const outcomes = await outcomesOf(async (run) => {
    for (let round = 0; round < 4; round += 1) {
      await run.call('pay', { sum: 120 }, work).catch(() => undefined);
      said.push(run.feedback());
    }
  });
  expect(outcomes).toEqual(['refused', 'refused', 'refused', 'refused']);
  expect(said.filter((text) => text !== undefined)).toEqual([expect.stringContaining(REFUSAL_ADVICE)]);
});

test('a result with a field outcome of its own is no refusal', async () => {
  expect(await outcomesOf(async (run) => void (await run.call('ask', {}, () => ({ outcome: 'refused' }))))).toEqual([
    'ok',
  ]);
});

test('the tool of an adapter that throws a refusal, or an error that isRefused describes, is refused', async () => {
  const outcomes = await outcomesOf(async (run) => {
    const conversations = new Conversations({ isRefused: (result) => result === NO }, () => ({}));
    const { conversation } = conversations.of(run);
    const parts = {
      scope: new RunScope(() => run),
      guard: guarded(run),
      conversation: () => conversation,
      onToolError: 'result' as const,
      isError: () => false,
    };
    const call = { id: 'a', name: 'pay', args: {}, argsText: '{}' };
    for (const error of [refusal('No.'), new Error(NO), new Error('no such file')]) {
      await runTool(parts, { call, run: () => Promise.reject(error) });
    }
    await runTool(parts, { call, run: () => NO });
  });
  expect(outcomes).toEqual(['refused', 'refused', 'failed', 'refused']);
});

test('a result in a request that isRefused describes is a refusal, and an isRefused that throws is a fault', async () => {
  const outcomes = await outcomesOf(async (run) => {
    let isBroken = false;
    const isRefused = (result: unknown): boolean => {
      if (isBroken) throw new Error('broken');
      return result === NO;
    };
    const { conversation } = new Conversations({ isRefused }, () => ({})).of(run);
    for (const id of ['a', 'b']) {
      conversation.request({}, { messages: [], results: [] });
      const calls = [{ id, name: 'pay', args: {}, argsText: '{}' }];
      conversation.answered({ message: { role: 'assistant', content: '' }, calls });
      conversation.request({}, { messages: [], results: [{ id, result: NO, isError: true }] });
      isBroken = true;
    }
  });
  expect(outcomes).toEqual(['refused', 'failed']);
});

test('the calls of run.call have ids of their own in every process that opens the run', async () => {
  const store = memoryStore();
  const first = createCoxswain({ store });
  const run = await first.openRun('r', { start: {} });
  await run.call('a', {}, () => 1);
  await first.flush();
  const second = await createCoxswain({ store }).openRun('r');
  await second.call('b', {}, () => 2);
  await second.end();
  const ids = (await readAll(store, 'r')).flatMap(({ payload }) =>
    payload.kind === 'tool_started' ? [payload.tool_call_id] : [],
  );
  expect(new Set(ids).size).toBe(2);
});

test('failures beside a refused call do not keep the agent from being told to ask', () => {
  const run = createCoxswain().startRun();
  const said: string[] = [];
  const call = (id: string, toolName: string, outcome?: 'refused'): void => {
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId: id, toolName, args: { sum: 120 } });
    const end = { toolCallId: id, toolName, result: 'HTTP 403', isError: true };
    run.emit({ type: 'tool_execution_end', ...end, ...(outcome === undefined ? {} : { outcome }) });
    said.push(...[run.feedback()].filter((text) => text !== undefined));
  };
  for (let round = 0; round < 6; round += 1) {
    call(`p${round}`, 'pay', 'refused');
    call(`a${round}`, 'curl');
    call(`b${round}`, 'curl');
  }
  expect(said.length).toBeGreaterThan(0);
  for (const text of said) expect(text).toContain(REFUSAL_ADVICE);
});

test('the message of an error that a tool of the AI SDK throws is what isRefused is asked about', async () => {
  const outcomes = await outcomesOf(async (run) => {
    const calls = new CallBook(run, { maxChars: 9_000, isRefused: (result) => result === NO });
    calls.begin('a', 'pay', {});
    calls.failed('a', new Error(NO));
    calls.begin('b', 'pay', {});
    calls.failed('b', new Error('no such file'));
  });
  expect(outcomes).toEqual(['refused', 'failed']);
});
