import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CoxswainError } from '../base/error.ts';
import { createSession, restoreSession } from './create-session.ts';
import { defineEvent, type EventInput } from './define-event.ts';
import { defineSlice, appendAll, replaceLatest, upsertBy, append, clear } from './define-slice.ts';
import type { Session, SessionOptions } from './session.ts';
import { toolInvoked } from './tool-invoked.ts';

interface Entry {
  readonly key: string;
  readonly value: number;
}

const Put = defineEvent<Entry>('put');
const Wipe = defineEvent('wipe');
const Bad = defineEvent('bad');

const Log = defineSlice<Entry>('log', { retain: 3 })
  .on(Put, (_view, event) => ({ operation: append(event.data), dispatch: event.data.value > 50 ? [Wipe()] : [] }))
  .on(Bad, () => {
    throw new Error('bad');
  });
const ByKey = defineSlice<Entry>('by-key', { retain: 4 })
  .on(
    Put,
    upsertBy((item) => item.key),
  )
  .on(Wipe, clear);
const Last = defineSlice<Entry>('last').on(Put, replaceLatest);
const slices = [Log, ByKey, Last];

function options(nowMs = 1000): SessionOptions {
  return { clock: { nowMs: () => nowMs }, slices };
}

function dispatchAll(session: Session, events: readonly EventInput<unknown>[]): void {
  for (const event of events) session.dispatch(event);
}

function throughText(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const event: fc.Arbitrary<EventInput<unknown>> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), value: fc.nat(60) })
      .map((data) => Put(data)),
  },
  fc.constant(Wipe()),
  fc.constant(Bad()),
  fc.string().map((text) => toolInvoked({ name: 'bash', params: { text }, result: text, success: true })),
  fc.constant({ type: 'unheard-of', data: null }),
);

test('continuing from a snapshot changes nothing, at any point', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), fc.array(event, { maxLength: 30 }), (before, after) => {
      const whole = createSession(options());
      dispatchAll(whole, [...before, ...after]);
      const first = createSession(options());
      dispatchAll(first, before);
      const snapshot = first.snapshot();
      expect(throughText(snapshot)).toEqual(snapshot);
      const second = restoreSession(throughText(snapshot), options());
      expect(second.snapshot()).toEqual(snapshot);
      dispatchAll(second, after);
      expect(second.snapshot()).toEqual(whole.snapshot());
      for (const slice of slices) expect(second.slice(slice).all()).toEqual(whole.slice(slice).all());
    }),
  );
});

test('a snapshot has the state of the session', () => {
  const session = createSession(options());
  for (const value of [1, 2, 3, 4]) session.dispatch(Put({ key: 'a', value }));
  session.dispatch(Bad());
  expect(session.snapshot()).toEqual({
    schema_version: 1,
    event_count: 5,
    fault_count: 1,
    faults: [{ code: 'reducer-failed', message: 'bad', eventType: 'bad', eventIndex: 4, atMs: 1000, slice: 'log' }],
    slices: {
      'tool-invoked': { total: 0, items: [] },
      'tool-call-count': { total: 0, items: [] },
      log: { total: 4, items: [2, 3, 4].map((value) => ({ key: 'a', value })) },
      'by-key': { total: 1, items: [{ key: 'a', value: 4 }] },
      last: { total: 1, items: [{ key: 'a', value: 4 }] },
    },
  });
});

test('a snapshot shares nothing with the session, on either side', () => {
  const session = createSession(options());
  const item = { key: 'a', value: 1 };
  session.dispatch(Put(item));
  const snapshot = session.snapshot();
  const text = JSON.stringify(snapshot);
  expect(() => (item.value = 99)).toThrow(TypeError);
  session.dispatch(Put({ key: 'b', value: 2 }));
  expect(JSON.stringify(snapshot)).toBe(text);
  const outside = JSON.parse(text) as { slices: { log: { items: Entry[] } } };
  const restored = restoreSession(outside, options());
  outside.slices.log.items.length = 0;
  expect(restored.slice(Log).all()).toEqual([{ key: 'a', value: 1 }]);
});

test('slices of a snapshot are kept until they are registered', () => {
  const session = createSession(options());
  for (const value of [1, 2, 3, 4]) session.dispatch(Put({ key: 'a', value }));
  const snapshot = session.snapshot();
  const bare = restoreSession(snapshot, { clock: options().clock });
  expect(bare.snapshot()).toEqual(snapshot);
  const again = restoreSession(bare.snapshot(), { clock: options().clock });
  expect(again.slice(Log).total()).toBe(4);
  expect(
    again
      .slice(Log)
      .all()
      .map((item) => item.value),
  ).toEqual([2, 3, 4]);
  again.dispatch(Put({ key: 'b', value: 5 }));
  expect(again.slice(Log).total()).toBe(5);
  expect(again.snapshot().slices['last']).toEqual(snapshot.slices['last']);
});

test('a slice that retains less than its snapshot keeps the newest items and the exact total', () => {
  const session = createSession(options());
  for (const value of [1, 2, 3, 4]) session.dispatch(Put({ key: 'a', value }));
  const Smaller = defineSlice<Entry>('log', { retain: 2 }).on(Put, appendAll);
  const restored = restoreSession(session.snapshot(), { clock: options().clock, slices: [Smaller] });
  expect(
    restored
      .slice(Smaller)
      .all()
      .map((item) => item.value),
  ).toEqual([3, 4]);
  expect(restored.slice(Smaller).total()).toBe(4);
});

test('an item that is not JSON is refused by snapshot, naming slice and path', () => {
  const session = createSession(options());
  session.dispatch({ type: 'put', data: { key: 'a', value: Number.NaN } });
  expect(session.slice(Log).total()).toBe(1);
  expect(() => session.snapshot()).toThrowError(
    expect.objectContaining({
      code: 'invalid-argument',
      message: expect.stringContaining('slices.log.items[0].value'),
    }),
  );
});

test('a snapshot inside a dispatch is refused, because events may still wait', () => {
  const session = createSession(options());
  session.subscribe(Put, () => {
    session.snapshot();
  });
  session.dispatch(Put({ key: 'a', value: 1 }));
  expect(session.faults().map((fault) => fault.message)).toEqual([expect.stringContaining('inside a dispatch')]);
});

test('a snapshot of a newer schema is refused', () => {
  const snapshot = { ...createSession(options()).snapshot(), schema_version: 2 };
  expect(() => restoreSession(snapshot, options())).toThrowError(
    expect.objectContaining({ code: 'snapshot-version', details: { path: 'schema_version', found: 2, newest: 1 } }),
  );
});

test.each([
  ['snapshot', null],
  ['snapshot', []],
  ['schema_version', { schema_version: undefined }],
  ['schema_version', { schema_version: 0 }],
  ['event_count', { event_count: -1 }],
  ['event_count', { event_count: '3' }],
  ['fault_count', { fault_count: 0.5 }],
  ['faults', { faults: {} }],
  ['faults[0]', { fault_count: 1, faults: [3] }],
  ['faults[0].code', { fault_count: 1, faults: [{ code: 'other' }] }],
  ['fault_count', { faults: [{ code: 'reducer-failed', message: '', eventType: 'a', eventIndex: 0, atMs: 0 }] }],
  ['slices', { slices: [] }],
  ['slices.log', { slices: { log: null } }],
  ['slices.No Such', { slices: { 'No Such': { total: 0, items: [] } } }],
  ['slices.__proto__', { slices: JSON.parse('{"__proto__":{"total":0,"items":[]}}') as unknown }],
  ['slices.log.items', { slices: { log: { total: 0 } } }],
  ['slices.log.total', { slices: { log: { total: 1, items: [1, 2] } } }],
  ['slices.log.items[1].at', { slices: { log: { total: 2, items: [1, { at: new Date(0) }] } } }],
])('a snapshot malformed at %s is refused with that path', (path, change) => {
  const empty = { schema_version: 1, event_count: 0, fault_count: 0, faults: [], slices: {} };
  const snapshot: unknown = change === null || Array.isArray(change) ? change : { ...empty, ...change };
  expect(() => restoreSession(snapshot, options())).toThrowError(
    expect.objectContaining({ code: 'snapshot-version', details: expect.objectContaining({ path }) }),
  );
});

function outcomeOf(snapshot: unknown): unknown {
  try {
    restoreSession(snapshot, options()).snapshot();
    return 'restored';
  } catch (thrown) {
    return thrown instanceof CoxswainError ? thrown.code : thrown;
  }
}

test('any invalid JSON is refused with the code snapshot-version', () => {
  const almost = fc.record(
    {
      schema_version: fc.constantFrom(1, 2, null),
      event_count: fc.oneof(fc.nat(), fc.jsonValue()),
      fault_count: fc.nat(),
      faults: fc.array(fc.jsonValue()),
      slices: fc.dictionary(fc.string(), fc.record({ total: fc.nat(), items: fc.array(fc.jsonValue()) })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), almost), (value) => {
      expect(['restored', 'snapshot-version']).toContain(outcomeOf(value));
    }),
  );
});
