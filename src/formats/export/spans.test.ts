import { AsyncLocalStorage } from 'node:async_hooks';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { everyPayload } from '../../../test/support/every-payload.ts';
import { createFakeTimers } from '../../../test/support/fake-timers.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { createCoxswain, type Coxswain } from '../../core/run/coxswain.ts';
import type { Run } from '../../core/run/run.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { readAll, scriptRun } from '../../../test/support/script-records.ts';
import { LiveSpans, traceSink, type ApiSpan } from './trace-sink.ts';
import { otlpRequest } from './otlp-request.ts';
import type { RunSpan } from './run-span.ts';
import { RunSpans } from './run-spans.ts';
import { spanSink } from './span-sink.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function start(): { readonly cox: Coxswain; readonly store: TrajectoryStore } {
  const store = memoryStore();
  return { cox: createCoxswain({ store, clock: createFakeClock() }), store };
}

function call(run: Run, toolCallId: string, result: string, isError = true): void {
  run.emit({ type: 'turn_start' });
  run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: 'make' } });
  run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result, isError });
  for (const advice of run.advise('post_tool_result')) advice.delivered('tool-result');
}

/** A run that is stuck and advised, with one below it, and goes on after its end. */
async function stuckRun(cox: Coxswain): Promise<void> {
  const run = cox.startRun({ runId: 'a', task: 'Build it.' });
  for (const id of ['1', '2', '3', '4', '5']) call(run, id, 'make: no rule for target all');
  const below = run.child({ runId: 'b', agentName: 'reviewer' });
  call(below, '1', 'ok', false);
  await below.end();
  await run.end('error');
  call(await cox.openRun('a'), '6', 'ok', false);
  await cox.flush();
}

async function storedSpans(store: TrajectoryStore, runId: string, content = true): Promise<readonly RunSpan[]> {
  const spans = new RunSpans({ runId, rootRunId: 'a', content, detectors: defaultDetectors() });
  return [...(await readAll(store, runId)).flatMap((record) => spans.take(record)), ...spans.finish()];
}

function spansOf(payloads: readonly TrajectoryPayload[], atMs?: number): readonly RunSpan[] {
  const spans = new RunSpans({ runId: 'run' });
  const spansAfter = (record: TrajectoryRecord): readonly RunSpan[] =>
    spans.take(atMs === undefined ? record : { ...record, recorded_at_unix_ms: atMs });
  return [...scriptRun('run', payloads).flatMap(spansAfter), ...spans.finish()];
}

test('a live run and its stored records give the same spans, ids included, with those of the runs below it in one trace', async () => {
  const { cox, store } = start();
  const live: RunSpan[] = [];
  const spans = new LiveSpans({ take: (span) => live.push(span) }, {});
  cox.listen(spans);
  await stuckRun(cox);
  spans.finish();
  expect(live.filter(({ runId }) => runId === 'a')).toEqual(await storedSpans(store, 'a'));
  expect(live.filter(({ runId }) => runId === 'b')).toEqual(await storedSpans(store, 'b'));
  expect(new Set(live.map(({ traceId }) => traceId)).size).toBe(1);
  expect(new Set(live.map(({ spanId }) => spanId)).size).toBe(live.length);
  const [first, below] = ['a', 'b'].map((id) =>
    live.find((span) => span.runId === id && span.name.startsWith('invoke')),
  );
  expect(below).toMatchObject({ name: 'invoke_agent reviewer', parentSpanId: first?.spanId });
  expect(first).toMatchObject({ error: 'ended with an error', attributes: { 'error.type': 'error' } });
});

test('patterns and advice with its delivery are events of the call that they follow', async () => {
  const { cox, store } = start();
  await stuckRun(cox);
  const spans = await storedSpans(store, 'a');
  const events = spans.flatMap(({ attributes, events: all }) =>
    all.map(({ name }) => [attributes['coxswain.call.number'], name]),
  );
  expect(events).toEqual(
    expect.arrayContaining([
      [3, 'coxswain.pattern'],
      [3, 'coxswain.advice'],
      [3, 'coxswain.advice.delivery'],
    ]),
  );
  const advice = spans.flatMap((span) => span.events).find(({ name }) => name === 'coxswain.advice');
  expect(advice?.attributes['coxswain.advice.text']).toContain('bash');
});

test('without content there are no arguments, results, messages and texts that may quote them, and advice is still counted', async () => {
  const { cox, store } = start();
  await stuckRun(cox);
  const bare = JSON.stringify(await storedSpans(store, 'a', false));
  expect(bare).not.toMatch(/no rule for target|Build it|gen_ai\.tool\.call\.(?:arguments|result)/);
  expect(bare).toContain('coxswain.advice.id');
});

test('what has one time or none keeps its order, and a call is told from one without a result', () => {
  const ended = { kind: 'tool_ended', tool_name: 'read', result: null, is_error: false } as const;
  const payloads: readonly TrajectoryPayload[] = [
    { kind: 'tool_started', tool_call_id: 'a', tool_name: 'read', args: 'text' },
    { kind: 'tool_started', tool_call_id: 'b', tool_name: 'read', args: {} },
    { kind: 'tool_started', tool_call_id: 'c', tool_name: 'read', args: {} },
    { ...ended, tool_call_id: 'b', result_missing: true },
    { ...ended, tool_call_id: 'a', result: { ok: true } },
  ];
  for (const atMs of [0, 1_700_000_000_123]) {
    const calls = spansOf(payloads, atMs).filter(({ name }) => name === 'execute_tool read');
    const inOrder = calls.toSorted((a, b) => a.start[0] - b.start[0] || a.start[1] - b.start[1]);
    expect(
      inOrder.map(({ attributes }) => [attributes['gen_ai.tool.call.id'], attributes['coxswain.call.result']]),
    ).toEqual([
      ['a', undefined],
      ['b', 'missing'],
      ['c', 'open'],
    ]);
    expect(inOrder[0]?.attributes['gen_ai.tool.call.arguments']).toBe('"text"');
  }
});

test('no order of records of any kind makes it throw, and every span can be written', () => {
  const payloads = fc.array(fc.constantFrom(...everyPayload('a "text" \u0000 \ud800')), { maxLength: 60 });
  fc.assert(
    fc.property(payloads, (some) => {
      const spans = spansOf(some);
      expect(spans.every(({ end, start: begun }) => end[0] > begun[0] || end[1] >= begun[1])).toBe(true);
      expect(JSON.stringify(otlpRequest(spans, {}))).toContain('resourceSpans');
    }),
  );
});

test('an exporter that is dead, refuses or throws costs nothing but spans, which are counted in health', async () => {
  const timers = createFakeTimers();
  const [cox, answers] = [createCoxswain({ clock: createFakeClock() }), ['none', 'code', 'throw', 'ok']];
  const sink = spanSink(
    {
      export: (_spans, done) => {
        const answer = answers.shift();
        if (answer === 'throw') throw new Error('no socket');
        if (answer !== 'none') done(answer === 'code' ? { code: 1, error: new Error('refused') } : { code: 0 });
      },
    },
    { timers },
  );
  cox.listen(sink);
  const run = cox.startRun();
  for (const [at, fault] of ['the exporter does not respond', 'refused', 'no socket'].entries()) {
    run.emit({ type: 'message_end', message: { role: 'assistant', content: 'a' } });
    await settled();
    await timers.advance(1_000);
    await timers.advance(30_000);
    expect([sink.health().dropped, sink.health().lastFault]).toEqual([at + 1, fault]);
  }
  expect(cox.health()).toMatchObject({ faults: 0, listeners: { faults: 0, dropped: 3 } });
  for (let index = 0; index < 2_100; index += 1)
    run.emit({ type: 'message_end', message: { role: 'assistant', content: 'a' } });
  await settled();
  expect(sink.health()).toMatchObject({ waiting: 2_048, dropped: 55 });
  await run.end();
});

test('in the trace of the process a run is below the span that is active where it starts', async () => {
  const active = new AsyncLocalStorage<string>();
  const log: string[] = [];
  const span = (name: string, above: unknown): ApiSpan & { readonly name: string } => {
    log.push(`${name} < ${String(above)}`);
    const nothing = (): void => undefined;
    return { name, setAttributes: nothing, addEvent: nothing, setStatus: nothing, updateName: nothing, end: nothing };
  };
  const sink = traceSink({
    context: { active: () => active.getStore() ?? 'root' },
    trace: {
      getTracer: () => ({ startSpan: (name, _options, context) => span(name, context) }),
      setSpan: (_context: string, made: { readonly name: string }) => made.name,
    },
  });
  const cox = createCoxswain({ clock: createFakeClock() });
  cox.listen(sink);
  const runs = ['request 1', 'request 2'].map((name) => active.run(name, () => cox.startRun({ agentName: name })));
  for (const run of runs) call(run, 'c', 'ok', false);
  await Promise.all(runs.map((run) => run.end()));
  await settled();
  expect(log).toEqual([
    'invoke_agent < request 1',
    'invoke_agent < request 2',
    'execute_tool bash < invoke_agent',
    'execute_tool bash < invoke_agent',
  ]);
});
