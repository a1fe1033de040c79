import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { defaultDetectors } from '../src/core/detect/detectors/default-detectors.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import type { StoredUsage } from '../src/core/records/agent-message.ts';
import { RunView, viewOf } from '../src/core/facts/run-view.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { RunCounter, type RunSummary } from '../src/core/facts/run-summary.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { readAll, scriptRun } from './support/script-records.ts';
import { everyPayload } from './support/every-payload.ts';
import { hardRuns } from './hard-runs.ts';

/** Everything that a view says. */
function saidBy(view: RunView): unknown {
  const { adviceLeftOut, advice, counts, lostRecords, openCalls, outcome } = view;
  const { failures, patterns, resumptions, started, usage } = view;
  const strip = [failures.length, failures.counts()];
  const lost = { lostRecords, openCalls };
  return { advice, adviceLeftOut, counts, lost, outcome, patterns, resumptions, started, strip, usage };
}

const callId = fc.constantFrom('a', 'b', 'c');
const payload: fc.Arbitrary<TrajectoryPayload> = fc.oneof(
  { arbitrary: fc.constantFrom(...everyPayload('a text')), weight: 1 },
  {
    arbitrary: callId.map((id): TrajectoryPayload => {
      return { kind: 'tool_started', tool_call_id: id, tool_name: 'bash', args: { command: 'make' } };
    }),
    weight: 3,
  },
  {
    arbitrary: fc.tuple(callId, fc.boolean()).map(([id, isError]): TrajectoryPayload => {
      return { kind: 'tool_ended', tool_call_id: id, tool_name: 'bash', result: 'no rule', is_error: isError };
    }),
    weight: 3,
  },
);
const run = fc.array(payload, { minLength: 1, maxLength: 60 }).map((payloads) => scriptRun('run', payloads));

test('each call of a run has one number, in the order in which calls began, and the counts are those of the calls', () => {
  fc.assert(
    fc.property(run, (records) => {
      const view = new RunView();
      const calls = records.flatMap((record) => view.fold(record) ?? []);
      const numbers = new Set(calls.map(({ number }) => number));
      const results = calls.filter(({ endSeq }) => endSeq !== undefined);
      const ended = new Set(results.map(({ number }) => number));
      const failed = results.filter((call) => call.failed).length;
      expect([...numbers]).toEqual(Array.from(numbers, (_, index) => index + 1));
      expect(ended.size).toBe(results.length);
      expect([view.counts.calls, view.counts.errors]).toEqual([numbers.size, failed]);
      expect(view.openCalls.length).toBeLessThanOrEqual(numbers.size - ended.size);
      expect(view.failures.length).toBe(numbers.size);
    }),
    { numRuns: 300 },
  );
});

test('a store that counts a run in any parts comes to the counts of the view', () => {
  fc.assert(
    fc.property(run, fc.array(fc.nat({ max: 9 })), (records, sizes) => {
      let stored: RunSummary | undefined;
      let at = 0;
      for (const size of [...sizes, records.length]) {
        const part: readonly TrajectoryRecord[] = records.slice(at, at + size);
        at += size;
        if (part.length === 0) continue;
        const counter = new RunCounter(stored);
        for (const record of part) counter.fold(record);
        stored = counter.summary();
      }
      expect(stored).toEqual(viewOf(records).counts);
    }),
    { numRuns: 300 },
  );
});

test('a view read after every record ends with the same result as a view read once', () => {
  fc.assert(
    fc.property(run, (records) => {
      const options = { detectors: defaultDetectors(), recompute: true };
      const askedView = new RunView(options);
      for (const record of records) {
        askedView.fold(record);
        saidBy(askedView);
      }
      expect(saidBy(askedView)).toEqual(saidBy(viewOf(records, options)));
    }),
    { numRuns: 100 },
  );
});

test('the view of a live run, record by record, is the view of the stored run', async () => {
  const store = memoryStore();
  const live = new RunView({ detectors: defaultDetectors() });
  const taps = {
    flush: () => store.flush(),
    close: () => store.close(),
    append: async (batch: readonly TrajectoryRecord[]) => {
      const lastSeq = await store.append(batch);
      for (const record of batch) live.fold(record);
      return lastSeq;
    },
  };
  const clock = createFakeClock();
  const cox = createCoxswain({ ...standardSteering(), store: taps, clock, measureMs: () => 0 });
  const session = cox.startRun({ runId: 'live', task: 'build it' });
  for (let call = 0; call < 12; call += 1) {
    const toolCallId = `make-${call}`;
    session.emit({ type: 'turn_start' });
    session.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: 'make' } });
    session.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result: 'no rule', isError: true });
    for (const advice of session.advise('post_tool_result')) advice.delivered('tool-result');
    clock.advance(1);
  }
  await session.end();
  const stored = viewOf(await readAll(store, 'live'), { detectors: defaultDetectors() });
  expect(saidBy(live)).toEqual(saidBy(stored));
  expect(stored.patterns.basis).toBe('recorded');
  expect(stored.flaggedPatterns.length).toBeGreaterThan(0);
  expect(stored.advice.map(({ delivery }) => delivery)).toContain('delivered');
});

test('patterns of a steered run are those on its record, unless they are to be recomputed', () => {
  const own = hardRuns().find(({ id }) => id === 'own-detectors');
  const records = own?.records ?? [];
  const detectors = defaultDetectors();
  const kindsOf = (view: RunView): readonly string[] => view.flaggedPatterns.map(({ kind }) => kind);
  const [recorded, again] = [viewOf(records, { detectors }), viewOf(records, { detectors, recompute: true })];
  expect([recorded.patterns.basis, kindsOf(recorded)]).toEqual(['recorded', ['own_loop', 'own_drift']]);
  expect(again.patterns.basis).toBe('recomputed');
  expect(kindsOf(again)).toContain('repeated_error');
});

test('it knows what was lost: records of gaps, and results', () => {
  const lostOf = (wanted: string): readonly number[] => {
    const view = viewOf(hardRuns().find(({ id }) => id === wanted)?.records ?? []);
    return [view.lostRecords, view.openCalls.length, view.resumptions];
  };
  expect(lostOf('gap-over-starts-and-ends')).toEqual([7, 1, 0]);
  expect(lostOf('lost-starts-only')).toEqual([0, 0, 0]);
  expect(lostOf('truncated')).toEqual([0, 2, 0]);
  expect(lostOf('resumed-lost-start')).toEqual([0, 0, 1]);
});

test('cost is what the host states, else what the model costs; of a pattern it is that of the answers while it was open', () => {
  const answer = (usage: StoredUsage, model_id = 'claude-haiku-4-5'): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'assistant', content: '', model_id, usage },
  });
  const tokens = { input_tokens: 1_000_000, output_tokens: 0 };
  const pattern = {
    kind: 'identical_call',
    identity: 'identical_call:x',
    stuck: true,
    level: 'warn',
    confidence: 1,
    evidence: [0],
    firstSeen: 0,
    flaggedAt: 0,
    occurrences: 3,
  } as const;
  const records = scriptRun('run', [
    { kind: 'run_started', identity: { run_id: 'run', depth: 0 } },
    answer({ cost_usd: 0.25, ...tokens }),
    { kind: 'pattern_flagged', cause_seq: 0, ordinal: 0, pattern },
    answer(tokens),
    answer(tokens, 'made-up-1'),
    { kind: 'pattern_cleared', cause_seq: 0, ordinal: 0, pattern: { ...pattern, clearedAt: 5 } },
    answer(tokens),
  ]);
  const view = viewOf(records);
  expect(view.usage).toEqual({ tokens: 4_000_000, costUsd: 2.25, answersWithoutCost: 1 });
  expect(view.costOfPattern(pattern.identity)).toBe(1);
  const own = viewOf(records, { prices: { 'made-up-1': { input: 3, output: 1 } } });
  expect(own.usage).toEqual({ tokens: 4_000_000, costUsd: 5.25 });
});

test('the equal calls after the last record of a pattern are counted', async () => {
  const seenAfter = async (count: number, isError: boolean): Promise<number | undefined> => {
    const store = memoryStore();
    const cox = createCoxswain({ ...standardSteering(), store, clock: createFakeClock() });
    const started = cox.startRun({ runId: 'r' });
    for (let index = 0; index < count; index += 1) {
      const call = { toolCallId: `c${index}`, toolName: 'lookup' };
      started.emit({ type: 'turn_start' });
      started.emit({ type: 'tool_execution_start', ...call, args: { id: 1 } });
      started.emit({ type: 'tool_execution_end', ...call, result: 'nothing known of it', isError });
    }
    await started.end();
    const { basis, patterns } = viewOf(await readAll(store, 'r')).patterns;
    expect(basis).toBe('recorded');
    return patterns.find(({ pattern }) => pattern.kind === (isError ? 'repeated_error' : 'identical_call'))?.pattern
      .occurrences;
  };
  expect(await Promise.all([seenAfter(5, false), seenAfter(10, false), seenAfter(10, true)])).toEqual([5, 10, 10]);
});

test('the cost of a pattern counts from the answer with its first call, not from its warning', () => {
  const answer: TrajectoryPayload = {
    kind: 'message_appended',
    message: { role: 'assistant', content: 'x', usage: { cost_usd: 0.25 } },
  };
  const call = (id: string): readonly TrajectoryPayload[] => [
    answer,
    { kind: 'tool_started', tool_call_id: id, tool_name: 'lookup', args: {} },
    { kind: 'tool_ended', tool_call_id: id, tool_name: 'lookup', result: 'x', is_error: false },
  ];
  const flag = (firstSeen: number): TrajectoryPayload => ({
    kind: 'pattern_flagged',
    cause_seq: 0,
    ordinal: 0,
    pattern: {
      kind: 'identical_call',
      identity: 'i',
      stuck: true,
      level: 'warn',
      confidence: 0.75,
      evidence: [firstSeen],
      firstSeen,
      flaggedAt: 2,
      occurrences: 3,
    },
  });
  const started: TrajectoryPayload = { kind: 'run_started', identity: { run_id: 'run', depth: 0 } };
  const costFrom = (firstSeen: number): number | undefined =>
    viewOf(
      scriptRun('run', [started, ...call('a'), ...call('b'), ...call('c'), flag(firstSeen), ...call('d')]),
    ).costOfPattern('i');
  expect(costFrom(0)).toBe(1);
  expect(costFrom(1)).toBe(0.75);
});

test('an answer of a Claude Code file without a stop reason has too few output tokens', () => {
  const usage = { input_tokens: 3, output_tokens: 1 };
  const usageOf = (format: string, stop?: string): unknown =>
    viewOf(
      scriptRun('run', [
        { kind: 'run_started', identity: { run_id: 'run', depth: 0 }, format },
        {
          kind: 'message_appended',
          message: {
            role: 'assistant',
            content: 'a long answer',
            usage,
            ...(stop === undefined ? {} : { stop_reason: stop }),
          },
        },
      ]),
    ).usage;
  expect(usageOf('claude-code')).toMatchObject({ tokens: 4, answersCountedEarly: 1 });
  expect(usageOf('claude-code', 'end_turn')).not.toHaveProperty('answersCountedEarly');
  expect(usageOf('codex')).not.toHaveProperty('answersCountedEarly');
});
