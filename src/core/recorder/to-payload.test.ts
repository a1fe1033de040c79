import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../records/decode-record.ts';
import type { JsonObject } from '../base/json.ts';
import { toPayload } from './to-payload.ts';

test.each<readonly [string, JsonObject]>([
  ['without a kind', { hello: 1 }],
  ['with a kind that is no text', { kind: 7 }],
  ['with a kind of ours', { kind: 'tool_started', surprise: true }],
  ['with its own kind', { kind: 'from-elsewhere', value: [1] }],
])('an event of unknown shape %s is stored and comes back', (_name, original) => {
  const payload = toPayload({ type: 'unrecognised', original });
  if (payload?.kind !== 'unrecognised') throw new Error('it is stored as what it is not');
  const line = encodeRecord({ schema_version: 1, seq: 0, run_id: 'r', depth: 0, recorded_at_unix_ms: 0, payload });
  const { payload: decoded } = decodeRecord(JSON.parse(line));
  expect(decoded).toEqual(payload);
  expect(JSON.stringify(decoded)).toContain(JSON.stringify(original));
});

test('an event whose fields match its record is stored under their names, without absent and foreign ones', () => {
  const conflict = {
    type: 'tool_gate_conflict_resolved',
    iteration: 2,
    plugins: ['a'],
    allow: [],
    reason: 'r',
  } as const;
  const { type: kind, ...fields } = conflict;
  expect(toPayload({ ...conflict, chosenPlugin: 'a', atMs: 5 })).toEqual({ kind, ...fields, chosen_plugin: 'a' });
  expect(toPayload(conflict)).toEqual({ kind, ...fields });
});

test('the caps of an escalation have the names of their record in camel case', () => {
  expect(toPayload({ type: 'output_tokens_escalation', attempt: 1, prevCap: 100, newCap: 200 })).toEqual({
    kind: 'output_tokens_escalation',
    attempt: 1,
    prev_cap: 100,
    new_cap: 200,
  });
});

test('an event named after a record that hosts do not emit becomes unrecognised', () => {
  const event = { type: 'prompt_used', promptName: 'p' };
  // JavaScript may emit anything.
  expect(toPayload(event as never)).toEqual({ kind: 'unrecognised', original: { kind: 'unrecognised_event', event } });
});
