// One test for each behaviour that the specification of trajectory observers states.
import { expect, test } from 'vitest';
import { definePrompt, type PromptDefinition } from '../prompt/define-prompt.ts';
import type { PromptTemplate } from '../prompt/prompt-template.ts';
import type { ObserverContext, TrajectoryObserver } from '../prompt/feedback-provider.ts';
import { createSession, restoreSession } from '../../session/create-session.ts';
import { defineEvent } from '../../session/define-event.ts';
import { defineSlice, type Slice, append, none, replace } from '../../session/define-slice.ts';
import { createFeedbackScene, type FeedbackScene } from '../../../../test/support/feedback-scene.ts';
import { Assessment, Feedback, PendingObserverTrigger, pendingTriggers } from './advice-slices.ts';
import { collectFeedback } from './evaluate-feedback.ts';
import { deadlineObserver } from './built-in-feedback.ts';
import { observerAsProvider, feedbackSlices, prepareFeedback } from './speaker.ts';

const NAME = 'agent/main';

function promptWith(definition: Omit<PromptDefinition, 'ns' | 'key'>): PromptTemplate {
  return definePrompt({ ns: 'agent', key: 'main', ...definition });
}

function says(name: string): TrajectoryObserver {
  return { name, shouldRun: () => true, observe: () => ({ summary: `${name} speaks.` }) };
}

test.each([
  [480, '[Trajectory Assessment - Deadline]\n\nYou have 8 minutes remaining.'],
  [
    90,
    '[Trajectory Assessment - Deadline]\n\nYou have 90 seconds remaining.\n\n→ Prioritize completing critical remaining work.\n→ Consider summarizing progress and remaining tasks.',
  ],
  [0, '[Trajectory Assessment - Deadline]\n\nYou have reached the time deadline.\n\n→ Wrap up immediately.'],
])('deadlineObserver with %d seconds left', (seconds, text) => {
  const prompt = promptWith({ observers: [{ observer: deadlineObserver() }] });
  const { session, clock } = createFeedbackScene(NAME);
  expect(collectFeedback({ prompt, session, deadline: { atMs: clock.nowMs() + seconds * 1_000 } })).toBe(text);
});

test('deadlineObserver runs every 30 seconds by default and not at all without a deadline', () => {
  const prompt = promptWith({ observers: [{ observer: deadlineObserver() }] });
  const { session, clock } = createFeedbackScene(NAME);
  const deadline = { atMs: clock.nowMs() + 600_000 };
  const spoke = (): boolean => collectFeedback({ prompt, session, deadline }) !== undefined;
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  expect(spoke()).toBe(true);
  clock.advance(29);
  expect(spoke()).toBe(false);
  clock.advance(1);
  expect(spoke()).toBe(true);
});

test('assessments are kept in a slice of their own with the call index', () => {
  const prompt = promptWith({ observers: [{ observer: says('A'), trigger: { everyNCalls: 10 } }] });
  const { session, clock, call } = createFeedbackScene(NAME);
  for (let made = 0; made < 25; made += 1) {
    call();
    collectFeedback({ prompt, session });
  }
  const all = session.slice(Assessment).all();
  expect(all.map(({ callIndex }) => callIndex)).toEqual([10, 20]);
  expect(all[1]).toEqual({
    observerName: 'A',
    summary: 'A speaks.',
    observations: [],
    suggestions: [],
    severity: 'info',
    atMs: clock.nowMs(),
    callIndex: 20,
    promptName: NAME,
  });
  expect(session.slice(Feedback).total()).toBe(0);
});

test('a shared cadence spans feedback and assessments; feedback providers come first', () => {
  const provider = { name: 'P', shouldRun: () => true, provide: () => ({ summary: 'P speaks.' }) };
  const prompt = promptWith({
    observers: [{ observer: says('O'), trigger: { everyNCalls: 2 } }],
    feedbackProviders: [{ provider, trigger: { everyNCalls: 3 } }],
  });
  const { session, call } = createFeedbackScene(NAME);
  const heads: (string | undefined)[] = [];
  for (let made = 1; made <= 6; made += 1) {
    call();
    heads.push(collectFeedback({ prompt, session })?.split('\n')[0]);
  }
  const observer = '[Trajectory Assessment - O]';
  expect(heads).toEqual([undefined, observer, undefined, observer, undefined, observer]);
});

test('the context counts calls since the last assessment and the error rate of a window', () => {
  let seen: { since: number; rate: number; rateOfNone: number; last: string | undefined } | undefined;
  const observer: TrajectoryObserver = {
    name: 'Counter',
    shouldRun: () => true,
    observe: (session, context) => {
      seen = {
        since: context.toolCallsSinceLastAssessment(),
        rate: context.errorRate(4),
        rateOfNone: context.errorRate(0),
        last: context.lastAssessment?.summary,
      };
      expect(session).toBe(context.session);
      return { summary: `At ${context.toolCallCount}.` };
    },
  };
  const prompt = promptWith({ observers: [{ observer, trigger: { everyNCalls: 5 } }] });
  const { session, call } = createFeedbackScene(NAME);
  call(4);
  call(1, { success: false });
  collectFeedback({ prompt, session });
  expect(seen).toEqual({ since: 5, rate: 0.25, rateOfNone: 0, last: undefined });
  call(2, { success: false });
  call(4);
  collectFeedback({ prompt, session });
  expect(seen).toEqual({ since: 6, rate: 0, rateOfNone: 0, last: 'At 5.' });
});

// The plan of the specification: a finished step asks for the progress observer.

interface Plan {
  readonly steps: readonly { readonly id: string; readonly done: boolean }[];
}

const PlanMade = defineEvent<Plan>('plan/made');
const MarkStepDone = defineEvent<{ readonly stepId: string }>('plan/step-done');
const PlanProgressCheck = defineEvent('plan/progress-check');

const Plan: Slice<Plan> = defineSlice<Plan>('plan')
  .on(PlanMade, (_view, event) => replace([event.data]))
  .on(MarkStepDone, (view, event) => {
    const plan = view.latest();
    if (plan === undefined) return none;
    const steps = plan.steps.map(({ id, done }) => ({ id, done: done || id === event.data.stepId }));
    return { operation: append({ steps }), dispatch: [PlanProgressCheck()] };
  });

const planProgress: TrajectoryObserver = {
  name: 'Plan Progress',
  shouldRun: (session) => session.slice(Plan).latest() !== undefined,
  observe(session) {
    const steps = session.slice(Plan).latest()?.steps ?? [];
    const next = steps.find((step) => !step.done);
    const done = steps.filter((step) => step.done).length;
    if (next === undefined) return { summary: `All ${steps.length} plan steps complete.` };
    return {
      summary: `Completed ${done}/${steps.length} steps. ${steps.length - done} remaining.`,
      suggestions: [`Next: ${next.id}`],
    };
  },
};

const onCheck = { onSessionEvent: PlanProgressCheck };

function planScene(prompt: PromptTemplate): FeedbackScene {
  const scene = createFeedbackScene(NAME, [Plan, ...feedbackSlices]);
  prepareFeedback(scene.session, prompt);
  scene.session.dispatch(PlanMade({ steps: ['s1', 's2'].map((id) => ({ id, done: false })) }));
  return scene;
}

test('a reducer requests an observer run: it runs after that call, and the pending request is cleared', () => {
  const prompt = promptWith({ observers: [{ observer: planProgress, trigger: onCheck }] });
  const { session, call } = planScene(prompt);
  const pending = session.slice(PendingObserverTrigger);
  call();
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  session.dispatch(MarkStepDone({ stepId: 's1' }));
  expect(pendingTriggers(pending)).toEqual(['plan/progress-check']);
  call();
  expect(collectFeedback({ prompt, session })).toBe(
    '[Trajectory Assessment - Plan Progress]\n\nCompleted 1/2 steps. 1 remaining.\n\n→ Next: s2',
  );
  expect(pendingTriggers(pending)).toEqual([]);
  call();
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  session.dispatch(MarkStepDone({ stepId: 's2' }));
  expect(collectFeedback({ prompt, session })).toBe(
    '[Trajectory Assessment - Plan Progress]\n\nAll 2 plan steps complete.',
  );
});

test('a pending request stays while no observer runs for it', () => {
  let willing = false;
  const observer = { ...says('Moody'), shouldRun: () => willing };
  const prompt = promptWith({ observers: [{ observer, trigger: onCheck }] });
  const { session } = planScene(prompt);
  session.dispatch(PlanProgressCheck());
  session.dispatch(PlanProgressCheck());
  expect(collectFeedback({ prompt, session })).toBeUndefined();
  expect(pendingTriggers(session.slice(PendingObserverTrigger))).toEqual(['plan/progress-check']);
  willing = true;
  expect(collectFeedback({ prompt, session })).toBeDefined();
  expect(collectFeedback({ prompt, session })).toBeUndefined();
});

test('pending requests are cleared after all configurations were evaluated, and only those someone ran for', () => {
  const Other = defineEvent('other-check');
  const unwilling = { ...says('Unwilling'), shouldRun: () => false };
  const prompt = promptWith({
    delivery: 'all',
    observers: [
      { observer: says('A'), trigger: onCheck },
      { observer: says('B'), trigger: onCheck },
      { observer: unwilling, trigger: { onSessionEvent: Other } },
    ],
  });
  const { session } = planScene(prompt);
  session.dispatch(PlanProgressCheck());
  session.dispatch(Other());
  expect(collectFeedback({ prompt, session })).toBe(
    '[Trajectory Assessment - A]\n\nA speaks.\n\n[Trajectory Assessment - B]\n\nB speaks.',
  );
  expect(pendingTriggers(session.slice(PendingObserverTrigger))).toEqual(['other-check']);
});

test('an observer that runs for another condition clears its pending request too', () => {
  const prompt = promptWith({ observers: [{ observer: says('A'), trigger: { ...onCheck, everyNCalls: 1 } }] });
  const { session, call } = planScene(prompt);
  session.dispatch(PlanProgressCheck());
  call();
  expect(collectFeedback({ prompt, session })).toBeDefined();
  expect(pendingTriggers(session.slice(PendingObserverTrigger))).toEqual([]);
});

test('a pending request outlives the process', () => {
  const prompt = promptWith({ observers: [{ observer: planProgress, trigger: onCheck }] });
  const { session, clock } = planScene(prompt);
  session.dispatch(MarkStepDone({ stepId: 's1' }));
  const slices = [Plan, ...feedbackSlices];
  const restored = restoreSession(JSON.parse(JSON.stringify(session.snapshot())), { clock, slices });
  prepareFeedback(restored, prompt);
  expect(collectFeedback({ prompt, session: restored })).toContain('Completed 1/2 steps.');
  expect(createSession({ clock }).slice(PendingObserverTrigger).total()).toBe(0);
});

test('an observer works as a feedback provider, under the head line of feedback', () => {
  const provider = observerAsProvider({
    name: 'Thin',
    shouldRun: (_session, context: ObserverContext) => context.lastAssessment === undefined,
    observe: (_session, context) => ({ summary: `${context.toolCallCount} calls.` }),
  });
  const prompt = promptWith({ feedbackProviders: [{ provider, trigger: { everyNCalls: 1 } }] });
  const { session, call } = createFeedbackScene(NAME);
  call();
  expect(collectFeedback({ prompt, session })).toBe('[Feedback - Thin]\n\n1 calls.');
  expect(session.slice(Assessment).total()).toBe(0);
});
