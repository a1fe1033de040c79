import { expect, test } from 'vitest';

import { parseRecord } from './decode-record.ts';

test.each(['tool_avoidance', 'context_degradation', 'sequential_when_parallel'])(
  'a stored pattern of the removed kind %s is read',
  (kind) => {
    const pattern = {
      kind,
      identity: `${kind}:x`,
      stuck: false,
      level: 'warn',
      confidence: 0.6,
      occurrences: 10,
      tool: 'bash',
      evidence: [1, 2],
      firstSeen: 1,
      flaggedAt: 2,
    };
    const payload = { kind: 'pattern_flagged', cause_seq: 3, ordinal: 0, pattern };
    const record = { schema_version: 1, seq: 4, run_id: 'r', depth: 0, recorded_at_unix_ms: 5, payload };
    expect(parseRecord(JSON.stringify(record)).payload).toMatchObject({ kind: 'pattern_flagged', pattern: { kind } });
  },
);
