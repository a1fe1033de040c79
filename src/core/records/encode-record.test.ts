import { expect, test } from 'vitest';

import { encodeRecord } from './decode-record.ts';
import type { TrajectoryPayload, TrajectoryRecord } from './trajectory-record.ts';

function recordOf(payload: unknown): TrajectoryRecord {
  return {
    schema_version: 1,
    seq: 4,
    run_id: 'a',
    depth: 0,
    recorded_at_unix_ms: 1,
    payload: payload as TrajectoryPayload,
  };
}

test('an unrecognised payload is written as its original', () => {
  const record = recordOf({ kind: 'unrecognised', original: { kind: 'later', x: 1 } });
  expect(encodeRecord(record)).toBe(
    '{"schema_version":1,"seq":4,"run_id":"a","depth":0,"recorded_at_unix_ms":1,"payload":{"kind":"later","x":1}}',
  );
});

test('a lone surrogate is written as an escape', () => {
  expect(encodeRecord(recordOf({ kind: 'compaction', trigger: '\ud800' }))).toContain('"trigger":"\\ud800"');
});

test('what JSON cannot say is refused with its cause', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const args of [1n, circle]) {
    expect(() => encodeRecord(recordOf({ kind: 'tool_started', tool_call_id: '', tool_name: '', args }))).toThrow(
      expect.objectContaining({ code: 'invalid-record', cause: expect.any(TypeError) }),
    );
  }
  expect(() => encodeRecord(recordOf({ kind: 'unrecognised', original: {} }))).toThrow(/payload\.kind/);
});
