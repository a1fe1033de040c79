import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { CoxswainError } from '../base/error.ts';
import { decodeRecord, parseRecord, encodeRecord } from './decode-record.ts';
import type { TrajectoryPayload, TrajectoryRecord } from './trajectory-record.ts';

const minimal = { seq: 7, recorded_at_unix_ms: 123, payload: { kind: 'turn_started' } };

test('a record without schema_version and depth reads as version 0 at depth 0', () => {
  expect(decodeRecord(minimal)).toEqual({ ...minimal, schema_version: 0, depth: 0 });
});

test('an optional field of null reads as absent, and a field that may be null may be missing', () => {
  const read = (payload: object): unknown => decodeRecord({ ...minimal, payload }).payload;
  const gate = { kind: 'tool_gate_applied', iteration: 0, plugin: 'p' };
  expect(read({ ...gate, allow: null })).toEqual(gate);
  expect(Object.keys(read({ ...gate, allow: null }) as object)).not.toContain('allow');
  const identity = { run_id: 'r', depth: 0 };
  expect(read({ kind: 'run_started', identity: { ...identity, parent_run_id: null } })).toEqual({
    kind: 'run_started',
    identity,
  });
  const request = { system_prompt_chars: 1, message_count: 1, tool_count: 0, tools: [] };
  expect(read({ kind: 'provider_request_prepared', iteration: 0, ...request })).toMatchObject({ model_id: null });
});

test('an id of null reads as absent', () => {
  expect(decodeRecord({ ...minimal, run_id: null, parent_run_id: null, late_input_id: null })).toEqual(
    decodeRecord(minimal),
  );
});

test('a newer schema is refused with both versions in the message', () => {
  const decode = (): unknown => decodeRecord({ ...minimal, schema_version: 2 });
  expect(decode).toThrow(expect.objectContaining({ code: 'schema-version' }));
  expect(decode).toThrow(/schema version 2.*reads up to 1/);
});

test('an unknown kind is kept whole and written back as it was', () => {
  const payload = { kind: 'from_the_future', through_seq: 'any', nested: [{ a: null }] };
  const record = decodeRecord({ ...minimal, payload });
  expect(record.payload).toEqual({ kind: 'unrecognised', original: payload });
  expect(JSON.parse(encodeRecord(record))).toEqual({ ...minimal, schema_version: 0, depth: 0, payload });
});

test('kinds that are names of built-in properties are unknown kinds', () => {
  for (const kind of ['toString', '__proto__', 'constructor', 'unrecognised', '']) {
    expect(decodeRecord({ ...minimal, payload: { kind } }).payload).toEqual({
      kind: 'unrecognised',
      original: { kind },
    });
  }
});

test('unknown fields are kept in the record, the payload and its messages', () => {
  const message = { role: 'user', content: 'hi', mood: 'good' };
  const record = {
    ...minimal,
    schema_version: 1,
    depth: 0,
    extra: 1,
    payload: { kind: 'message_appended', message, more: [] },
  };
  expect(decodeRecord(record)).toEqual(record);
});

test('a content block of an unknown type becomes an other block, the blocks beside it stay', () => {
  const content = [
    { type: 'text', text: 'hi' },
    { type: 'hologram', data: 1 },
  ];
  const record = decodeRecord({
    ...minimal,
    payload: { kind: 'message_appended', message: { role: 'user', content } },
  });
  expect(record.payload).toMatchObject({ message: { content: [content[0], { type: 'other', value: content[1] }] } });
});

test('what is broken is refused with the path of the field', () => {
  const broken: readonly (readonly [unknown, string])[] = [
    [null, 'record'],
    [[], 'record'],
    [{ ...minimal, schema_version: '1' }, 'schema_version'],
    [{ ...minimal, schema_version: -1 }, 'schema_version'],
    [{ ...minimal, seq: undefined }, 'seq'],
    [{ ...minimal, seq: 2 ** 53 }, 'seq'],
    [{ ...minimal, depth: 1.5 }, 'depth'],
    [{ ...minimal, run_id: 5 }, 'run_id'],
    [{ ...minimal, parent_run_id: {} }, 'parent_run_id'],
    [{ ...minimal, late_input_id: 1 }, 'late_input_id'],
    [{ ...minimal, recorded_at_unix_ms: -1 }, 'recorded_at_unix_ms'],
    [{ ...minimal, payload: undefined }, 'payload'],
    [{ ...minimal, payload: { kind: 1 } }, 'payload.kind'],
    [{ ...minimal, payload: { kind: 'tool_started', tool_call_id: '1', tool_name: 'x' } }, 'payload.args'],
    [{ ...minimal, payload: { kind: 'gap', through_seq: 6, reason: '' } }, 'payload.through_seq'],
    [{ ...minimal, payload: { kind: 'run_started', identity: { depth: 0 } } }, 'payload.identity.run_id'],
    [
      { ...minimal, payload: { kind: 'tool_gate_applied', iteration: 0, plugin: '', allow: ['a', 2] } },
      'payload.allow[1]',
    ],
    [
      {
        ...minimal,
        payload: { kind: 'run_ended', outcome: 'x', new_messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      },
      'payload.new_messages[0].content[0].text',
    ],
    [
      { ...minimal, payload: { kind: 'message_appended', message: { role: 'ghost', content: '' } } },
      'payload.message.role',
    ],
  ];
  for (const [value, path] of broken) {
    expect(() => decodeRecord(value)).toThrow(expect.objectContaining({ code: 'invalid-record', details: { path } }));
  }
});

test('text that is not JSON is an invalid-record with its cause', () => {
  expect(() => parseRecord('{"seq":')).toThrow(
    expect.objectContaining({ code: 'invalid-record', cause: expect.any(SyntaxError) }),
  );
});

const json = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as null);
const text = fc.string({ unit: 'binary' });
const count = fc.nat();
const optional = { requiredKeys: [] };
const content = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text }),
      fc.record({ type: fc.constant('tool_call' as const), id: text, name: text, args: json }),
      fc.record({ type: fc.constant('other' as const), value: json }),
      fc.record({ type: fc.constant('image' as const), media_type: text, url: text }),
    ),
  ),
);
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system' as const, 'user' as const), content }),
  fc.record({
    role: fc.constant('assistant' as const),
    content,
    usage: fc.record({ input_tokens: count, cost_usd: count }, optional),
  }),
  fc.record({ role: fc.constant('tool_result' as const), tool_call_id: text, content, is_error: fc.boolean() }),
);
const SEQ = 3;
const payload: fc.Arbitrary<TrajectoryPayload> = fc.oneof(
  fc.record({
    kind: fc.constant('run_started' as const),
    identity: fc.record({ run_id: text, depth: count }),
    task: text,
  }),
  fc.record({
    kind: fc.constant('run_ended' as const),
    outcome: text,
    new_messages: fc.array(message),
    labels: fc.dictionary(text, json),
    reward: fc.integer(),
  }),
  fc.record({ kind: fc.constant('turn_started' as const) }),
  fc.record({ kind: fc.constant('turn_ended' as const), assistant: message, tool_results: fc.array(message) }),
  fc.record({ kind: fc.constant('message_appended' as const), message }),
  fc.record({ kind: fc.constant('tool_started' as const), tool_call_id: text, tool_name: text, args: json }),
  fc.record({
    kind: fc.constant('tool_ended' as const),
    tool_call_id: text,
    tool_name: text,
    result: json,
    is_error: fc.boolean(),
    error_inferred: fc.constant(true as const),
  }),
  fc.record({
    kind: fc.constant('provider_request_prepared' as const),
    iteration: count,
    model_id: fc.option(text),
    system_prompt_chars: count,
    message_count: count,
    tool_count: count,
    tools: fc.array(text),
  }),
  fc.record({
    kind: fc.constant('context_transform_applied' as const),
    iteration: count,
    plugin: text,
    before_count: count,
    after_count: count,
  }),
  fc.record({ kind: fc.constant('tool_gate_applied' as const), iteration: count, plugin: text, allow: fc.array(text) }),
  fc.record({
    kind: fc.constant('tool_gate_conflict_resolved' as const),
    iteration: count,
    plugins: fc.array(text),
    allow: fc.array(text),
    reason: text,
  }),
  fc.record({
    kind: fc.constant('output_tokens_escalation' as const),
    attempt: count,
    prev_cap: count,
    new_cap: count,
  }),
  fc.record({ kind: fc.constant('compaction' as const), trigger: text }),
  fc.record({ kind: fc.constant('gap' as const), through_seq: fc.nat().map((extra) => SEQ + extra), reason: text }),
  fc.record({
    kind: fc.constant('unrecognised' as const),
    original: fc.dictionary(text, json).map((fields) => Object.assign(fields, { kind: 'x_custom' })),
  }),
);
const record: fc.Arbitrary<TrajectoryRecord> = fc.record(
  {
    schema_version: fc.constantFrom(0, 1),
    seq: fc.constant(SEQ),
    run_id: text,
    parent_run_id: text,
    depth: count,
    recorded_at_unix_ms: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    payload,
  },
  { requiredKeys: ['schema_version', 'seq', 'depth', 'recorded_at_unix_ms', 'payload'] },
);

test('every record reads back as it was written, on one line', () => {
  fc.assert(
    fc.property(record, (original) => {
      const line = encodeRecord(original);
      expect(line).not.toMatch(/[\n\r]/);
      expect(line.isWellFormed()).toBe(true);
      const read = parseRecord(line);
      expect(read).toEqual(original);
      expect(JSON.parse(encodeRecord(read))).toEqual(JSON.parse(line));
    }),
    { numRuns: 500 },
  );
});

test('any JSON value is either decoded or refused with a code', () => {
  const near = fc.record({ seq: json, depth: json, recorded_at_unix_ms: json, payload: json }, optional);
  fc.assert(
    fc.property(fc.oneof(json, near), (value) => {
      expect(outcomeOf(value)).toMatch(/^(decoded|invalid-record|schema-version)$/);
    }),
  );
});

function outcomeOf(value: unknown): string {
  try {
    return decodeRecord(value).seq >= 0 ? 'decoded' : 'broken';
  } catch (thrown) {
    return thrown instanceof CoxswainError ? thrown.code : 'thrown';
  }
}
