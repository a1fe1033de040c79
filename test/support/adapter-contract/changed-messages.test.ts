import { expect, test } from 'vitest';

import type { AdapterOutcome, NeutralMessage } from './adapter-harness.ts';
import { changedMessages, isSameText } from './changed-messages.ts';

function outcome(...messages: readonly NeutralMessage[]): AdapterOutcome {
  return { requests: [{ raw: '', messages }], ended: 'normally', finalText: '', toolRuns: [] };
}

const result: NeutralMessage = { role: 'tool', toolCallId: 'a', text: 'It is quiet.', isError: false };

test('text with the mark may be in a message or a separate one', () => {
  const bare = outcome(result);
  expect(changedMessages(bare, outcome({ ...result, text: 'It is quiet.\n\nMARK.' }), 'MARK')).toEqual([]);
  expect(changedMessages(bare, outcome(result, { role: 'user', text: 'MARK' }), 'MARK')).toEqual([]);
});

test.each<[string, AdapterOutcome]>([
  ['another text', outcome({ ...result, text: 'It is loud. MARK' })],
  ['text without the mark', outcome({ ...result, text: 'It is quiet. Very.' })],
  ['another flag', outcome({ ...result, isError: true })],
  ['another call', outcome({ ...result, toolCallId: 'b' })],
  ['a message more without the mark', outcome(result, { role: 'user', text: 'hello' })],
  ['a message less', outcome()],
])('%s is a change', (_what, played) => {
  expect(changedMessages(outcome(result), played, 'MARK')).toHaveLength(1);
});

test('the same text is the same however it is cut, and any other text is not', () => {
  const cut = (...texts: readonly string[]): AdapterOutcome['requests'][number] => ({
    raw: '',
    messages: texts.map((text) => ({ role: 'user', text })),
  });
  expect(isSameText(cut('one two'), cut('one', 'two MARK'), 'MARK')).toBe(true);
  expect(isSameText(cut('one two'), cut('one', 'MARK', 'two'), 'MARK')).toBe(true);
  expect(isSameText(cut('one two'), cut('one', 'MARK'), 'MARK')).toBe(false);
  expect(isSameText(cut('one two'), cut('one two three'), 'MARK')).toBe(false);
});
