import { AsyncLocalStorage } from 'node:async_hooks';

import { expect, test } from 'vitest';

import { createCoxswain } from '../../core/run/coxswain.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { recordingTelemetry, type RecordingTelemetry } from './record-telemetry.ts';
import { telemetryOnDemand } from './telemetry-on-demand.ts';

const unexpected = (error: unknown): void => expect.unreachable(String(error));
const START = { callId: 'call', operationId: 'ai.generateText' };

test('events that arrive while the telemetry is loaded are recorded in order', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, mode: 'shadow', newRunId: () => 'run' });
  const gate = Promise.withResolvers<RecordingTelemetry>();
  const telemetry = telemetryOnDemand(() => gate.promise, unexpected);
  telemetry.onStart(START);
  telemetry.onToolExecutionStart({ ...START, toolCall: { toolCallId: 'a', toolName: 'look', input: {} } });
  telemetry.onToolExecutionEnd({
    ...START,
    toolCall: { toolCallId: 'a' },
    toolOutput: { type: 'tool-result', output: 'quiet' },
  });
  telemetry.onEnd(START);
  gate.resolve(recordingTelemetry(cox));
  await expect.poll(async () => (await readAll(store, 'run').catch(() => [])).at(-1)?.payload.kind).toBe('run_ended');
  const kinds = (await readAll(store, 'run')).map(({ payload }) => payload.kind);
  expect(kinds.filter((kind) => kind.startsWith('tool_'))).toEqual(['tool_started', 'tool_ended']);
  await cox.close();
});

test('a waiting event keeps the async context in which it arrived', async () => {
  const host = new AsyncLocalStorage<string>();
  const contexts: unknown[] = [];
  const cox = createCoxswain();
  const recording = { ...recordingTelemetry(cox), onStart: () => void contexts.push(host.getStore()) };
  const telemetry = telemetryOnDemand(async () => recording, unexpected);
  host.run('first', () => telemetry.onStart(START));
  host.run('second', () => telemetry.onStart(START));
  await expect.poll(() => contexts).toEqual(['first', 'second']);
  await cox.close();
});

test('a run in a tool that is called while the telemetry is loaded is a child run', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, mode: 'shadow' });
  const gate = Promise.withResolvers<RecordingTelemetry>();
  const telemetry = telemetryOnDemand(() => gate.promise, unexpected);
  telemetry.onStart(START);
  const result = telemetry.executeTool({
    callId: 'call',
    execute: async () => telemetry.onStart({ ...START, callId: 'inner' }),
  });
  gate.resolve(recordingTelemetry(cox));
  await result;
  await cox.flush();
  expect((await store.listRuns()).runs.map(({ depth }) => depth).toSorted((a, b) => a - b)).toEqual([0, 1]);
  await cox.close();
});

test('without the telemetry, tools run and the error is reported once', async () => {
  const faults: unknown[] = [];
  const telemetry = telemetryOnDemand(
    () => Promise.reject(new Error('no such file')),
    (error) => faults.push(error),
  );
  telemetry.onStart(START);
  telemetry.onEnd(START);
  await expect.poll(() => faults).toHaveLength(1);
  expect(await telemetry.executeTool({ callId: 'call', execute: async () => 'quiet' })).toBe('quiet');
});
