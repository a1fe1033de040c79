import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { jsonText, unknownPayloadText } from '../../../test/support/json-text.ts';
import { decodeRecord, parseRecord, encodeRecord } from './decode-record.ts';
import { countMembers, memberText } from './decode-payload.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

function lineWith(payloadText: string): string {
  return `{"schema_version":1,"seq":4,"run_id":"a","depth":0,"recorded_at_unix_ms":1,"payload":${payloadText}}`;
}

/** The text of the payload in a line after parsing and encoding. */
function writtenPayload(line: string): string | undefined {
  return memberText(encodeRecord(parseRecord(line)), 'payload');
}

test('a payload of an unknown kind is written byte for byte as it was read, however often', () => {
  fc.assert(
    fc.property(unknownPayloadText, (text) => {
      const once = encodeRecord(parseRecord(lineWith(text)));
      expect(memberText(once, 'payload')).toBe(text);
      expect(once).not.toMatch(/[\n\r]/);
      expect(encodeRecord(parseRecord(once))).toBe(once);
      expect(parseRecord(once)).toEqual(parseRecord(lineWith(text)));
    }),
    { numRuns: 1000 },
  );
});

test('numbers, escapes, blanks, the order of members and members written twice stay as they are', () => {
  const texts = [
    '{"kind":"new","n":1.0}',
    '{"kind":"new","n":[12345678901234567890,1e3,-0,1E400]}',
    '{"kind":"new","2":0,"1":0}',
    '{"kind":"new","a":"\\u0041\\/\\u00e9é"}',
    '{ "a" :\t[ ] , "kind" : "new" }',
    '{"kind":"turn_started","kind":"new","a":1,"a":2}',
  ];
  for (const text of texts) expect(writtenPayload(lineWith(text))).toBe(text);
});

test('the last member named payload is the one that counts, whatever its name is written with', () => {
  const text = '{"kind":"new","n":1.0}';
  const line = `{"payload":{"kind":"x"},"seq":1,"nested":{"payload":2.0},"recorded_at_unix_ms":1,"pay\\u006coad": ${text} ,"z":"payload"}`;
  expect(writtenPayload(line)).toBe(text);
});

test('line breaks between the parts of a record become blanks, and half a character an escape', () => {
  const payload = '{\n  "kind": "new",\r\n  "n": 1.0, "half": "\ud800" }';
  expect(writtenPayload(lineWith(payload))).toBe('{   "kind": "new",    "n": 1.0, "half": "\\ud800" }');
});

test('a payload that says the same without its text carries none', () => {
  const original = { kind: 'new', n: 1, list: ['é', null] };
  expect(parseRecord(lineWith(JSON.stringify(original))).payload).toEqual({ kind: 'unrecognised', original });
  expect(decodeRecord(JSON.parse(lineWith('{ "kind":"new" }'))).payload).not.toHaveProperty('text');
});

test('a text that does not say what the values say is not written', () => {
  const original = { kind: 'new', n: 1 };
  for (const text of ['{"kind":"new","n":2}', '{"kind":"new"', '{"kind":"new",\n"n":1}', '{"n":1,"kind":"new"}', '']) {
    const payload: TrajectoryPayload = { kind: 'unrecognised', original, text };
    const line = encodeRecord({ schema_version: 1, seq: 0, depth: 0, recorded_at_unix_ms: 1, payload });
    expect(memberText(line, 'payload')).toBe(JSON.stringify(original));
  }
});

test('nesting that cannot be written again is read, and refused when it is written', () => {
  const deep = `{"kind":"new","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const record = parseRecord(lineWith(deep));
  expect(() => encodeRecord(record)).toThrow(expect.objectContaining({ code: 'invalid-record' }));
});

test('a member is found at any position; a missing one is undefined', () => {
  fc.assert(
    fc.property(jsonText, jsonText, (before, text) => {
      const json = `{"a" : ${before} , "wanted":${text},"b":{"wanted":1},"c":["wanted"]}`;
      expect(memberText(json, 'wanted')).toBe(text);
      expect(memberText(json, 'b')).toBe('{"wanted":1}');
      expect(memberText(json, '"wanted"')).toBeUndefined();
      expect(countMembers(json)).toBe(5 + countMembers(before) + countMembers(text));
    }),
  );
  expect(memberText('{}', 'wanted')).toBeUndefined();
});
