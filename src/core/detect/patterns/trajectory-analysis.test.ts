import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { present } from '../../base/json.ts';
import type { ToolAnnotations, ToolDeclarations } from '../calls/tool-semantics.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import {
  allDetectors,
  scriptedRecords,
  scriptedRun,
  times,
  type ScriptedCall,
} from '../../../../test/support/scripted-run.ts';
import type { PatternDetector } from './pattern-detector.ts';
import type { TrajectoryAnalysisSnapshot } from './analysis-snapshot.ts';
import { rounds } from '../../../../test/support/rounds.ts';
import { viewOf } from '../../facts/run-view.ts';
import { TrajectoryAnalysis } from './trajectory-analysis.ts';

test('every counter counts correctly', () => {
  const { analysis } = scriptedRun(
    [
      { tool: 'read', args: { path: 'a' }, result: 'x', atMs: 1_000 },
      { tool: 'read', args: { path: 'b' }, result: 'Error: no such file', isError: true, atMs: 2_000, turn: 1 },
      { tool: 'grep', args: { q: 'c' }, result: 'denied', isError: true, atMs: 5_500, turn: 1 },
      { tool: 'think', userBefore: true },
      { tool: 'read', args: { path: 'b' }, result: 'Error: no such file', isError: true },
    ],
    { task: 'find it' },
  );
  expect(analysis.turns).toBe(4);
  expect(analysis.calls).toBe(5);
  expect(analysis.errors).toBe(3);
  expect(analysis.consecutiveErrors).toBe(1);
  expect(analysis.userMessages).toBe(1);
  expect(analysis.durationMs).toBe(4_500);
  expect(analysis.task).toBe('find it');
  expect(analysis.recentCalls(2).map((call) => call.index)).toEqual([3, 4]);
  expect(analysis.recentErrors().map((call) => call.index)).toEqual([1, 2, 4]);
});

test('an empty run has no duration and no task', () => {
  const analysis = new TrajectoryAnalysis({ detectors: allDetectors() });
  expect([analysis.turns, analysis.calls, analysis.errors]).toEqual([0, 0, 0]);
  expect([analysis.durationMs, analysis.task]).toEqual([undefined, undefined]);
  expect(analysis.patterns()).toEqual([]);
});

test('a compaction is counted', () => {
  const analysis = new TrajectoryAnalysis({ detectors: [] });
  analysis.fold(recordOf(0, { kind: 'compaction', trigger: 'auto' }));
  expect(analysis.compactions).toBe(1);
});

test('a result without a start counts as a call', () => {
  const analysis = new TrajectoryAnalysis({ detectors: allDetectors() });
  const ended = { kind: 'tool_ended', tool_call_id: 'lost', tool_name: 'read', result: 'x', is_error: false } as const;
  analysis.fold(recordOf(0, ended));
  expect(analysis.calls).toBe(1);
  expect(analysis.recentCalls()).toMatchObject([{ index: 0, tool: 'read' }]);
});

test('an open call counts only as a call', () => {
  const analysis = new TrajectoryAnalysis({ detectors: allDetectors() });
  analysis.fold(recordOf(0, { kind: 'tool_started', tool_call_id: 'c', tool_name: 'read', args: {} }));
  expect(analysis.calls).toBe(1);
  expect(analysis.recentCalls()).toEqual([]);
});

test('results that arrive out of order belong to their own calls', () => {
  const analysis = new TrajectoryAnalysis({ detectors: [] });
  const start = (id: string, seq: number): TrajectoryRecord =>
    recordOf(seq, { kind: 'tool_started', tool_call_id: id, tool_name: id, args: {} });
  const end = (id: string, seq: number): TrajectoryRecord =>
    recordOf(seq, { kind: 'tool_ended', tool_call_id: id, tool_name: id, result: id, is_error: false });
  for (const record of [start('a', 0), start('b', 1), end('b', 2), end('a', 3)]) analysis.fold(record);
  expect(analysis.recentCalls().map((call) => [call.tool, call.index])).toEqual([
    ['b', 1],
    ['a', 0],
  ]);
});

test('annotations of an MCP server tell reads from changes, unless the host declares the tool', () => {
  const kindOf = (annotations?: ToolAnnotations, tools: ToolDeclarations = {}): string | undefined => {
    const call = { tool: 'frobnicate', args: { a: 1 }, result: 'a line of text', ...present({ annotations }) };
    return scriptedRun([call], { tools }).analysis.recentCalls(1)[0]?.kind;
  };
  expect(kindOf()).toBe('unknown');
  expect(kindOf({ readOnlyHint: true })).toBe('read');
  expect(kindOf({ destructiveHint: true })).toBe('write');
  expect(kindOf({ readOnlyHint: true }, { frobnicate: { kind: 'write' } })).toBe('write');
});

test('a detector that throws is disabled and reported, and the others continue', () => {
  let starts = 0;
  const broken: PatternDetector = {
    name: 'broken',
    start: () => ({
      observe() {
        starts += 1;
        throw new Error('out of order');
      },
      snapshot: () => null,
    }),
  };
  const { analysis } = scriptedRun(times(4, { tool: 'read', args: { path: 'a' }, result: 'same text' }), {
    detectors: [broken, ...allDetectors()],
  });
  expect(starts).toBe(1);
  expect(analysis.faults).toEqual([{ detector: 'broken', callIndex: 0, message: 'out of order' }]);
  expect(analysis.openPatterns().map(({ kind }) => kind)).toContain('identical_call');
  const later = new TrajectoryAnalysis({ detectors: [broken], snapshot: analysis.snapshot() });
  later.fold(recordOf(9, { kind: 'tool_ended', tool_call_id: 'z', tool_name: 'read', result: '', is_error: false }));
  expect(starts).toBe(1);
});

test('a pattern that a user wrote himself is kept like any other', () => {
  const every: PatternDetector = {
    name: 'every',
    start: () => ({
      observe: (step) => [
        { kind: 'mine', key: 'k', stuck: false, level: 'warn', confidence: 1, occurrences: 1, evidence: [step.index] },
      ],
      snapshot: () => null,
    }),
  };
  const { analysis } = scriptedRun([{ tool: 'a' }], { detectors: [every] });
  expect(analysis.openPatterns()).toMatchObject([{ kind: 'mine', identity: 'mine:k', stuck: false }]);
});

test('two detectors of one name are refused', () => {
  const twice = [...allDetectors(), ...allDetectors().slice(0, 1)];
  expect(() => new TrajectoryAnalysis({ detectors: twice })).toThrow(/two detectors are named "cycle"/);
});

test('a snapshot of another version is refused', () => {
  const snapshot = {
    ...scriptedRun([]).analysis.snapshot(),
    schema_version: 1,
  } as unknown as TrajectoryAnalysisSnapshot;
  expect(() => new TrajectoryAnalysis({ detectors: [], snapshot })).toThrow(/version 1/);
});

/** Of 2,000 calls; `npm run test:faults` plays 200,000. */
const PARTS = rounds({ full: 100, short: 30 });

test('memory does not grow with the run', () => {
  const analysis = new TrajectoryAnalysis({ detectors: allDetectors() });
  const sizes: number[] = [];
  const records = scriptedRecords(times(2_000, mixedCall));
  for (let round = 0; round < PARTS; round += 1) {
    for (const record of records) analysis.fold(record);
    if (round === 9 || round === PARTS - 1) sizes.push(JSON.stringify(analysis.snapshot()).length);
  }
  expect(analysis.calls).toBe(PARTS * 2_000);
  const [early = 0, late = 0] = sizes;
  expect(late).toBeLessThan(early * 1.2);
});

test('calls without a result are forgotten beyond 512', () => {
  const analysis = new TrajectoryAnalysis({ detectors: [] });
  for (let at = 0; at < 5_000; at += 1) {
    analysis.fold(recordOf(at, { kind: 'tool_started', tool_call_id: `c${at}`, tool_name: 'x', args: {} }));
  }
  expect(analysis.calls).toBe(5_000);
  expect(analysis.snapshot().pending.length).toBe(512);
});

test('calls of one answer are counted once, however many are open at a time, and forgotten ones are no repetition', () => {
  const payloads = Array.from({ length: 2_000 }, (_, at) => ({ tool_call_id: `c${at}`, tool_name: 'x' }));
  const records = [
    ...payloads.map((call, at) => recordOf(at, { ...call, kind: 'tool_started', args: { at } })),
    ...payloads.map((call, at) =>
      recordOf(2_000 + at, { ...call, kind: 'tool_ended', result: `Error: ${at % 7}`, is_error: true }),
    ),
  ];
  const view = viewOf(records);
  expect([view.calls, view.counts.errors]).toEqual([2_000, 2_000]);
  expect(view.patterns.patterns.map(({ pattern }) => pattern.kind)).toEqual([]);
});

test('an analysis restored at any call continues as if it had never stopped', () => {
  fc.assert(
    fc.property(fc.array(someCall(), { minLength: 1, maxLength: 40 }), fc.nat(), (calls, place) => {
      const records = scriptedRecords(calls, { task: 'read the alpha files and fix beta' });
      const whole = new TrajectoryAnalysis({ detectors: allDetectors() });
      const changes = records.map((record) => whole.fold(record));
      const stop = place % records.length;
      let half = new TrajectoryAnalysis({ detectors: allDetectors() });
      for (const [at, record] of records.entries()) {
        if (at >= stop) {
          const snapshot: TrajectoryAnalysisSnapshot = JSON.parse(JSON.stringify(half.snapshot()));
          half = new TrajectoryAnalysis({ detectors: allDetectors(), snapshot });
        }
        expect(half.fold(record)).toEqual(changes[at]);
      }
      expect(half.patterns()).toEqual(whole.patterns());
      expect(half.snapshot()).toEqual(whole.snapshot());
    }),
    { numRuns: 60 },
  );
});

test('a snapshot does not change after it was taken, and passing it on changes nothing', () => {
  const records = scriptedRecords(times(40, mixedCall));
  const analysis = new TrajectoryAnalysis({ detectors: allDetectors() });
  for (const record of records.slice(0, 50)) analysis.fold(record);
  const snapshot = analysis.snapshot();
  const text = JSON.stringify(snapshot);
  const copy = new TrajectoryAnalysis({ detectors: allDetectors(), snapshot });
  for (const record of records.slice(50)) {
    analysis.fold(record);
    copy.fold(record);
  }
  expect(JSON.stringify(snapshot)).toBe(text);
  expect(copy.snapshot()).toEqual(analysis.snapshot());
});

test('the patterns at a call do not depend on later calls', () => {
  fc.assert(
    fc.property(
      fc.array(someCall(), { minLength: 1, maxLength: 30 }),
      fc.array(someCall(), { maxLength: 10 }),
      (calls, more) => {
        const alone = scriptedRun(calls.map(ownTurn));
        const longer = scriptedRun([...calls, ...more].map(ownTurn));
        expect(longer.changes.slice(0, alone.changes.length)).toEqual(alone.changes);
      },
    ),
    { numRuns: 100 },
  );
});

test('call ids, the order of keys, times and uuids do not change the outcome', () => {
  fc.assert(
    fc.property(fc.array(someCall(), { minLength: 1, maxLength: 40 }), (calls) => {
      const other = calls.map((call, at) => ({
        ...call,
        args: Object.fromEntries(Object.entries(call.args ?? {}).reverse()),
        result: (typeof call.result === 'string' ? call.result : 'ok').replace(
          '10:00:00',
          `1${at % 10}:0${at % 6}:0${at % 7}`,
        ),
      }));
      const patterns = scriptedRun(other, { idPrefix: 'zz-' }).analysis.patterns();
      expect(patterns).toEqual(scriptedRun(calls).analysis.patterns());
    }),
    { numRuns: 100 },
  );
});

test('a long varied productive stretch clears every pattern', () => {
  fc.assert(
    fc.property(fc.array(someCall(), { maxLength: 60 }), (calls) => {
      const work = times(40, (at): ScriptedCall => {
        const tool = ['read', 'grep', 'list_files'][at % 3] ?? 'read';
        if (at % 4 === 3) return { tool: 'write', args: { path: `n${at}`, content: `c${at}` }, result: 'ok' };
        return { tool, args: { path: `new-${at}` }, result: `new text ${at} of ${tool}` };
      });
      expect(scriptedRun([...calls, ...work]).analysis.openPatterns()).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

function recordOf(seq: number, payload: TrajectoryRecord['payload']): TrajectoryRecord {
  return { schema_version: 1, seq, depth: 0, recorded_at_unix_ms: 0, payload };
}

function ownTurn(call: ScriptedCall): ScriptedCall {
  const { turn: _together, ...alone } = call;
  return alone;
}

/** A run of reads, writes, failures and repeats that comes round after 2,000 calls. */
function mixedCall(at: number): ScriptedCall {
  const path = `file-${(at * 7) % 300}`;
  if (at % 5 === 0)
    return { tool: 'Edit', args: { path, old_string: `${at % 3}`, new_string: `${at % 4}` }, result: 'ok' };
  if (at % 7 === 0)
    return { tool: 'Bash', args: { command: `make ${path}` }, result: `Error: ${at % 9}`, isError: true };
  if (at % 11 < 3) return { tool: 'get_status', args: { id: at % 2 }, result: 'still running' };
  return { tool: 'Read', args: { path }, result: `text ${at % 50}`, atMs: 1_700_000_000_000 + at };
}

/** Calls of a small world, so that loops, failures and changes come up by chance. */
function someCall(): fc.Arbitrary<ScriptedCall> {
  const path = fc.constantFrom('alpha', 'beta', 'gamma');
  const text = fc.constantFrom('some text', 'at 10:00:00 nothing', 'No match', 'still running');
  const error = fc.constantFrom('Error: no such file', 'permission denied', '10:00:00 timed out', '');
  return fc.oneof(
    fc.record({
      tool: fc.constantFrom('read', 'op_7', 'get_status'),
      args: fc.record({ path, limit: fc.nat(2) }),
      result: text,
    }),
    fc.record({
      tool: fc.constantFrom('read', 'Bash'),
      args: fc.record({ command: path }),
      result: error,
      isError: fc.constant(true),
    }),
    fc.record({ tool: fc.constant('write'), args: fc.record({ path, content: text }), result: fc.constant('ok') }),
    fc.record({
      tool: fc.constant('edit'),
      args: fc.record({ path, old_string: path, new_string: path }),
      result: fc.constant('ok'),
    }),
    fc.record({ tool: fc.constant('think'), args: fc.record({ thought: path }), turn: fc.nat(2) }),
    fc.record({
      tool: fc.constant('read'),
      args: fc.record({ path }),
      turn: fc.nat(3),
      result: text,
      userBefore: fc.boolean(),
    }),
  );
}

test('repeated starts after pauses count as waiting, whatever the name of the tool', () => {
  const pause: ScriptedCall = { tool: 'op1', args: { seconds: 30 }, result: 'slept' };
  const look: ScriptedCall = { tool: 'op2', args: { name: 'out' }, result: 'nothing there so far' };
  const flags = (calls: readonly ScriptedCall[]): readonly string[] =>
    scriptedRun(calls)
      .analysis.patterns()
      .filter((pattern) => pattern.stuck && pattern.flaggedAt !== null)
      .map((pattern) => `${pattern.kind} at ${pattern.flaggedAt}`);
  expect(flags(times(18, (at) => (at % 2 === 0 ? look : pause)))).toEqual([]);
  expect(flags(times(19, (at) => (at % 2 === 0 ? look : pause)))).toEqual(['polling_no_progress at 18']);
});

test('a read repeated after a pause of a quarter of an hour is waiting, and one after a minute is a repeat', () => {
  /** Flagged patterns of equal looks, each `restMs` after the one before had come back, and `ranMs` long. */
  const kinds = (count: number, restMs: number, ranMs: number): readonly string[] => {
    const analysis = new TrajectoryAnalysis({ detectors: allDetectors() });
    const look = { tool: 'read_valve', args: { tag: 'V3' }, result: 'V3 is closed, quality good' };
    let atMs = 1_000;
    for (const record of scriptedRecords(times(count, look))) {
      if (record.payload.kind === 'tool_started') atMs += restMs;
      if (record.payload.kind === 'tool_ended') atMs += ranMs;
      analysis.fold({ ...record, recorded_at_unix_ms: atMs });
    }
    const flagged = analysis.patterns().filter((pattern) => pattern.flaggedAt !== null);
    return flagged.map((pattern) => pattern.kind);
  };
  expect(kinds(3, 60_000, 0)).toEqual(['identical_call']);
  expect(kinds(3, 60_000, 15 * 60_000)).toContain('identical_call');
  expect(kinds(9, 15 * 60_000, 0)).toEqual([]);
  expect(kinds(10, 15 * 60_000, 0)).toEqual(['polling_no_progress']);
});

test('an agent that pauses before checking a service again is waiting, and one that does not pause is failing repeatedly', () => {
  const pause: ScriptedCall = { tool: 'Bash', args: { command: 'sleep 5' }, result: '' };
  const ask = (result: string): ScriptedCall => ({ tool: 'http_get', args: { url: 'u' }, result });
  const flags = (calls: readonly ScriptedCall[]): readonly string[] =>
    scriptedRun(calls)
      .analysis.patterns()
      .filter((pattern) => pattern.stuck && pattern.flaggedAt !== null)
      .map((pattern) => pattern.kind);
  const waited = (count: number, result: string): readonly ScriptedCall[] =>
    times(2 * count, (at) => (at % 2 === 0 ? pause : ask(result)));
  expect(flags(waited(9, '503 Service Unavailable'))).toEqual([]);
  expect(flags(waited(10, '503 Service Unavailable'))).toEqual(['polling_no_progress']);
  expect(flags(times(3, ask('503 Service Unavailable')))).toContain('repeated_error');
  expect(flags(waited(9, '401 Unauthorized'))).toContain('repeated_error');
  const flagged = { ...ask('503 Service Unavailable'), isError: true };
  expect(flags(times(10, (at) => (at % 2 === 0 ? pause : flagged)))).toContain('repeated_error');
  const [, , , last] = scriptedRun(waited(2, 'ECONNREFUSED')).analysis.recentCalls();
  expect(last).toMatchObject({ kind: 'read', errorLine: 'ECONNREFUSED' });
});
