import { expect, test } from 'vitest';
import { createSession } from './create-session.ts';
import { defineEvent } from './define-event.ts';
import { defineSlice, appendAll, replaceLatest, upsertBy } from './define-slice.ts';

interface Entry {
  readonly key: string;
  readonly value: number;
}

const Put = defineEvent<Entry>('put');
const clock = { nowMs: () => 0 };

test('appendAll keeps every event', () => {
  const Log = defineSlice<Entry>('log').on(Put, appendAll);
  const session = createSession({ clock, slices: [Log] });
  session.dispatch(Put({ key: 'a', value: 1 }));
  session.dispatch(Put({ key: 'a', value: 2 }));
  expect(session.slice(Log).all()).toEqual([
    { key: 'a', value: 1 },
    { key: 'a', value: 2 },
  ]);
});

test('replaceLatest keeps the newest event only', () => {
  const Current = defineSlice<Entry>('current').on(Put, replaceLatest);
  const session = createSession({ clock, slices: [Current] });
  session.dispatch(Put({ key: 'a', value: 1 }));
  session.dispatch(Put({ key: 'b', value: 2 }));
  expect(session.slice(Current).all()).toEqual([{ key: 'b', value: 2 }]);
  expect(session.slice(Current).total()).toBe(1);
});

test('upsertBy updates a key in its place and appends a new one', () => {
  const Entries = defineSlice<Entry>('entries', { retain: 2 }).on(
    Put,
    upsertBy((item) => item.key),
  );
  const session = createSession({ clock, slices: [Entries] });
  const view = session.slice(Entries);
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
  ] as const)
    session.dispatch(Put({ key, value }));
  expect(view.all()).toEqual([
    { key: 'a', value: 3 },
    { key: 'b', value: 2 },
  ]);
  expect(view.total()).toBe(2);
  session.dispatch(Put({ key: 'c', value: 4 }));
  session.dispatch(Put({ key: 'a', value: 5 }));
  expect(view.all().map((item) => item.key)).toEqual(['c', 'a']);
  expect(view.total()).toBe(4);
});
