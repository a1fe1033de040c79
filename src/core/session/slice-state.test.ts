import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { append, amend, clear, extend, none, replace, type SliceOperation, upsertBy } from './define-slice.ts';
import { SliceState } from './create-session.ts';

interface Entry {
  readonly key: number;
  readonly value: number;
}

type Step =
  | { readonly kind: 'operation'; readonly operation: SliceOperation<Entry> }
  | { readonly kind: 'upsert'; readonly entry: Entry };

const entry = fc.record({ key: fc.nat(6), value: fc.nat() });
const entries = fc.array(entry, { maxLength: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: entry.map((item): Step => ({ kind: 'operation', operation: append(item) })) },
  { weight: 2, arbitrary: entries.map((items): Step => ({ kind: 'operation', operation: extend(items) })) },
  { weight: 4, arbitrary: entry.map((item): Step => ({ kind: 'upsert', entry: item })) },
  entries.map((items): Step => ({ kind: 'operation', operation: replace(items) })),
  fc.constant<Step>({ kind: 'operation', operation: clear() }),
  fc.constant<Step>({ kind: 'operation', operation: none }),
);

/** The slice without retention, which the real one must agree with. */
function applyToModel(model: readonly Entry[], next: Step, retain: number): readonly Entry[] {
  if (next.kind === 'upsert') {
    const from = Math.max(0, model.length - retain);
    const position = model.findLastIndex((item, index) => index >= from && item.key === next.entry.key);
    return position < 0 ? [...model, next.entry] : model.with(position, next.entry);
  }
  switch (next.operation.kind) {
    case 'append':
      return [...model, next.operation.item];
    case 'extend':
      return [...model, ...next.operation.items];
    case 'replace':
      return next.operation.items;
    case 'clear':
      return [];
    default:
      return model;
  }
}

test('all() is the last min(retain, total) items of the unbounded slice, and total() is exact', () => {
  const upsert = upsertBy<Entry>((item) => item.key);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 60 }), (retain, steps) => {
      const state = new SliceState<Entry>(retain);
      let model: readonly Entry[] = [];
      for (const [index, next] of steps.entries()) {
        if (next.kind === 'operation') {
          state.apply(next.operation);
        } else {
          const operation = upsert(state, { type: 'upsert', data: next.entry, atMs: 0, index });
          if (!('kind' in operation)) throw new Error('upsertBy dispatches nothing');
          state.apply(operation);
        }
        model = applyToModel(model, next, retain);
        const retained = model.slice(-retain);
        expect(state.all()).toEqual(retained);
        expect(state.total()).toBe(model.length);
        expect(state.latest()).toEqual(model.at(-1));
        expect(state.last(3)).toEqual(retained.slice(-3));
        expect(state.where((item) => item.key > 2)).toEqual(retained.filter((item) => item.key > 2));
      }
    }),
  );
});

test('the result of all() is frozen and rebuilt only after a change', () => {
  const state = new SliceState<number>(2);
  state.apply(extend([1, 2]));
  const before = state.all();
  state.apply(none);
  expect(state.all()).toBe(before);
  state.apply(append(3));
  state.apply(amend(0, 9));
  expect(before).toEqual([1, 2]);
  expect(state.all()).toEqual([9, 3]);
  expect(Object.isFrozen(before)).toBe(true);
});

test.each([-1, 2, 0.5, Number.NaN])(
  'amend at %d, where nothing is retained, throws and changes nothing',
  (position) => {
    const state = new SliceState<number>(4, [1, 2], 7);
    expect(() => {
      state.apply(amend(position, 9));
    }).toThrowError(/no retained item/);
    expect([state.all(), state.total()]).toEqual([[1, 2], 7]);
  },
);

test('last() with a count that is not a whole number from 0 never invents items', () => {
  const state = new SliceState<number>(4, [1, 2]);
  expect([state.last(-1), state.last(Number.NaN), state.last(1.9), state.last(Number.POSITIVE_INFINITY)]).toEqual([
    [],
    [],
    [2],
    [1, 2],
  ]);
});
