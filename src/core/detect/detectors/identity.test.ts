import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultDetectors } from './default-detectors.ts';
import { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';

/** Calls of few kinds, so that rows, circles and failures come about. */
const call = fc.record({
  tool: fc.constantFrom('Bash', 'Read', 'Edit'),
  arg: fc.constantFrom('a', 'b', 'c'),
  result: fc.constantFrom('', 'ok', 'Error: connection refused', 'Error: permission denied', 'text one', 'text two'),
});

test('while a pattern is open, its identity and its first call stay as they were', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 5, maxLength: 30 }), fc.integer({ min: 1, max: 40 }), (calls, rounds) => {
      const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
      const first = new Map<string, number>();
      let seq = 0;
      for (let at = 0; at < Math.min(150, calls.length * rounds); at += 1) {
        const { tool, arg, result } = calls[at % calls.length] ?? { tool: 'Read', arg: 'a', result: '' };
        const id = { tool_call_id: `c${at}`, tool_name: tool };
        const args = tool === 'Bash' ? { command: `run ${arg}` } : { file_path: arg };
        const isError = result.startsWith('Error');
        for (const payload of [
          { kind: 'tool_started', ...id, args },
          { kind: 'tool_ended', ...id, result, is_error: isError },
        ] as const) {
          analysis.fold({ schema_version: 1, seq: (seq += 1), depth: 0, recorded_at_unix_ms: 0, payload });
        }
        const open = analysis.openPatterns();
        for (const { identity, firstSeen } of open) {
          expect(firstSeen).toBe(first.get(identity) ?? firstSeen);
          first.set(identity, firstSeen);
        }
        for (const identity of first.keys())
          if (!open.some((pattern) => pattern.identity === identity)) first.delete(identity);
        const rows = open.filter(({ kind }) => kind === 'error_cascade' || kind === 'stall');
        expect(new Set(rows.map(({ kind, identity }) => `${kind} ${identity}`)).size).toBeLessThanOrEqual(
          2 * rows.length,
        );
      }
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['error_cascade', 'Error: connection refused'],
  ['stall', 'text one'],
])('a row of %s that goes on for a hundred calls is one pattern', (kind, result) => {
  const analysis = new TrajectoryAnalysis({ detectors: defaultDetectors() });
  for (let at = 0; at < 100; at += 1) {
    const id = { tool_call_id: `c${at}`, tool_name: at % 2 === 0 ? 'Read' : 'Fetch' };
    for (const payload of [
      { kind: 'tool_started', ...id, args: { file_path: `f${at % 3}` } },
      { kind: 'tool_ended', ...id, result, is_error: result.startsWith('Error') },
    ] as const) {
      analysis.fold({ schema_version: 1, seq: 2 * at, depth: 0, recorded_at_unix_ms: 0, payload });
    }
  }
  expect(analysis.patterns().filter((pattern) => pattern.kind === kind)).toHaveLength(1);
});
