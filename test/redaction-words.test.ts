import { expect, test } from 'vitest';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { type DerivedPayload, isDerived } from '../src/core/records/derived-payload.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { guidanceBank } from '../src/core/steering/guidance/define-guidance.ts';
import type { FeedbackProvider, TrajectoryObserver } from '../src/core/steering/prompt/feedback-provider.ts';
import type { GuidanceProvider } from '../src/core/steering/prompt/guidance-provider.ts';
import { createRedactor, type RedactionOptions } from '../src/core/redact/redactor.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { RunStepper } from '../src/core/run/run-step.ts';
import type { Run } from '../src/core/run/run.ts';
import { defineEvent } from '../src/core/session/define-event.ts';
import { defineSlice } from '../src/core/session/define-slice.ts';
import type { SteeringOptions } from '../src/core/steering/steering-options.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { survivorsIn } from './support/canary.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { readAll } from './support/script-records.ts';
import { fakeSecrets } from './support/fake-secrets.ts';

const MODES: readonly RedactionOptions[] = [{}, { mode: 'structureOnly', key: 'a key of the tests, long enough' }];
const secrets = fakeSecrets();
const RUN = { runId: 'run' };

/** The secret whose turn it is after so many calls, and what a cut at 300 characters would leave half of. */
function secretAt(calls: number): string {
  return secrets[(calls - 1) % secrets.length]?.text ?? '';
}
function longAt(calls: number): string {
  return `${'.'.repeat(280)} ${secretAt(calls)}`;
}
function thrower(calls: number): never {
  throw new Error(longAt(calls));
}

const trigger = { everyNCalls: 1 };
const says: FeedbackProvider = {
  name: 'says',
  shouldRun: () => true,
  provide: ({ toolCallCount }) => ({
    summary: secretAt(toolCallCount),
    observations: [{ category: 'seen', description: secretAt(toolCallCount), evidence: secretAt(toolCallCount) }],
    suggestions: [secretAt(toolCallCount)],
  }),
};
const fails: FeedbackProvider = {
  name: 'fails',
  shouldRun: () => true,
  provide: ({ toolCallCount }) => thrower(toolCallCount),
};
const observes: TrajectoryObserver = {
  name: 'observes',
  shouldRun: () => true,
  observe: (_session, { toolCallCount }) => ({ summary: secretAt(toolCallCount) }),
};
const guides: GuidanceProvider = {
  name: 'guides',
  category: 'tests',
  classify: ({ toolCallCount }) => ({
    relevant: true,
    confidence: 1,
    reason: `${'.'.repeat(180)} ${secretAt(toolCallCount)}`,
  }),
  provide: ({ toolCallCount }) => ({ key: 'tests', content: secretAt(toolCallCount) }),
};
const guidesNot: GuidanceProvider = { ...guides, name: 'fails', provide: (context) => thrower(context.toolCallCount) };
const reported = defineEvent<{ readonly call: number }>('told');
const slice = defineSlice<number>('broken').on(reported, (_view, { data }) => thrower(data.call));
const limits = { decisionPoints: ['post_tool_result' as const], cooldownTurns: 0, maxPerRun: 1000, maxPerTurn: 10 };
const steering: SteeringOptions = {
  delivery: 'all',
  noise: { cooldownCalls: 0 },
  feedback: [
    { provider: says, trigger },
    { provider: fails, trigger },
  ],
  observers: [{ observer: observes, trigger }],
  guidance: [
    { provider: guides, ...limits },
    { provider: guidesNot, ...limits },
  ],
  detectors: secrets.map((_, index) => ({
    name: `broken-${index}`,
    start: () => ({
      observe: (step) => (step.index === index ? thrower(index + 1) : undefined),
      snapshot: () => null,
    }),
  })),
  slices: [slice],
};

/** Makes every call and runs the user's code after each. @returns the texts that the agent received */
function runCalls(run: Run, from: number, through: number): string[] {
  const texts: string[] = [];
  for (let index = from; index <= through; index += 1) {
    const toolCallId = `call-${index}`;
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: `make ${index}` } });
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result: `made ${index}`, isError: false });
    run.dispatch(reported({ call: index }));
    for (const advice of run.advise('post_tool_result')) {
      texts.push(advice.text);
      advice.delivered('tool_result');
    }
  }
  return texts;
}

function stateOf(run: Run): string {
  return JSON.stringify([run.snapshot(), run.session.faults(), run.analysis.faults]);
}

test.each(MODES)(
  'secrets that providers, observers, detectors and reducers say are nowhere, and live equals replay (%j)',
  async (redaction) => {
    const store = memoryStore();
    const cox = createCoxswain({ ...steering, store, redaction, clock: createFakeClock() });
    const run = cox.startRun(RUN);
    const texts = runCalls(run, 1, secrets.length);
    const state = stateOf(run);
    await run.end();
    const records = await readAll(store, 'run');
    const kinds = records.map(({ payload }) => payload.kind);
    for (const kind of ['feedback_produced', 'guidance_produced', 'provider_failed']) {
      expect(kinds.filter((one) => one === kind).length).toBeGreaterThanOrEqual(secrets.length);
    }
    expect(run.session.faultCount()).toBe(secrets.length);
    expect(run.analysis.faults).toHaveLength(secrets.length);
    expect(survivorsIn(state)).toEqual([]);
    expect(survivorsIn(JSON.stringify([records, texts, cox.health()]))).toEqual([]);
    expect(derivedOf(records).flatMap((item) => ('text' in item ? [item.text] : []))).toEqual(
      texts.filter((text) => /^\[(?:Feedback|Trajectory)/.test(text)),
    );
    const replay = new Replay({ steering, redaction });
    expect(records.flatMap((record) => replay.take(record))).toEqual(derivedOf(records));
  },
);

function derivedOf(records: readonly TrajectoryRecord[]): readonly DerivedPayload[] {
  return records.map(({ payload }) => payload).filter(isDerived);
}

test('half a secret is not left where a message is cut', () => {
  const cox = createCoxswain({ ...steering, store: memoryStore(), clock: createFakeClock() });
  const run = cox.startRun(RUN);
  runCalls(run, 1, secrets.length);
  const state = stateOf(run);
  // 19 characters of a secret's text fall before the cut at 300, and as many before that of a reason.
  const heads = secrets.flatMap(({ secret }) => /^[a-z0-9]{14}/i.exec(secret) ?? []);
  expect(heads.length).toBeGreaterThan(20);
  expect(heads.filter((head) => state.includes(head))).toEqual([]);
});

test('without redaction the same secrets are found in the state, so the test can fail', () => {
  const cox = createCoxswain({ ...steering, redaction: false, clock: createFakeClock() });
  const run = cox.startRun(RUN);
  const texts = runCalls(run, 1, secrets.length);
  expect(survivorsIn(stateOf(run)).length).toBeGreaterThan(secrets.length - 5);
  expect(survivorsIn(texts.join('\n'))).toHaveLength(secrets.length);
});

test('a process that takes one step of a run saves no secret of a provider', async () => {
  const store = memoryStore();
  const redactor = createRedactor();
  const stepper = new RunStepper({
    steering: { ...steering, retain: 'compact' },
    redactor,
    clock: createFakeClock(),
    build: 'test',
    host: { initial: null, fold: () => null },
  });
  let saved = '';
  for (let call = 1; call <= secrets.length; call += 1) {
    await store.transact('run', (view) => {
      const change = stepper.step(view, {
        identity: { ...RUN, depth: 0 },
        begin: () => ({}),
        work: (run) => void runCalls(run, call, call),
      });
      saved += JSON.stringify(change);
      return change;
    });
  }
  expect(saved).toContain('[REDACTED:');
  expect(survivorsIn(saved)).toEqual([]);
});

test('a model that fails says no secret in what is recorded', async () => {
  const store = memoryStore();
  const text = secretAt(1);
  const classifier = { name: 'model', classify: () => Promise.reject(new Error(`${'.'.repeat(290)} ${text}`)) };
  const bank = guidanceBank({ one: { content: 'Go on.', category: 'tests' } });
  const models = [{ classifier, bank, decisionPoints: ['post_tool_result' as const] }];
  const cox = createCoxswain({ models, store, clock: createFakeClock() });
  const run = cox.startRun(RUN);
  run.advise('post_tool_result');
  await new Promise((resolve) => setImmediate(resolve));
  await run.end();
  const answers = (await readAll(store, 'run')).filter(({ payload }) => payload.kind === 'model_answered');
  expect(answers).toHaveLength(1);
  expect(JSON.stringify(answers)).toMatch(/see \[RED[A-Z]*"/);
});

test('a store that names a secret in its refusal leaves none in gap records or in what health says', async () => {
  const store = memoryStore();
  let refuses = true;
  const cox = createCoxswain({
    clock: createFakeClock(),
    maxQueued: 4,
    retryForMs: 0,
    store: {
      flush: () => store.flush(),
      close: () => store.close(),
      append: (batch) =>
        refuses ? Promise.reject(new Error(secrets.map(({ text }) => text).join('\n'))) : store.append(batch),
    },
  });
  const run = cox.startRun(RUN);
  runCalls(run, 1, 5);
  await run.flush();
  const health = JSON.stringify(cox.health());
  refuses = false;
  runCalls(run, 6, 10);
  await run.end();
  const gaps = (await readAll(store, 'run')).filter(({ payload }) => payload.kind === 'gap');
  expect(JSON.stringify(gaps)).toContain('[REDACTED:');
  expect(survivorsIn(JSON.stringify(gaps) + health)).toEqual([]);
});
