import { expect, test } from 'vitest';

import { readHookInput } from '../src/adapters/claude/read-hook-input.ts';
import { claudeHooks } from '../src/adapters/claude/claude-hooks.ts';
import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import type { SteeringOptions } from '../src/core/steering/steering-options.ts';
import { staticFeedback } from '../src/core/steering/feedback/built-in-feedback.ts';
import { checkStopPolicy, type StopPolicy } from '../src/core/steering/stop-policy.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { readAll } from './support/script-records.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

const STUCK: StopPolicy = { stuck: { level: 'warn', afterCalls: 2 } };

interface Scene {
  readonly run: Run;
  readonly steering: SteeringOptions;
  readonly records: () => Promise<readonly TrajectoryRecord[]>;
}

function scene(options: SteeringOptions, limits: { readonly budget?: { readonly calls: number } } = {}): Scene {
  const store = memoryStore();
  const steering = { ...standardSteering(), ...options };
  const run = createCoxswain({ ...steering, store, clock: createFakeClock() }).startRun({ runId: 'run', ...limits });
  const records = async (): Promise<readonly TrajectoryRecord[]> => {
    await run.flush();
    return readAll(store, 'run');
  };
  return { run, steering, records };
}

/** Makes calls until the run should stop, or there were 20. @returns how many */
function work(run: Run, isStuck = true): number {
  let calls = 0;
  while (calls < 20 && run.shouldStop === undefined) {
    const call = { toolCallId: `c${run.analysis.calls}`, toolName: 'bash' };
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', ...call, args: { command: isStuck ? 'make' : `cat ${call.toolCallId}` } });
    run.emit({ type: 'tool_execution_end', ...call, result: isStuck ? 'no rule' : call.toolCallId, isError: isStuck });
    run.feedback();
    calls += 1;
  }
  return calls;
}

test('by default no run is asked to stop, however stuck it is', async () => {
  const { records, run } = scene({}, { budget: { calls: 3 } });
  expect(work(run)).toBe(20);
  expect(run.stopSignal.aborted).toBe(false);
  expect((await records()).some(({ payload }) => payload.kind === 'stop_requested')).toBe(false);
});

test('a run that is still stuck two calls after its warning should stop: signal, reason, one record, and replay agree', async () => {
  const { records, run, steering } = scene({ stop: STUCK });
  const calls = work(run);
  const flaggedAt = run.analysis.patterns().find((one) => one.stuck && one.flaggedAt !== null)?.flaggedAt ?? -1;
  expect(calls).toBe(flaggedAt + 1 + 2);
  expect(run.shouldStop).toEqual({
    policy: 'stuck',
    reason: `stuck since call ${flaggedAt + 1}, and still 2 calls later`,
  });
  expect(run.stopSignal.reason).toBeInstanceOf(Error);
  expect(run.stopSignal.reason).toMatchObject({ name: 'AbortError', ...run.shouldStop });
  const all = await records();
  const replay = new Replay({ steering });
  expect(all.flatMap((record) => replay.take(record))).toEqual(all.map(({ payload }) => payload).filter(isDerived));
  expect(all.flatMap(({ payload }) => (payload.kind === 'stop_requested' ? [payload.policy] : []))).toEqual(['stuck']);
});

test('a run that is not stuck, or that leaves its pattern in time, goes on', () => {
  const { run } = scene({ stop: { stuck: { level: 'warn', afterCalls: 8 } } });
  expect(work(run, false)).toBe(20);
  for (let call = 0; call < 4; call += 1) {
    const toolCallId = `stuck-${call}`;
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: 'make' } });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result: 'no rule', isError: true });
  }
  expect(work(run, false)).toBe(20);
});

test('a run that has used up its budget should stop, where the policy says so', () => {
  const { run } = scene({ stop: { budget: true } }, { budget: { calls: 6 } });
  expect(work(run, false)).toBe(6);
  expect(run.shouldStop).toEqual({ policy: 'budget', reason: 'the budget of calls is used up' });
});

test('a stopped run that is resumed gets another chance; one that is restored is still to be stopped', () => {
  const { run } = scene({ stop: STUCK });
  work(run);
  const restored = createCoxswain({ ...standardSteering(), stop: STUCK }).restoreRun(run.snapshot());
  expect([restored.shouldStop?.policy, restored.stopSignal.aborted]).toEqual(['stuck', true]);
  run.emit({ type: 'agent_end' });
  run.emit({ type: 'run_resumed', trigger: 'user' });
  expect(run.shouldStop).toBeUndefined();
});

test('in shadow mode the stop is recorded and the agent is not asked to stop', async () => {
  const { records, run } = scene({ stop: STUCK, mode: 'shadow' });
  expect(work(run)).toBe(20);
  expect((await records()).some(({ payload }) => payload.kind === 'stop_requested')).toBe(true);
});

test('a hook of Claude Code stops the agent and says why, a prompt of the user goes on; the Agent SDK answers alike', async () => {
  const steering = { ...standardSteering(), stop: STUCK };
  const sessions = new ClaudeSessions({
    store: memoryStore(),
    config: { steering, deadlineFrom: 'session' },
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock: createFakeClock(),
    build: 'test',
  });
  const run = createCoxswain({ ...steering, store: memoryStore() }).startRun();
  const hooks = claudeHooks(run);
  const answers = async (event: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> => {
    const json = { session_id: 's', cwd: '/', ...event };
    const input = readHookInput(json);
    if (input === undefined) throw new Error('not read');
    const { answer } = await sessions.answer(input, 's', { hasBackgroundWork: false });
    // The schema of the hooks: an event of theirs is a key.
    const hook = hooks[event['hook_event_name'] as keyof typeof hooks][0]?.hooks[0];
    return [answer.continue, (await hook?.(json, undefined, { signal: new AbortController().signal }))?.continue];
  };
  const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'make it pass' };
  await answers(prompt);
  const seen: unknown[] = [];
  for (let call = 0; call < 8; call += 1) {
    const made = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: `c${call}` };
    await answers({ hook_event_name: 'PreToolUse', ...made });
    seen.push(await answers({ hook_event_name: 'PostToolUseFailure', ...made, error: 'make: no rule for target all' }));
    await answers({ hook_event_name: 'PostToolBatch', tool_calls: [] });
  }
  expect(seen[0]).toEqual([undefined, undefined]);
  expect(seen.at(-1)).toEqual([false, false]);
  expect(await answers(prompt)).toEqual([undefined, undefined]);
});

test('advice at the event that stops the agent is recorded as undelivered, by hooks and by callbacks', async () => {
  const says = staticFeedback({ name: 'Own', summary: 'So.' });
  const steering = { feedback: [{ provider: says, trigger: { everyNCalls: 1 } }], stop: STUCK };
  const store = memoryStore();
  const sessions = new ClaudeSessions({
    store,
    config: { steering, deadlineFrom: 'session' },
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock: createFakeClock(),
    build: 'test',
  });
  const run = createCoxswain({ ...steering, store }).startRun({ runId: 'callbacks' });
  const hooks = claudeHooks(run);
  const play = async (event: Readonly<Record<string, unknown>>): Promise<void> => {
    const json = { session_id: 'hooks', cwd: '/', ...event };
    const input = readHookInput(json);
    if (input === undefined) throw new Error('not read');
    await sessions.answer(input, 'hooks', { hasBackgroundWork: false });
    // The schema of the hooks: an event of theirs is a key.
    const hook = hooks[event['hook_event_name'] as keyof typeof hooks][0]?.hooks[0];
    await hook?.(json, undefined, { signal: new AbortController().signal });
  };
  await play({ hook_event_name: 'UserPromptSubmit', prompt: 'make it pass' });
  for (let call = 0; call < 8; call += 1) {
    const made = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: `c${call}` };
    await play({ hook_event_name: 'PreToolUse', ...made });
    await play({ hook_event_name: 'PostToolUseFailure', ...made, error: 'make: no rule for target all' });
    await play({ hook_event_name: 'PostToolBatch', tool_calls: [] });
  }
  await run.flush();
  for (const runId of ['hooks', 'callbacks']) {
    const delivered: boolean[] = [];
    let stopsAt: number | undefined;
    for await (const { payload } of store.readRun(runId)) {
      if (payload.kind === 'stop_requested') stopsAt ??= delivered.length;
      if (payload.kind === 'feedback_delivered') delivered.push(payload.delivered);
    }
    expect([runId, delivered.slice(0, stopsAt).includes(true)]).toEqual([runId, true]);
    expect([runId, delivered.slice(stopsAt).includes(true)]).toEqual([runId, false]);
    expect(delivered.length).toBeGreaterThan(stopsAt ?? Infinity);
  }
});

test.each([{ afterCalls: -1 }, { afterCalls: 0.5 }, { level: 'hint' }])('stop.stuck of %j is refused', (stuck) => {
  expect(() => checkStopPolicy({ stuck } as StopPolicy)).toThrow('stop.stuck must have');
});
