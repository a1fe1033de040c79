import { expect, test } from 'vitest';
import {
  createCoxswain,
  eventChannel,
  memoryStore,
  sinkOf,
  TrajectoryRecorder,
  type ChannelItem,
} from '../src/index.ts';
import type { Run } from '../src/index.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';

const begin = () => createCoxswain({ store: memoryStore(), clock: createFakeClock() });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function call(run: Run, toolCallId: string): void {
  run.emit({ type: 'message_update', delta: 'let me' });
  run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'read', args: {} });
  run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'read', result: 'same', isError: false });
  run.feedback();
}

test('a listener hears records, patterns, advice, ends and deltas, of all runs or of one', async () => {
  const cox = begin();
  const [all, one, deltas]: [string[], string[], string[]] = [[], [], []];
  const off = cox.listen({
    record: ({ payload }) => all.push(payload.kind),
    delta: (event, runId) => deltas.push(`${runId} ${event.type}`),
  });
  const run = cox.startRun({ runId: 'a' });
  run.listen({ record: ({ run_id: runId, payload }) => one.push(`${runId} ${payload.kind}`) });
  for (const id of ['1', '2', '3', '4']) call(run, id);
  cox.startRun({ runId: 'b' });
  await run.end();
  await settled();
  expect(all).toEqual(expect.arrayContaining(['run_started', 'pattern_flagged', 'feedback_produced', 'run_ended']));
  expect(one.every((item) => item.startsWith('a '))).toBe(true);
  expect(one).not.toContain('a run_started');
  expect(deltas).toEqual(Array.from({ length: 4 }, () => 'a message_update'));
  off();
  const heardBefore = all.length;
  cox.startRun();
  await settled();
  expect(all).toHaveLength(heardBefore);
});

test('a listener that throws, rejects, hangs or emits harms no other listener, and is counted', async () => {
  const cox = begin();
  const kinds: string[] = [];
  const run = cox.startRun({ runId: 'a' });
  let emitted = false;
  cox.listen({ record: () => expect.unreachable('a fault of the listener') });
  cox.listen({ record: () => Promise.reject(new Error('gone')) });
  cox.listen({ record: () => new Promise(() => undefined) });
  cox.listen({
    record: ({ payload }) => {
      kinds.push(payload.kind);
      if (!emitted) run.emit({ type: 'compaction', trigger: 'from a listener' });
      emitted = true;
    },
  });
  call(run, '1');
  await settled();
  expect(kinds).toEqual(['tool_started', 'tool_ended', 'evaluation', 'compaction']);
  expect(cox.health()).toMatchObject({ listeners: { faults: 8 }, faults: 0 });
  expect(await run.end()).toEqual({ stored: true, lostRecords: 0 });
});

test('a channel is read with for await, bounded, and says what it dropped', async () => {
  const cox = begin();
  const channel = eventChannel(3);
  cox.listen(channel);
  const run = cox.startRun({ runId: 'a' });
  for (const id of ['1', '2']) call(run, id);
  await settled();
  const items: ChannelItem[] = [];
  setImmediate(() => {
    run.emit({ type: 'agent_end' });
    setImmediate(() => channel.close());
  });
  for await (const item of channel) items.push(item);
  const names = items.map((item) => (item.type === 'record' ? item.record.payload.kind : item.type));
  expect(names).toEqual(['run_started', 'delta', 'tool_started', 'dropped', 'run_ended']);
  expect(items.find((item) => item.type === 'dropped')).toEqual({ type: 'dropped', count: 6 });
});

test('a function that takes one record works as a sink', async () => {
  const received: TrajectoryRecord[] = [];
  const recorder = new TrajectoryRecorder(sinkOf(async (record) => void received.push(record)));
  recorder.onEvent({ type: 'run_identified', identity: { runId: 'a', depth: 0 } });
  recorder.onEvent({ type: 'agent_end' });
  await recorder.close();
  expect(received.map(({ seq, payload }) => [seq, payload.kind])).toEqual([
    [0, 'run_started'],
    [1, 'run_ended'],
  ]);
});
