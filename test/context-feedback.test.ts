import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { afterCompaction, contextFeedback, limitAhead } from '../src/core/steering/feedback/built-in-feedback.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';

/** What is said after the call of each answer, whose context has this many thousand tokens; 0 stands for a compaction. */
async function saidAt(thousands: readonly number[], modelId = 'claude-sonnet-4-5'): Promise<readonly string[]> {
  const cox = createCoxswain({ store: memoryStore(), feedback: [{ provider: contextFeedback() }], guidance: [] });
  const run = cox.startRun({ task: 'Fix it' });
  const said = thousands.map((tokens, at) => {
    const toolCallId = `c${at}`;
    if (tokens === 0) {
      run.emit({ type: 'compaction', trigger: 'auto' });
      return 'compacted';
    }
    run.emit({ type: 'turn_start' });
    const usage = { inputTokens: tokens * 1_000, outputTokens: 1 };
    run.emit({ type: 'message_end', message: { role: 'assistant', content: 'So.', modelId, usage } });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'Read', args: { path: `${at}` } });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'Read', result: 'ok', isError: false });
    return run.feedback() ?? '';
  });
  await run.end();
  return said;
}

test('the context is spoken of once at each of two shares, and again after a compaction', async () => {
  const said = await saidAt([100, 149, 156, 170, 182, 190, 0, 60, 160]);
  expect(said.map((text) => /context is (\d+ % full)/.exec(text)?.[1] ?? text)).toEqual([
    '',
    '',
    '78 % full',
    '',
    '91 % full',
    '',
    'compacted',
    '',
    '80 % full',
  ]);
});

test('the context of a model whose window is unknown is not spoken of', async () => {
  expect(await saidAt([100, 190, 900], 'a-model-of-ours')).toEqual(['', '', '']);
});

test('the reminders of the user are repeated once after each compaction, and never without one', async () => {
  const provider = afterCompaction({ reminders: ['Never touch the folder vendor.'] });
  const cox = createCoxswain({ store: memoryStore(), feedback: [{ provider }], guidance: [] });
  const run = cox.startRun({ task: 'Fix it' });
  const said = [false, true, false, false, true, false].map((isCompacted, at) => {
    if (isCompacted) run.emit({ type: 'compaction', trigger: 'auto' });
    const call = { toolCallId: `c${at}`, toolName: 'Read' };
    run.emit({ type: 'tool_execution_start', ...call, args: { path: `${at}` } });
    run.emit({ type: 'tool_execution_end', ...call, result: 'ok', isError: false });
    return run.feedback() ?? '';
  });
  await run.end();
  expect(said.map((text) => /compacted (\d+ times?)/.exec(text)?.[1] ?? text)).toEqual([
    '',
    '1 time',
    '',
    '',
    '2 times',
    '',
  ]);
  expect(said[1]).toContain('Never touch the folder vendor.\n');
  expect(said[1]).toContain('Read your task list and your notes again before you go on.');
});

test('a limit of the provider is spoken of once in its window, and again in the next one', async () => {
  const clock = createFakeClock();
  const cox = createCoxswain({
    store: memoryStore(),
    clock,
    feedback: [{ provider: limitAhead() }],
    guidance: [],
    noise: { callsPerAdvice: 0 },
  });
  const run = cox.startRun({ task: 'Fix it' });
  const said: string[] = [];
  const report = (used_percent: number, window_minutes: number, resetsInMinutes: number): void => {
    const resets_at_unix_ms = clock.nowMs() + resetsInMinutes * 60_000;
    run.dispatch({ type: 'limit_used', data: { used_percent, window_minutes, resets_at_unix_ms } });
  };
  const call = (): void => {
    const place = { toolCallId: `c${said.length}`, toolName: 'Read' };
    run.emit({ type: 'tool_execution_start', ...place, args: { path: `${said.length}` } });
    run.emit({ type: 'tool_execution_end', ...place, result: 'ok', isError: false });
    said.push(/summary: .*|\d+ % of[^\n]*/.exec(run.feedback() ?? '')?.[0].replaceAll(/, at [^Z]*Z/g, '') ?? '');
    clock.advance(60);
  };
  report(80, 300, 60);
  call();
  report(92.4, 300, 58);
  call();
  call();
  report(90, 10_080, 5_000);
  call();
  call();
  clock.advance(3_600);
  call();
  report(95, 300, 290);
  call();
  await run.end();
  const hours = (percent: number, resets: string): string =>
    `${percent} % of your model's usage limit of 5.0 hours is used; it resets in ${resets}.`;
  const week = (resets: string): string =>
    `90 % of your model's usage limit of 7 days is used; it resets in ${resets}.`;
  expect(said).toEqual([
    '',
    hours(92, '58 minutes'),
    '',
    `${hours(92, '56 minutes')} ${week('3 days')}`,
    '',
    '',
    `${week('3 days')} ${hours(95, '4.8 hours')}`,
  ]);
});
