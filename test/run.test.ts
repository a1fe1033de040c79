import { expect, test, vi } from 'vitest';
import { createCoxswain, type Coxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import type { FeedbackProvider } from '../src/core/steering/prompt/feedback-provider.ts';
import { staticFeedback, deadlineFeedback } from '../src/core/steering/feedback/built-in-feedback.ts';
import { Feedback } from '../src/core/steering/feedback/advice-slices.ts';
import { guidanceBank } from '../src/core/steering/guidance/define-guidance.ts';
import type { ModelClassifier } from '../src/core/steering/guidance/model-classifier.ts';
import { definePrompt } from '../src/core/steering/prompt/define-prompt.ts';
import { Filesystem } from '../src/core/steering/prompt/prompt-resources.ts';
import type { GuidanceProvider } from '../src/core/steering/prompt/guidance-provider.ts';
import { Replay } from '../src/core/replay/replay.ts';
import type { Run } from '../src/core/run/run.ts';
import { defineEvent } from '../src/core/session/define-event.ts';
import { defineSlice, replace } from '../src/core/session/define-slice.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { createFakeClock, type FakeClock } from '../src/testing/fake-clock.ts';

const usage: FeedbackProvider = {
  name: 'ToolUsageMonitor',
  shouldRun: () => true,
  provide: (context) => ({ summary: `Progress check: ${context.toolCallCount} tool calls made.`, severity: 'info' }),
};

interface Setup {
  readonly cox: Coxswain;
  readonly clock: FakeClock;
  readonly payloads: (run: Run) => Promise<TrajectoryPayload[]>;
  readonly records: (run: Run) => Promise<TrajectoryRecord[]>;
}

function setUp(options: CoxswainOptions = {}): Setup {
  const store = memoryStore();
  const clock = createFakeClock(1_000_000);
  const cox = createCoxswain({ clock, store, ...options });
  const records = async (run: Run): Promise<TrajectoryRecord[]> => {
    await run.flush();
    return Array.fromAsync(store.readRun(run.id));
  };
  return { cox, clock, records, payloads: async (run) => (await records(run)).map((record) => record.payload) };
}

let calls = 0;

function call(run: Run, toolName = 'bash', result: unknown = 'same', args: unknown = { command: 'make' }): void {
  const toolCallId = `call-${(calls += 1)}`;
  run.emit({ type: 'turn_start' });
  run.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
  run.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError: false });
}

test('a provider reads how much of the window the context fills', () => {
  const seen: unknown[] = [];
  const reader: FeedbackProvider = {
    name: 'reader',
    shouldRun: ({ context }) => {
      seen.push(context);
      return false;
    },
    provide: () => ({ summary: '', severity: 'info' }),
  };
  const { cox } = setUp({ feedback: [{ provider: reader, trigger: { everyNCalls: 1 } }] });
  const run = cox.startRun();
  const answer = { role: 'assistant', content: '', modelId: 'gpt-5', usage: { inputTokens: 100_000 } } as const;
  run.emit({ type: 'message_end', message: answer });
  call(run);
  run.feedback();
  run.emit({ type: 'compaction', trigger: 'auto' });
  call(run);
  run.feedback();
  expect(seen).toEqual([{ tokens: 100_000, window: 400_000, share: 0.25 }, undefined]);
});

test('a provider of ten lines speaks at its trigger, and the text is the seed’s', () => {
  const { cox } = setUp({ feedback: [{ provider: usage, trigger: { everyNCalls: 2 } }] });
  const run = cox.startRun();
  call(run);
  expect(run.feedback()).toBeUndefined();
  call(run);
  expect(run.feedback()).toBe('[Feedback - ToolUsageMonitor]\n\nProgress check: 2 tool calls made.');
  expect(run.session.slice(Feedback).latest()).toMatchObject({ callIndex: 2, promptName: 'run/default' });
});

test('advice is produced, then delivered, on the log of the run', async () => {
  const { cox, payloads } = setUp({ feedback: [{ provider: usage, trigger: { everyNCalls: 1 } }] });
  const run = cox.startRun();
  call(run);
  const [advice] = run.advise('post_tool_result');
  advice?.delivered('tool-result');
  advice?.undelivered('a second answer is ignored');
  const kinds = (await payloads(run)).map((payload) => payload.kind);
  expect(kinds).toEqual([
    'run_started',
    'turn_started',
    'tool_started',
    'tool_ended',
    'evaluation',
    'feedback_produced',
    'feedback_delivered',
  ]);
  const [produced, delivered] = (await payloads(run)).slice(-2);
  expect(produced).toMatchObject({ cause_seq: 4, ordinal: 0, advice_id: 'a4-0', provider_name: 'ToolUsageMonitor' });
  expect(delivered).toMatchObject({ advice_id: 'a4-0', delivered: true, channel: 'tool-result' });
});

test('records are gapless and in time, and a child run has its own', async () => {
  const { cox, clock, records } = setUp();
  const run = cox.startRun({ runId: 'parent' });
  call(run);
  clock.advance(0.005);
  const child = run.child({ runId: 'child' });
  call(child);
  call(run);
  const own = await records(child);
  expect(own.map((record) => record.seq)).toEqual([0, 1, 2, 3]);
  expect(own.every((record) => record.parent_run_id === 'parent' && record.depth === 1)).toBe(true);
  expect((await records(run)).map((record) => record.seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('a stuck run is flagged, spoken of once a level, and spoken of again when it is worse', async () => {
  // Without limits over the run, so that a short one hears several pieces.
  const { cox, payloads } = setUp({ ...standardSteering(), noise: {} });
  const run = cox.startRun();
  const texts: string[] = [];
  for (let index = 0; index < 8; index += 1) {
    call(run);
    for (const advice of run.advise('post_tool_result')) texts.push(`${index}: ${advice.provider} ${advice.severity}`);
  }
  expect(texts).toContain('2: Pattern caution');
  expect(texts).toContain('5: Pattern warning');
  expect(texts.filter((line) => line.includes('Pattern'))).toHaveLength(2);
  const flagged = (await payloads(run)).filter((payload) => payload.kind === 'pattern_flagged');
  expect(flagged.map((payload) => payload.pattern.level)).toEqual(['warn', 'strong']);
});

test('loops are detected even if the host reports no turns', () => {
  const { cox } = setUp();
  const run = cox.startRun();
  for (let index = 0; index < 3; index += 1) {
    const toolCallId = `own-loop-${index}`;
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'search', args: { q: 'x' } });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'search', result: 'nothing new', isError: false });
  }
  expect(run.analysis.openPatterns().map(({ kind }) => kind)).toContain('identical_call');
});

test('the deadline speaks at once and every thirty seconds, in the seed’s words', () => {
  const { cox, clock } = setUp({ feedback: [{ provider: deadlineFeedback(), trigger: { everyNSeconds: 30 } }] });
  const run = cox.startRun({ deadline: { minutes: 8 } });
  call(run);
  expect(run.feedback()).toBe('[Feedback - Deadline]\n\nYou have 8 minutes remaining.');
  clock.advance(29);
  expect(run.feedback()).toBeUndefined();
  clock.advance(361);
  expect(run.feedback()).toBe(
    '[Feedback - Deadline]\n\nYou have 90 seconds remaining.\n\n' +
      '→ Prioritize completing critical remaining work.\n→ Consider summarizing progress and remaining tasks.',
  );
});

test('a provider that throws is recorded, the next one still speaks, and the host feels nothing', async () => {
  const broken: FeedbackProvider = {
    name: 'Broken',
    shouldRun: () => true,
    provide: () => {
      throw new Error('no idea');
    },
  };
  const trigger = { everyNCalls: 1 };
  const { cox, payloads } = setUp({
    feedback: [
      { provider: broken, trigger },
      { provider: usage, trigger },
    ],
  });
  const run = cox.startRun();
  call(run);
  expect(run.feedback()).toContain('ToolUsageMonitor');
  const failed = (await payloads(run)).find((payload) => payload.kind === 'provider_failed');
  expect(failed).toMatchObject({ provider_name: 'Broken', phase: 'provide', message: 'no idea' });
});

test('a clock that breaks makes no method of a run throw, and health counts it', () => {
  let works = true;
  const clock = {
    nowMs(): number {
      if (works) return 1_000_000;
      throw new Error('the clock is broken');
    },
  };
  const { cox } = setUp({ clock, feedback: [{ provider: usage, trigger: { everyNCalls: 1 } }] });
  const run = cox.startRun();
  works = false;
  expect(run.emit({ type: 'turn_start' })).toBe('dropped');
  expect(run.advise('post_tool_result')).toEqual([]);
  expect(() => run.reportFault('here', new Error('mine'))).not.toThrow();
  expect(cox.health()).toMatchObject({ faults: 6, lastFault: 'recording a fault: the clock is broken' });
});

test('a provider that emits into the run is heard after what is happening now', async () => {
  const { cox, payloads } = setUp({
    feedback: [
      {
        provider: {
          name: 'Recursive',
          shouldRun: () => true,
          provide: () => {
            run.emit({ type: 'turn_start' });
            expect(run.advise('post_tool_result')).toEqual([]);
            return { summary: 'said once' };
          },
        },
        trigger: { everyNCalls: 1 },
      },
    ],
  });
  const run = cox.startRun();
  call(run);
  expect(run.feedback()).toContain('said once');
  const kinds = (await payloads(run)).map((payload) => payload.kind);
  expect(kinds.slice(4).toSorted()).toEqual(
    ['evaluation', 'fault_noticed', 'feedback_produced', 'turn_started', 'feedback_delivered'].toSorted(),
  );
  expect(cox.health().faults).toBe(1);
});

test('a provider that is slow three times is not asked a fourth time, and each time is recorded', async () => {
  let now = 0;
  const slow: FeedbackProvider = {
    name: 'Slow',
    shouldRun: () => true,
    provide: () => {
      now += 80;
      return { summary: 'at last' };
    },
  };
  const { cox, payloads } = setUp({
    measureMs: () => now,
    feedback: [{ provider: slow, trigger: { everyNCalls: 1 } }],
  });
  const run = cox.startRun();
  const texts = Array.from({ length: 5 }, () => {
    call(run);
    return run.feedback() !== undefined;
  });
  expect(texts).toEqual([true, true, true, false, false]);
  const overran = (await payloads(run)).filter((payload) => payload.kind === 'provider_overran');
  expect(overran).toHaveLength(3);
  expect(overran[0]).toMatchObject({ provider_name: 'feedback:Slow', duration_ms: 80, limit_ms: 50 });
});

test('in shadow mode everything is worked out and recorded and nothing is said', async () => {
  const { cox, payloads } = setUp({ mode: 'shadow', feedback: [{ provider: usage, trigger: { everyNCalls: 1 } }] });
  const run = cox.startRun();
  call(run);
  expect(run.feedback()).toBeUndefined();
  expect((await payloads(run)).at(-1)).toMatchObject({
    kind: 'feedback_delivered',
    delivered: false,
    reason: 'shadow mode',
  });
});

test('usePrompt switches providers and counts, and the record says so', async () => {
  const first = definePrompt({ ns: 'agent', key: 'plan' });
  const second = definePrompt({
    ns: 'agent',
    key: 'build',
    feedbackProviders: [{ provider: usage, trigger: { everyNCalls: 1 } }],
  });
  const { cox, payloads } = setUp({ feedback: [] });
  const run = cox.startRun({ prompt: first });
  call(run);
  expect(run.feedback()).toBeUndefined();
  run.usePrompt(second);
  call(run);
  expect(run.feedback()).toContain('Progress check: 1 tool calls made.');
  expect((await payloads(run)).some((payload) => payload.kind === 'prompt_used')).toBe(true);
});

test('text over the channel’s limit is left out whole, lowest first, and recorded so', async () => {
  const trigger = { everyNCalls: 1 };
  const { cox, payloads } = setUp({
    delivery: 'all',
    cadence: 'per-provider',
    feedback: [
      { provider: staticFeedback({ name: 'Low', summary: 'x'.repeat(50) }), trigger },
      { provider: staticFeedback({ name: 'High', summary: 'y'.repeat(50), severity: 'warning' }), trigger },
    ],
  });
  const run = cox.startRun();
  call(run);
  const { deliverAdvice } = await import('../src/core/run/advice-handle.ts');
  const text = deliverAdvice(run.advise('post_tool_result'), { channel: 'test', maxChars: 100 });
  expect(text).toContain('y'.repeat(50));
  expect(text).not.toContain('x');
  expect((await payloads(run)).at(-1)).toMatchObject({ provider_name: 'Low', delivered: false });
});

test('a run that was taken to JSON and back goes on as if there had been no break', () => {
  const advise = (run: Run): string[] => run.advise('post_tool_result').map((advice) => advice.text);
  const straight = setUp();
  const broken = setUp();
  const one = straight.cox.startRun({ runId: 'r', deadline: { minutes: 5 } });
  let other = broken.cox.startRun({ runId: 'r', deadline: { minutes: 5 } });
  for (let index = 0; index < 30; index += 1) {
    const result = index % 7 === 0 ? `new ${index}` : 'same';
    call(one, 'read_file', result, { path: 'a' });
    call(other, 'read_file', result, { path: 'a' });
    straight.clock.advance(4);
    broken.clock.advance(4);
    expect(advise(other)).toEqual(advise(one));
    other = broken.cox.restoreRun(JSON.parse(JSON.stringify(other.snapshot())));
  }
  expect(other.analysis.patterns()).toEqual(one.analysis.patterns());
});

test('after the end nothing more is taken, and health counts what is open', async () => {
  const { cox, payloads } = setUp();
  const run = cox.startRun();
  call(run);
  expect(cox.health().openRuns).toBe(1);
  await run.end();
  expect(run.emit({ type: 'turn_start' })).toBe('dropped');
  expect(run.advise('post_tool_result')).toEqual([]);
  expect((await payloads(run)).at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
  expect(cox.health()).toMatchObject({ openRuns: 0, faults: 0, recorder: { dropped: 0, queued: 0 } });
});

test('two providers of one name and a limit outside its range are refused at once', () => {
  const twice = [
    { provider: usage, trigger: { everyNCalls: 1 } },
    { provider: usage, trigger: { everyNCalls: 1 } },
  ];
  expect(() => createCoxswain({ feedback: twice }).startRun()).toThrow(/ToolUsageMonitor/);
  expect(() => createCoxswain({ providerTimeLimitMs: 0 })).toThrow(/providerTimeLimitMs/);
  expect(() => createCoxswain().startRun({ deadline: { minutes: -1 } })).toThrow(/deadline/);
});

test('guidance that breaks a rule at run time is skipped, and the skip is recorded', async () => {
  const { cox, payloads } = setUp({
    guidance: [
      {
        provider: {
          name: 'verbose',
          category: 'test',
          classify: () => ({ relevant: true, confidence: 1 }),
          provide: () => ({ key: 'too.long', content: 'x'.repeat(501) }),
        },
      },
    ],
  });
  const run = cox.startRun();
  expect(run.advise('pre_tool_selection')).toEqual([]);
  expect((await payloads(run)).at(-1)).toMatchObject({
    kind: 'provider_failed',
    provider_name: 'verbose',
    code: 'provider-invalid',
  });
});

test('a model chooses in the background and is heard at the next decision point; one that hangs only leaves a record', async () => {
  const bank = guidanceBank({ 'run-tests': { content: 'Run the tests before you go on.', category: 'testing' } });
  const choosing: ModelClassifier = {
    name: 'small-model',
    classify: () => Promise.resolve({ instructionId: 'run-tests', confidence: 0.9 }),
  };
  const hanging: ModelClassifier = { name: 'hanging', classify: () => new Promise(() => undefined) };
  const decisionPoints = ['pre_tool_selection'] as const;
  const { cox, payloads } = setUp({
    models: [
      { classifier: choosing, bank, decisionPoints },
      { classifier: hanging, bank, decisionPoints, timeLimitMs: 5 },
    ],
  });
  const run = cox.startRun();
  expect(run.advise('pre_tool_selection')).toEqual([]);
  await vi.waitFor(async () => {
    const faults = (await payloads(run)).filter((payload) => payload.kind === 'model_answered');
    expect(faults).toMatchObject([{ instruction_id: 'run-tests' }, { fault_code: 'model-timed-out' }]);
  });
  expect(run.advise('post_tool_result').map((advice) => advice.text)).toEqual([
    '[Guidance - small-model]\n\nRun the tests before you go on.',
  ]);
  expect(run.advise('post_tool_result')).toEqual([]);
});

test('a host’s own events reach its slices, and a marker event makes the observers run after that call', () => {
  interface Plan {
    readonly done: number;
  }
  const StepDone = defineEvent<{ readonly step: string }>('step-done');
  const PlanProgressCheck = defineEvent('plan-progress-check');
  const Plan = defineSlice<Plan>('plan', { retain: 1 }).on(StepDone, (view) => ({
    operation: replace([{ done: (view.latest()?.done ?? 0) + 1 }]),
    dispatch: [PlanProgressCheck()],
  }));
  const { cox } = setUp({
    slices: [Plan],
    observers: [
      {
        observer: {
          name: 'Plan Progress',
          shouldRun: (session) => session.slice(Plan).latest() !== undefined,
          observe: (session) => ({ summary: `Completed ${session.slice(Plan).latest()?.done} steps.` }),
        },
        trigger: { onSessionEvent: PlanProgressCheck },
      },
    ],
  });
  const run = cox.startRun();
  call(run);
  expect(run.feedback()).toBeUndefined();
  run.dispatch(StepDone({ step: 'a' }));
  call(run);
  expect(run.feedback()).toBe('[Trajectory Assessment - Plan Progress]\n\nCompleted 1 steps.');
  call(run);
  expect(run.feedback()).toBeUndefined();
});

test('an answer that no model should send is refused and loses no record', async () => {
  const { cox, payloads } = setUp({ feedback: [{ provider: usage, trigger: { everyNCalls: 1 } }] });
  const run = cox.startRun();
  call(run);
  run.feedback();
  // A model may send values outside the type.
  expect(run.acknowledge({ response: 'maybe' } as never)).toMatchObject({ status: 'refused' });
  expect(run.acknowledge({ response: 'accepted', provider: 'Unknown' })).toMatchObject({ status: 'refused' });
  expect(run.acknowledge({ response: 'accepted', provider: 'ToolUsageMonitor', note: 'ok\u202e' })).toMatchObject({
    status: 'recorded',
    acknowledgement: { provider: 'ToolUsageMonitor', note: 'ok' },
  });
  expect((await payloads(run))[0]?.kind).toBe('run_started');
  expect(cox.health().recorder).toMatchObject({ dropped: 0 });
});

test('a file trigger of a provider of the run fires once, when the file is there', () => {
  let exists = false;
  const files = Filesystem({ exists: () => exists });
  const prompt = definePrompt({ ns: 'agent', key: 'main', resources: [files] });
  const trigger = { onFileCreated: 'done.txt' };
  const { cox } = setUp({ feedback: [{ provider: usage, trigger }] });
  const run = cox.startRun({ prompt });
  const texts = [false, true, true].map((there) => {
    exists = there;
    call(run);
    return run.feedback() !== undefined;
  });
  expect(texts).toEqual([false, true, false]);
});

test('limits that are no limits are refused when coxswain is set up', () => {
  const bank = guidanceBank({ a: { content: 'a', category: 'b' } });
  const classifier: ModelClassifier = { name: 'm', classify: () => Promise.resolve(undefined) };
  for (const options of [
    { maxGuidancePerTurn: -3 },
    { noise: { cooldownCalls: Number.NaN } },
    { models: [{ classifier, bank, decisionPoints: [], timeLimitMs: 0 }] },
  ] satisfies CoxswainOptions[]) {
    expect(() => createCoxswain(options)).toThrow(/must be a number/);
  }
});

test('advice before a prompt is rendered can be handed to the prompt', () => {
  const prompt = definePrompt({ ns: 'agent', key: 'main', sections: [{ key: 'task', text: 'Do it.' }] });
  const provider: GuidanceProvider = {
    name: 'opening',
    category: 'test',
    classify: () => ({ relevant: true, confidence: 1 }),
    provide: () => ({ key: 'opening', content: 'Begin with the tests.' }),
  };
  const { cox } = setUp({ guidance: [{ provider, decisionPoints: ['pre_render'] }] });
  const advice = cox.startRun({ prompt }).advise('pre_render');
  const guidance = advice.flatMap(({ injection }) => injection ?? []);
  expect(prompt.render({}, { guidance }).text).toBe('Do it.\n\nBegin with the tests.');
});

test('a deadline can be set, moved and taken away while the run goes on, and a replay knows', async () => {
  const { cox, clock, records } = setUp({
    feedback: [{ provider: deadlineFeedback(), trigger: { everyNSeconds: 30 } }],
  });
  const run = cox.startRun();
  call(run);
  expect(run.feedback()).toBeUndefined();
  run.setDeadline({ minutes: 8 });
  expect(run.feedback()).toContain('You have 8 minutes remaining.');
  clock.advance(60);
  run.setDeadline({ atMs: clock.nowMs() + 90_000 });
  expect(run.feedback()).toContain('You have 90 seconds remaining.');
  clock.advance(60);
  run.setDeadline(undefined);
  expect(run.feedback()).toBeUndefined();
  const recorded = await records(run);
  const replay = new Replay({
    steering: { feedback: [{ provider: deadlineFeedback(), trigger: { everyNSeconds: 30 } }] },
  });
  const again = recorded.flatMap((record) => replay.take(record)).filter((item) => item.kind === 'feedback_produced');
  expect(again).toEqual(recorded.map(({ payload }) => payload).filter(({ kind }) => kind === 'feedback_produced'));
  expect(again).toHaveLength(2);
});

test('a run that has ended can be resumed, and then takes what happens again', async () => {
  const { cox, payloads } = setUp();
  const run = cox.startRun();
  await run.end();
  expect(cox.health().openRuns).toBe(0);
  expect(run.emit({ type: 'run_resumed', trigger: 'resume' })).toBe('accepted');
  expect(run.isEnded).toBe(false);
  expect(cox.health().openRuns).toBe(1);
  call(run);
  await run.end('aborted');
  const kinds = (await payloads(run)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'run_ended')).toHaveLength(2);
  expect(kinds).toContain('run_resumed');
  expect(cox.health().openRuns).toBe(0);
});

test('before its end a run asks for last words, which name the outcome where the host names none', async () => {
  const { cox, payloads } = setUp({ feedback: [{ provider: usage, trigger: { everyNCalls: 1 } }] });
  for (const [named, outcome] of [
    [undefined, 'aborted'],
    ['limit', 'limit'],
  ] as const) {
    const run = cox.startRun();
    run.beforeEnd(() => {
      throw new Error('no words');
    });
    run.beforeEnd(() => undefined);
    run.beforeEnd(() => {
      call(run);
      for (const advice of run.advise('post_tool_result')) advice.undelivered('no request followed');
      return 'aborted';
    });
    run.beforeEnd(() => 'error');
    await run.end(named);
    const last = (await payloads(run)).slice(-3);
    expect(last.map(({ kind }) => kind)).toEqual(['feedback_produced', 'feedback_delivered', 'run_ended']);
    expect(last[2]).toMatchObject({ outcome });
    expect(await payloads(run)).toContainEqual({ kind: 'fault_noticed', where: 'closing', message: 'no words' });
  }
});

test('a run that is ended with what is known of it says so on the record', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId: 'r' });
  await run.end({ success: true, reward: 0.5, reason: 'answered' });
  const records = await Array.fromAsync(store.readRun('r'));
  expect(records.at(-1)?.payload).toMatchObject({
    kind: 'run_ended',
    outcome: 'ended',
    success: true,
    reward: 0.5,
    reason: 'answered',
  });
});
