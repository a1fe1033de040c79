import { expect, test } from 'vitest';

import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { UsageFold } from './usage-fold.ts';

const answer = (usage?: {
  readonly cost_usd?: number;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_tokens?: number;
}): TrajectoryPayload => ({
  kind: 'message_appended',
  message: { role: 'assistant', content: 'x', ...(usage === undefined ? {} : { usage }) },
});

test('an answer of Codex or of a program that has no count of its tokens makes the tokens the least', () => {
  const after = (format: string | undefined, ...answers: readonly TrajectoryPayload[]): number | undefined => {
    const fold = new UsageFold();
    for (const one of answers) fold.fold(one, { modelId: 'gpt-5', format });
    return fold.usage.answersCountedEarly;
  };
  const counted = answer({ input_tokens: 10, output_tokens: 2 });
  expect(after('codex', counted, answer())).toBe(1);
  expect(after('codex', counted)).toBeUndefined();
  // Without any count there are no tokens to say it of.
  expect(after('codex', answer())).toBeUndefined();
  expect(after('openai-chat', counted, answer())).toBeUndefined();
  expect(after(undefined, counted, answer())).toBe(1);
  const refused: TrajectoryPayload = {
    kind: 'message_appended',
    message: { role: 'assistant', content: '', stop_reason: 'error', error_message: '500' },
  };
  expect(after(undefined, counted, refused)).toBeUndefined();
});

test('zeros are no counts, and output without any input is not all of the tokens', () => {
  const usageOf = (...answers: readonly TrajectoryPayload[]) => {
    const fold = new UsageFold();
    for (const one of answers) fold.fold(one, { modelId: 'gpt-5', format: 'copilot' });
    return fold.usage;
  };
  expect(usageOf(answer({ input_tokens: 0, output_tokens: 0 }))).toEqual({});
  expect(usageOf(answer({ output_tokens: 5 }), answer({ output_tokens: 7 }))).toMatchObject({
    tokens: 12,
    answersCountedEarly: 2,
  });
  expect(usageOf(answer({ cost_usd: 0.25 }))).toEqual({ costUsd: 0.25 });
  // The last answer has the input of all.
  const total = usageOf(answer({ output_tokens: 5 }), answer({ input_tokens: 90, output_tokens: 7 }));
  expect(total.tokens).toBe(102);
  expect(total.answersCountedEarly).toBeUndefined();
});

test('the total of a Claude Code process that went on after a killed one is not that of the session', () => {
  const costOf = (format: string, total: number) => {
    const fold = new UsageFold();
    const run = { modelId: 'claude-sonnet-4-5', format };
    for (let at = 0; at < 2; at += 1) fold.fold(answer({ cost_usd: 0.25, input_tokens: 10, output_tokens: 2 }), run);
    fold.fold({ kind: 'run_ended', outcome: 'ended', new_messages: [], usage: { cost_usd: total, tokens: 12 } }, run);
    return [fold.usage.costUsd, fold.usage.tokens];
  };
  expect(costOf('claude-code', 0.25)).toEqual([0.5, 24]);
  expect(costOf('claude-code', 0.75)).toEqual([0.75, 12]);
  // Another host may have prices of its own.
  expect(costOf('openhands', 0.25)).toEqual([0.25, 12]);
});

test('the total of a Claude Code process with subagents, which are runs of their own, is not that of the session', () => {
  const fold = new UsageFold();
  const run = { modelId: 'claude-sonnet-4-5', format: 'claude-code' };
  fold.fold({ kind: 'tool_started', tool_call_id: 'a', tool_name: 'Agent', args: { prompt: 'look' } }, run);
  fold.fold(answer({ cost_usd: 0.25, input_tokens: 10, output_tokens: 2 }), run);
  fold.fold({ kind: 'run_ended', outcome: 'ended', new_messages: [], usage: { cost_usd: 0.75, tokens: 36 } }, run);
  expect([fold.usage.costUsd, fold.usage.tokens]).toEqual([0.25, 12]);
});

test('in a session of Claude Code cached tokens are beside the input, also of another provider and if there are fewer', () => {
  const cachedWithin = (format: string) => {
    const fold = new UsageFold();
    fold.fold(answer({ input_tokens: 7170, cache_read_tokens: 256, output_tokens: 75 }), { modelId: 'glm-x', format });
    return fold.usage.cacheTokensWithin;
  };
  expect(cachedWithin('claude-code')).toBeUndefined();
  expect(cachedWithin('openai-chat')).toBe(256);
});
