import { expect, test } from 'vitest';
import { createSession, restoreSession } from './create-session.ts';
import { defineEvent, type EventType } from './define-event.ts';
import { defineSlice, type Slice, type SliceView, append, none, replace } from './define-slice.ts';

// The pattern by which a reducer asks for an observer to run, built from the public parts alone.

interface Plan {
  readonly steps: readonly { readonly id: string; readonly done: boolean }[];
}

const PlanMade = defineEvent<Plan>('plan/made');
const PlanStepDone = defineEvent<{ readonly stepId: string }>('plan/step-done');
const PlanProgressCheck = defineEvent('plan/progress-check');

const Plan: Slice<Plan> = defineSlice<Plan>('plan')
  .on(PlanMade, (_view, event) => replace([event.data]))
  .on(PlanStepDone, (view, event) => {
    const plan = view.latest();
    if (plan === undefined) return none;
    const steps = plan.steps.map((step) => (step.id === event.data.stepId ? { id: step.id, done: true } : step));
    return { operation: append({ steps }), dispatch: [PlanProgressCheck()] };
  });

interface PendingTrigger {
  readonly eventNames: readonly string[];
}

const TriggerServed = defineEvent<{ readonly eventName: string }>('trigger-served');

function pendingNames(view: SliceView<PendingTrigger>): readonly string[] {
  return view.latest()?.eventNames ?? [];
}

function pendingTrigger(...eventTypes: readonly EventType<null>[]): Slice<PendingTrigger> {
  let slice = defineSlice<PendingTrigger>('pending-trigger', { retain: 1 }).on(TriggerServed, (view, event) =>
    replace([{ eventNames: pendingNames(view).filter((name) => name !== event.data.eventName) }]),
  );
  for (const eventType of eventTypes) {
    const { eventName } = eventType;
    slice = slice.on(eventType, (view) =>
      pendingNames(view).includes(eventName) ? none : replace([{ eventNames: [...pendingNames(view), eventName] }]),
    );
  }
  return slice;
}

const PendingTrigger = pendingTrigger(PlanProgressCheck);
const clock = { nowMs: (): number => 0 };
const slices = [Plan, PendingTrigger];

test('a reducer returns an event that marks a trigger as pending, once, until it is served', () => {
  const session = createSession({ clock, slices });
  const pending = session.slice(PendingTrigger);
  session.dispatch(
    PlanMade({
      steps: [
        { id: 's1', done: false },
        { id: 's2', done: false },
      ],
    }),
  );
  expect(pendingNames(pending)).toEqual([]);
  session.dispatch(PlanStepDone({ stepId: 's1' }));
  session.dispatch(PlanStepDone({ stepId: 's2' }));
  expect(pendingNames(pending)).toEqual([PlanProgressCheck.eventName]);
  expect(
    session
      .slice(Plan)
      .latest()
      ?.steps.every((step) => step.done),
  ).toBe(true);
  session.dispatch(TriggerServed({ eventName: PlanProgressCheck.eventName }));
  expect(pendingNames(pending)).toEqual([]);
  session.dispatch(PlanStepDone({ stepId: 's2' }));
  expect(pendingNames(pending)).toEqual([PlanProgressCheck.eventName]);
});

test('no plan, no trigger', () => {
  const session = createSession({ clock, slices });
  session.dispatch(PlanStepDone({ stepId: 's1' }));
  expect(pendingNames(session.slice(PendingTrigger))).toEqual([]);
});

test('a pending trigger outlives the process', () => {
  const session = createSession({ clock, slices });
  session.dispatch(PlanProgressCheck());
  const restored = restoreSession(JSON.parse(JSON.stringify(session.snapshot())), { clock, slices });
  expect(pendingNames(restored.slice(PendingTrigger))).toEqual(['plan/progress-check']);
});
