import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { readAll } from './support/script-records.ts';

test('a loop of one’s own needs turn, call and feedback: results, errors and tokens are on record, and advice comes', async () => {
  const store = memoryStore();
  const run = createCoxswain({ store, clock: createFakeClock() }).startRun({ runId: 'own' });
  const advice: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    run.turn({ content: 'I run it.', usage: { inputTokens: 10, outputTokens: 5 } });
    const work = (): Promise<never> => Promise.reject(new Error('exit 1: no rule'));
    await expect(run.call('bash', { command: 'make' }, work)).rejects.toThrow('exit 1');
    advice.push(run.feedback() ?? '');
  }
  run.turn('Now another one.');
  expect(await run.call('read', { path: 'a' }, () => 'text', { toolCallId: 'mine' })).toBe('text');
  expect(await run.call('mcp', {}, () => ({ isError: true, content: [] }))).toMatchObject({ isError: true });
  await run.end();
  expect(advice.filter((text) => text.includes('[Feedback - Pattern]'))).not.toHaveLength(0);
  const records = await readAll(store, 'own');
  const ends = records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : []));
  expect(ends.map(({ is_error }) => is_error)).toEqual([true, true, true, true, true, false, true]);
  expect(ends[5]).toMatchObject({ tool_call_id: 'mine', result: 'text' });
  expect(records.filter(({ payload }) => payload.kind === 'turn_started')).toHaveLength(6);
  expect(await store.findRun('own')).toMatchObject({ calls: 7 });
});

test('the user says which result of a call is a failure, without a throw', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, clock: createFakeClock() });
  const run = cox.startRun({ runId: 'own' });
  const isError = ({ code }: { readonly code: number }): boolean => code !== 0;
  for (const code of [0, 1]) expect(await run.call('sh', {}, () => ({ code }), { isError })).toEqual({ code });
  const broken = (): never => {
    throw new Error('a fault of the user');
  };
  expect(await run.call('sh', {}, () => 'ok', { isError: broken })).toBe('ok');
  await run.end();
  const ends = (await readAll(store, 'own')).flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : []));
  expect(ends.map(({ is_error }) => is_error)).toEqual([false, true, false]);
  expect(cox.health()).toMatchObject({ faults: 1, lastFault: 'isError: a fault of the user' });
});
