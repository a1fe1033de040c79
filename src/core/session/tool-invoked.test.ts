import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSession } from './create-session.ts';
import { ToolCallCount, toolCallCount, ToolInvoked, ToolInvokedEvent, toolInvoked } from './tool-invoked.ts';

const clock = { nowMs: (): number => 77 };
const call = { name: 'read', params: { path: 'a' }, result: 'text', success: true };

test('every session records tool calls without registration', () => {
  const session = createSession({ clock });
  session.dispatch(toolInvoked(call));
  session.dispatch(toolInvoked({ ...call, success: false, promptName: 'plan', durationMs: 12, atMs: 5 }));
  const [first, second] = session.slice(ToolInvoked).all();
  expect(first).toEqual({
    name: 'read',
    paramsHash: expect.stringMatching(/^[0-9a-f]{16}$/),
    paramsPreview: '{"path":"a"}',
    resultHash: expect.stringMatching(/^[0-9a-f]{16}$/),
    resultPreview: 'text',
    success: true,
    callIndex: 0,
    promptName: '',
    atMs: 77,
  });
  expect(second).toMatchObject({ callIndex: 1, success: false, promptName: 'plan', durationMs: 12, atMs: 5 });
});

test.each([
  ['a text', true],
  [{ success: false, message: 'no' }, false],
  [{ success: true }, true],
  [{ success: 'no' }, true],
  [[false], true],
  [null, true],
])('without a flag of the caller, the result %j counts as success: %s', (result, success) => {
  expect(toolInvoked({ name: 'a', params: {}, result }).data.success).toBe(success);
  expect(toolInvoked({ name: 'a', params: {}, result, success: true }).data.success).toBe(true);
});

test('a given callIndex is used', () => {
  const session = createSession({ clock });
  session.dispatch(toolInvoked({ ...call, callIndex: 40 }));
  expect(session.slice(ToolInvoked).latest()?.callIndex).toBe(40);
});

test('hashes of calls do not depend on the order of keys', () => {
  const one = toolInvoked({ ...call, params: { a: 1, b: 2 } }).data;
  const two = toolInvoked({ ...call, params: { b: 2, a: 1 } }).data;
  const three = toolInvoked({ ...call, params: { a: 1, b: 3 } }).data;
  expect(two.paramsHash).toBe(one.paramsHash);
  expect(three.paramsHash).not.toBe(one.paramsHash);
  expect(toolInvoked({ ...call, result: { ok: 1 } }).data.resultPreview).toBe('{"ok":1}');
});

test('results that differ only beyond the preview have different hashes', () => {
  const one = toolInvoked({ ...call, result: `${'x'.repeat(5000)}1${'x'.repeat(5000)}` }).data;
  const two = toolInvoked({ ...call, result: `${'x'.repeat(5000)}2${'x'.repeat(5000)}` }).data;
  expect(one.resultPreview).toBe(two.resultPreview);
  expect(one.resultHash).not.toBe(two.resultHash);
});

test('previews keep their limits, show that they are cut, and never split a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 200, maxLength: 700 }), (text) => {
      const { paramsPreview, resultPreview } = toolInvoked({ ...call, params: text, result: text }).data;
      expect(paramsPreview.length).toBeLessThanOrEqual(512);
      expect(resultPreview.length).toBeLessThanOrEqual(256);
      expect(resultPreview.isWellFormed()).toBe(true);
      expect(resultPreview.includes('…') || resultPreview === text).toBe(true);
      expect(resultPreview === text).toBe(text.length <= 256);
    }),
  );
});

test('1,000 calls are retained, and the counts stay exact beyond that, per prompt too', () => {
  const session = createSession({ clock });
  for (let index = 0; index < 1500; index += 1) {
    session.dispatch(toolInvoked({ ...call, promptName: index < 300 ? 'early' : 'late' }));
  }
  const view = session.slice(ToolInvoked);
  expect([view.total(), view.all().length, view.latest()?.callIndex]).toEqual([1500, 1000, 1499]);
  const counts = session.slice(ToolCallCount);
  expect([toolCallCount(counts, 'early'), toolCallCount(counts, 'late'), toolCallCount(counts, 'never')]).toEqual([
    300, 1200, 0,
  ]);
});

test('subscribers receive tool calls', () => {
  const session = createSession({ clock });
  const names: string[] = [];
  session.subscribe(ToolInvokedEvent, (event) => names.push(event.data.name));
  session.dispatch(toolInvoked(call));
  expect(names).toEqual(['read']);
});

test('a long text in the parameters hides no other', () => {
  const params = { content: 'long '.repeat(4_000), path: 'src/a.ts', edits: [{ old: 'x'.repeat(900), new: 'y' }] };
  const { paramsPreview } = toolInvoked({ ...call, params }).data;
  expect(paramsPreview.length).toBeLessThanOrEqual(512);
  expect(JSON.parse(paramsPreview)).toMatchObject({ path: 'src/a.ts', edits: [{ new: 'y' }] });
});
