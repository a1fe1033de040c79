import { expect, test } from 'vitest';
import { defineEvent } from './define-event.ts';
import type { Json } from '../base/json.ts';

interface StepDone {
  readonly stepId: string;
  readonly note?: string;
}

test('an event type makes plain events that carry its name', () => {
  const PlanStepDone = defineEvent<StepDone>('plan/step-done');
  const event = PlanStepDone({ stepId: 's1' });
  expect(event).toEqual({ type: 'plan/step-done', data: { stepId: 's1' } });
  expect(JSON.parse(JSON.stringify(event))).toEqual(event);
  expect(PlanStepDone.eventName).toBe('plan/step-done');
});

test('a time is a member of the event only if given', () => {
  const Tick = defineEvent<number>('tick');
  expect(Tick(1, { atMs: 0 })).toEqual({ type: 'tick', data: 1, atMs: 0 });
  expect('atMs' in Tick(1)).toBe(false);
});

test('an event type without data makes events whose data is null', () => {
  expect(defineEvent('check')()).toEqual({ type: 'check', data: null });
});

test('is() compares the name of the type', () => {
  const A = defineEvent<StepDone>('a');
  const B = defineEvent<number>('b');
  const event = JSON.parse(JSON.stringify(A({ stepId: 'x' }))) as { type: string; data: unknown };
  expect(A.is(event)).toBe(true);
  expect(B.is(event)).toBe(false);
});

test.each(['', 'Upper', '-first', 'with space', 'a'.repeat(65), '__proto__', 'ü', 'a\n'])(
  'the event name %j is refused',
  (name) => {
    expect(() => defineEvent(name)).toThrowError(expect.objectContaining({ code: 'invalid-definition' }));
  },
);

test.each(['a', '0', 'plan/step-done', 'a.b_c-d/e', 'a'.repeat(64)])('the event name %j is accepted', (name) => {
  expect(defineEvent(name).eventName).toBe(name);
});

test('the type checker accepts JSON data and refuses other values', () => {
  defineEvent<Json>('json');
  defineEvent<{ readonly kind: 'a'; readonly at: readonly [number, null] } | { readonly kind: 'b' }>('union');
  // @ts-expect-error a Date is not JSON
  defineEvent<{ readonly at: Date }>('date');
  // @ts-expect-error a function is not JSON
  defineEvent<{ readonly run: () => void }>('function');
  // @ts-expect-error a Map is not JSON
  defineEvent<Map<string, number>>('map');
  // @ts-expect-error a member that may be undefined is not JSON
  defineEvent<{ readonly note: string | undefined }>('undefined');
  // @ts-expect-error unknown may be anything
  defineEvent<{ readonly payload: unknown }>('unknown');
  // @ts-expect-error data is required
  expect(defineEvent<StepDone>('data')().data).toBeNull();
});
