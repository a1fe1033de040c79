import { expect, test } from 'vitest';

import { openAnswer } from './shell-answer.ts';

const inner = 'Order W1 is\nopen.';

test.each([
  { content: [{ type: 'text', text: inner }], isError: false },
  { content: [{ type: 'text', text: inner }] },
  { type: 'tool_result', content: [{ type: 'text', text: inner }] },
  [{ type: 'text', text: inner }],
  { result: inner },
  { output: inner },
  { success: true, data: inner },
  { ok: true, error: null, result: inner, request_id: 'r-1', took_ms: 12 },
  { status: 'success', message: 'fetched', response: inner },
])('%j is opened, as a value and as its text', (result) => {
  const opened = { result: inner, failed: false };
  expect(openAnswer(result)).toEqual(opened);
  expect(openAnswer(typeof result === 'string' ? result : JSON.stringify(result))).toEqual(opened);
});

test.each([
  { content: [{ type: 'text', text: inner }], isError: true },
  { content: [{ type: 'text', text: inner }], is_error: true, _meta: { took: 1 } },
  `<tool_use_error>${inner}</tool_use_error>`,
])('the wrapping of %j reports a failure', (result) => {
  expect(openAnswer(result)).toEqual({ result: inner, failed: true });
});

test('the payload of an envelope may be any value', () => {
  expect(openAnswer({ ok: true, data: { items: [1] } })).toEqual({ result: { items: [1] }, failed: false });
  expect(openAnswer('{"success":true,"data":null}')).toEqual({ result: null, failed: false });
});

test.each([
  { success: false, error: inner },
  { ok: false, error: { code: 'CLOSED', message: inner }, data: null },
  { status: 'error', message: inner, request_id: 'r-1' },
])('why it failed stands in %j', (result) => {
  expect(openAnswer(result)).toEqual({ result: inner, failed: true });
  expect(openAnswer(JSON.stringify(result))).toEqual({ result: inner, failed: true });
});

test.each([`Observation: ${inner}`, `[2026-03-01 10:07:07] ${inner}`])('how %j is introduced goes', (text) => {
  expect(openAnswer(text)).toEqual({ result: inner, failed: false });
});

test('a wrapping within a wrapping is opened too', () => {
  const server = JSON.stringify({
    result: JSON.stringify({ content: [{ type: 'text', text: inner }], isError: true }),
  });
  expect(openAnswer(server)).toEqual({ result: inner, failed: true });
});

test('an image without its data is empty, and one with its data is unchanged', () => {
  const bare = { type: 'image', source: { type: 'base64', data: '<omitted>' } };
  expect(openAnswer([bare])).toEqual({ result: '', failed: false });
  expect(openAnswer(JSON.stringify(bare))).toEqual({ result: '', failed: false });
  const whole = { type: 'image', data: 'iVBORw0KGgo'.repeat(100) };
  expect(openAnswer([whole])).toEqual({ result: [whole], failed: false });
});

test.each([
  inner,
  '',
  null,
  7,
  [],
  {},
  { result: inner, count: 1 },
  { result: { a: 1 } },
  { status: 'pending', data: inner },
  { success: false, data: inner },
  { success: false, error: '' },
  { ok: true, message: inner },
  { data: null, errors: [{ message: inner }] },
  { code: 403, message: inner, data: null },
  { ok: true, data: inner, next: 't-7' },
  { content: inner, title: 'A page' },
  { content: [{ type: 'text', text: inner }], title: 'A page' },
  [{ id: 1, text: inner }],
  '{"result":"cut off',
  '[{"type":"text"',
  '<p>a page</p>',
  '<output>a page',
])('%j is given back as it is', (result) => {
  expect(openAnswer(result)).toEqual({ result, failed: false });
});
