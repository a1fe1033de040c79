import { expect, test } from 'vitest';

import type { StoredUsage } from '../records/stored-message.ts';
import { contextTokensOf } from './context-tokens.ts';

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
