import { expect, test } from 'vitest';

import { Conversations } from '../src/adapters/host/conversations.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { Followed } from '../src/adapters/host/conversations.ts';

const QUESTION = { role: 'user', content: 'Look around.' };

function ask(followed: Followed<object>): void {
  followed.conversation.request({}, { messages: [], results: [] });
}

function answer({ conversation }: Followed<object>, ...ids: readonly string[]): void {
  const calls = ids.map((id) => ({ id, name: 'look', args: {}, argsText: '{}' }));
  conversation.answered({ message: { role: 'assistant', content: '' }, calls });
}

test('two loops that begin at once with the same first message have a run each, and keep it', () => {
  const run = createCoxswain().startRun();
  const conversations = new Conversations({}, () => ({}));
  const one = conversations.asking(run, QUESTION, () => []);
  ask(one);
  const other = conversations.asking(run, QUESTION, () => []);
  ask(other);
  expect(other.conversation.run.parentRunId).toBe(run.id);
  answer(one, 'call_a');
  answer(other, 'call_b');
  expect(conversations.asking(run, QUESTION, () => ['call_b'])).toBe(other);
  expect(conversations.asking(run, QUESTION, () => ['call_a'])).toBe(one);
});

test('loops one after the other share the run, and a repeated request after a failed one belongs to its loop', () => {
  const run = createCoxswain().startRun();
  const conversations = new Conversations({}, () => ({}));
  const one = conversations.asking(run, QUESTION, () => []);
  const request = one.conversation.request({}, { messages: [], results: [] });
  request.failed({ outcome: 'error', reason: 'overloaded' });
  expect(conversations.asking(run, QUESTION, () => [])).toBe(one);
  ask(one);
  answer(one);
  expect(conversations.asking(run, { role: 'user', content: 'Another task.' }, () => [])).toBe(one);
});

test('a loop keeps its run after its reader left a stream, although the calls of that answer are unknown', () => {
  const run = createCoxswain().startRun();
  const conversations = new Conversations({}, () => ({}));
  const one = conversations.asking(run, QUESTION, () => []);
  ask(one);
  expect(conversations.asking(run, QUESTION, () => ['call_unseen'])).toBe(one);
});
