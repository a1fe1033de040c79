import { expect, test } from 'vitest';

import type { StoredUsage } from '../records/agent-message.ts';
import { contextAfter, contextTokensOf } from './context-tokens.ts';

function contextOf(model_id: string, usage: StoredUsage): number | undefined {
  const message = { role: 'assistant', content: '', model_id, usage } as const;
  return contextTokensOf({ kind: 'message_appended', message }, undefined);
}

test('cached tokens are counted once, whether the vendor includes them in the input or not', () => {
  expect(contextOf('gpt-5', { input_tokens: 1_000, cache_read_tokens: 900 })).toBe(1_000);
  expect(contextOf('claude-sonnet-4-5', { input_tokens: 100, cache_read_tokens: 50, cache_write_tokens: 30 })).toBe(
    180,
  );
  expect(contextOf('gpt-5', { output_tokens: 5 })).toBeUndefined();
});

test("the context is a share of the model's window, or of the one that the host states, of an unknown model only a size, and after a compaction unknown", () => {
  const after = (model_id: string | undefined, input_tokens: number) => {
    const message = { role: 'assistant', content: '', ...(model_id === undefined ? {} : { model_id }) } as const;
    const payload = { kind: 'message_appended', message: { ...message, usage: { input_tokens } } } as const;
    return contextAfter(undefined, payload, 'claude-sonnet-4-5-20250929');
  };
  expect(after(undefined, 150_000)).toEqual({ tokens: 150_000, window: 200_000, share: 0.75 });
  expect(after('anthropic/claude-sonnet-4.5', 150_000)?.share).toBe(0.75);
  expect(after('claude-sonnet-4-5[1m]', 150_000)?.share).toBe(0.15);
  expect(after('no-such-model', 150_000)).toEqual({ tokens: 150_000 });
  const stated = { input_tokens: 5_000, context_window_tokens: 10_000 };
  const payload = { kind: 'message_appended', message: { role: 'assistant', content: '', usage: stated } } as const;
  expect(contextAfter(undefined, payload, 'claude-sonnet-4-5')).toEqual({ tokens: 5_000, window: 10_000, share: 0.5 });
  const compaction = { kind: 'compaction', trigger: 'auto' } as const;
  expect(contextAfter({ tokens: 1 }, compaction, undefined)).toBeUndefined();
});
