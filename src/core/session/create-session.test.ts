import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSession } from './create-session.ts';
import { defineEvent, type SessionEvent } from './define-event.ts';
import { defineSlice, appendAll, append, none } from './define-slice.ts';
import type { SessionFault } from './fault-log.ts';
import type { Session } from './session.ts';

const Text = defineEvent<string>('text');
const Count = defineEvent<number>('count');
const Texts = defineSlice<string>('texts').on(Text, appendAll);

function clockFrom(startMs: number): { nowMs(): number; reads: number } {
  const clock = {
    reads: 0,
    nowMs(): number {
      clock.reads += 1;
      return startMs + clock.reads - 1;
    },
  };
  return clock;
}

const clock = { nowMs: (): number => 5000 };

function record(session: Session, into: SessionEvent<unknown>[]): void {
  session.subscribe(Text, (event) => into.push(event));
  session.subscribe(Count, (event) => into.push(event));
}

test.each([undefined, {}, { clock: Date }])(
  'a session without a clock is refused when it is created: %j',
  (options) => {
    // JavaScript callers may pass anything.
    expect(() => createSession(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining('systemClock') as string }),
    );
  },
);

test('hasDispatched answers for every processed event, also without a reducer or subscriber', () => {
  const session = createSession({ clock });
  expect([session.hasDispatched(Text), session.hasDispatched(Count)]).toEqual([false, false]);
  session.dispatch(Count(1));
  expect([session.hasDispatched(Text), session.hasDispatched(Count)]).toEqual([false, true]);
});

test('a dispatched event is folded before dispatch returns', () => {
  const session = createSession({ clock, slices: [Texts] });
  session.dispatch(Text('a'));
  expect(session.slice(Texts).latest()).toBe('a');
});

test('an event without a time gets the time of the clock, which is read only then', () => {
  const counting = clockFrom(100);
  const session = createSession({ clock: counting });
  const seen: SessionEvent<unknown>[] = [];
  record(session, seen);
  session.dispatch(Text('a'));
  session.dispatch(Text('b', { atMs: 7 }));
  session.dispatch(Text('c'));
  expect(seen.map((event) => event.atMs)).toEqual([100, 7, 101]);
  expect(counting.reads).toBe(2);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])('the time %d is refused and nothing happens', (atMs) => {
  const session = createSession({ clock, slices: [Texts] });
  expect(() => {
    session.dispatch(Text('a', { atMs }));
  }).toThrowError(expect.objectContaining({ code: 'invalid-argument' }));
  expect([session.eventCount(), session.slice(Texts).total()]).toEqual([0, 0]);
  session.dispatch(Text('b'));
  expect(session.slice(Texts).all()).toEqual(['b']);
});

test('events are numbered from 0 without gaps, even without reducers', () => {
  const session = createSession({ clock });
  const seen: SessionEvent<unknown>[] = [];
  record(session, seen);
  session.dispatch(Text('a'));
  session.dispatch({ type: 'unknown-type', data: null });
  session.dispatch(Count(1));
  expect(seen.map((event) => event.index)).toEqual([0, 2]);
  expect(session.eventCount()).toBe(3);
});

test('reducers run before subscribers, slices in order of registration, reducers in order of on', () => {
  const order: string[] = [];
  const noting = (name: string) => () => {
    order.push(name);
    return none;
  };
  const A = defineSlice<string>('a').on(Text, noting('a1')).on(Text, noting('a2'));
  const B = defineSlice<string>('b').on(Text, noting('b'));
  const session = createSession({ clock, slices: [B, A] });
  session.subscribe(Text, () => order.push('s1'));
  session.subscribe(Text, () => order.push('s2'));
  session.dispatch(Text('x'));
  expect(order).toEqual(['b', 'a1', 'a2', 's1', 's2']);
});

test('a later reducer of a slice sees the change of an earlier one', () => {
  const Sizes = defineSlice<number>('sizes')
    .on(Text, () => append(1))
    .on(Text, (view) => append(view.total() + 100));
  const session = createSession({ clock, slices: [Sizes] });
  session.dispatch(Text('x'));
  expect(session.slice(Sizes).all()).toEqual([1, 101]);
});

test('events dispatched during a dispatch are queued, breadth first, with the time of their cause', () => {
  const Log = defineSlice<string>('log')
    .on(Text, (_view, event) => ({
      operation: append(event.data),
      dispatch: event.data.length < 3 ? [Text(`${event.data}l`), Text(`${event.data}r`)] : [],
    }))
    .on(Count, (_view, event) => append(String(event.data)));
  const session = createSession({ clock: clockFrom(40), slices: [Log] });
  const seen: SessionEvent<unknown>[] = [];
  session.subscribe(Text, (event) => {
    if (event.data === 'x') session.dispatch(Count(9));
  });
  record(session, seen);
  session.dispatch(Text('x'));
  expect(session.slice(Log).all()).toEqual(['x', 'xl', 'xr', '9', 'xll', 'xlr', 'xrl', 'xrr']);
  expect(seen.map((event) => event.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(new Set(seen.map((event) => event.atMs))).toEqual(new Set([40]));
});

test('a chain of events stops 16 deep, with one dispatch-depth fault', () => {
  const Chain = defineSlice<number>('chain').on(Count, (_view, event) => ({
    operation: append(event.data),
    dispatch: [Count(event.data + 1)],
  }));
  const session = createSession({ clock, slices: [Chain] });
  session.dispatch(Count(0));
  expect(session.slice(Chain).all()).toEqual(Array.from({ length: 17 }, (_, index) => index));
  expect(session.faults()).toEqual([
    { code: 'dispatch-depth', eventType: 'count', eventIndex: 16, atMs: 5000, message: expect.stringContaining('16') },
  ]);
  session.dispatch(Count(100));
  expect(session.slice(Chain).latest()).toBe(116);
});

test('subscribers and reducers share the depth limit', () => {
  const session = createSession({ clock });
  let calls = 0;
  session.subscribe(Count, (event) => {
    calls += 1;
    session.dispatch(Count(event.data + 1));
  });
  session.dispatch(Count(0));
  expect(calls).toBe(17);
  expect(session.faults().map((fault) => fault.code)).toEqual(['dispatch-depth']);
});

test('one dispatch causes at most 1,000 events, however wide they fan out', () => {
  const session = createSession({ clock });
  session.subscribe(Count, () => {
    for (let index = 0; index < 10; index += 1) session.dispatch(Count(index));
  });
  session.dispatch(Count(0));
  expect(session.eventCount()).toBe(1001);
  session.dispatch(Count(0));
  expect(session.eventCount()).toBe(2002);
  expect(new Set(session.faults().map((fault) => fault.code))).toEqual(new Set(['dispatch-depth']));
});

test('a reducer that throws leaves its slice unchanged and is recorded; others still run', () => {
  const Bad = defineSlice<string>('bad')
    .on(Text, appendAll)
    .on(Text, () => {
      throw new Error('broken reducer');
    });
  const reported: [SessionFault, unknown][] = [];
  const session = createSession({ clock, slices: [Bad, Texts], onFault: (...fault) => reported.push(fault) });
  const seen: SessionEvent<unknown>[] = [];
  record(session, seen);
  session.dispatch(Text('a'));
  expect(session.slice(Bad).all()).toEqual(['a']);
  expect(session.slice(Texts).all()).toEqual(['a']);
  expect(seen).toHaveLength(1);
  const fault = {
    code: 'reducer-failed',
    message: 'broken reducer',
    eventType: 'text',
    eventIndex: 0,
    atMs: 5000,
    slice: 'bad',
  };
  expect(session.faults()).toEqual([fault]);
  expect(reported).toEqual([[fault, new Error('broken reducer')]]);
});

test('the result of a reducer is applied completely or not at all', () => {
  const Bad = defineSlice<string>('bad').on(Text, () => ({
    operation: append('half'),
    dispatch: [Count(1), Count(2, { atMs: Number.NaN })],
  }));
  const session = createSession({ clock, slices: [Bad] });
  session.dispatch(Text('a'));
  expect([session.slice(Bad).total(), session.eventCount(), session.faultCount()]).toEqual([0, 1, 1]);
});

test.each([undefined, null, 3, {}, { kind: 'explode' }, { kind: 'extend' }, { kind: 'replace' }, { operation: none }])(
  'a reducer of untyped code that returns %j is a fault and changes nothing',
  (returned) => {
    // @ts-expect-error what untyped code may return
    const Bad = defineSlice<string>('bad').on(Text, () => returned);
    const session = createSession({ clock, slices: [Bad] });
    session.dispatch(Text('a'));
    expect(session.slice(Bad).total()).toBe(0);
    expect(session.faults().map((fault) => [fault.code, fault.slice])).toEqual([['reducer-failed', 'bad']]);
  },
);

test('a subscriber that throws is recorded and the rest still run', () => {
  const session = createSession({ clock });
  const seen: string[] = [];
  session.subscribe(Text, () => {
    throw new Error('broken subscriber');
  });
  session.subscribe(Text, (event) => seen.push(event.data));
  session.dispatch(Text('a'));
  expect(seen).toEqual(['a']);
  expect(session.faults()).toEqual([
    { code: 'subscriber-failed', message: 'broken subscriber', eventType: 'text', eventIndex: 0, atMs: 5000 },
  ]);
});

test('a subscriber whose promise is rejected is recorded', async () => {
  const session = createSession({ clock });
  session.subscribe(Text, () => Promise.reject(new Error('late')));
  session.dispatch(Text('a'));
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  expect(session.faults().map((fault) => [fault.code, fault.message])).toEqual([['subscriber-failed', 'late']]);
});

test('thrown values without text, and messages of any length, are recorded', () => {
  const session = createSession({ clock });
  session.subscribe(Text, () => {
    // oxlint-disable-next-line typescript/only-throw-error -- users' code may throw anything
    throw Object.create(null);
  });
  session.subscribe(Text, () => {
    throw new Error('x'.repeat(10_000));
  });
  session.dispatch(Text('a'));
  expect(session.faults().map((fault) => fault.message.length)).toEqual([
    'a value without a text was thrown'.length,
    300,
  ]);
});

test('the last 100 faults are kept and all are counted', () => {
  const session = createSession({ clock });
  session.subscribe(Count, (event) => {
    throw new Error(String(event.data));
  });
  for (let index = 0; index < 250; index += 1) session.dispatch(Count(index));
  expect(session.faultCount()).toBe(250);
  expect(session.faults().map((fault) => fault.message)).toEqual(
    Array.from({ length: 100 }, (_, index) => String(index + 150)),
  );
});

test('onFault may throw and may dispatch, without an endless loop', () => {
  let reported = 0;
  const session: Session = createSession({
    clock,
    onFault: () => {
      reported += 1;
      session.dispatch(Text('again'));
      throw new Error('broken handler');
    },
  });
  session.subscribe(Text, () => {
    throw new Error('broken subscriber');
  });
  session.dispatch(Text('a'));
  expect(session.eventCount()).toBe(17);
  expect(reported).toBe(17);
  expect(
    session
      .faults()
      .slice(0, 2)
      .map((fault) => fault.code),
  ).toEqual(['subscriber-failed', 'fault-handler-failed']);
});

test('an ended subscription is never called again, not even for the event at hand', () => {
  const session = createSession({ clock });
  const seen: string[] = [];
  const ends: (() => void)[] = [];
  session.subscribe(Text, () => {
    for (const end of ends) end();
  });
  ends.push(session.subscribe(Text, () => seen.push('ended')));
  session.subscribe(Text, () => seen.push('stays'));
  session.dispatch(Text('a'));
  session.dispatch(Text('b'));
  expect(seen).toEqual(['stays', 'stays']);
});

test('one handler subscribed twice has two subscriptions that end one by one', () => {
  const session = createSession({ clock });
  const seen: string[] = [];
  const handler = (event: SessionEvent<string>): void => {
    seen.push(event.data);
  };
  const end = session.subscribe(Text, handler);
  session.subscribe(Text, handler);
  session.dispatch(Text('a'));
  end();
  end();
  session.dispatch(Text('b'));
  expect(seen).toEqual(['a', 'a', 'b']);
});

test('a subscription or registration during an event takes effect with the next one', () => {
  const session = createSession({ clock });
  const seen: string[] = [];
  const end = session.subscribe(Text, () => {
    end();
    session.register(Texts);
    session.subscribe(Text, (event) => seen.push(event.data));
  });
  session.dispatch(Text('a'));
  session.dispatch(Text('b'));
  expect(seen).toEqual(['b']);
  expect(session.slice(Texts).all()).toEqual(['b']);
});

test('a slice read first is registered empty and folds from then on', () => {
  const session = createSession({ clock });
  session.dispatch(Text('before'));
  const view = session.slice(Texts);
  expect([view.all(), view.total(), view.latest()]).toEqual([[], 0, undefined]);
  session.dispatch(Text('after'));
  expect(view.all()).toEqual(['after']);
  expect(session.slice(Texts)).toBe(view);
});

test('registering the same slice again does nothing', () => {
  const session = createSession({ clock, slices: [Texts, Texts] });
  session.register(Texts);
  session.dispatch(Text('a'));
  expect(session.slice(Texts).all()).toEqual(['a']);
});

test('a name belongs to one slice and one event type', () => {
  const session = createSession({ clock, slices: [Texts] });
  const conflict = expect.objectContaining({ code: 'invalid-definition' });
  const extended = Texts.on(Count, () => none);
  expect(() => session.slice(extended)).toThrowError(conflict);
  const otherText = defineEvent<string>('text');
  expect(() => session.subscribe(otherText, () => undefined)).toThrowError(conflict);
  const clashing = defineSlice<string>('clashing').on(otherText, appendAll);
  expect(() => {
    session.register(clashing);
  }).toThrowError(conflict);
  expect(Object.keys(session.snapshot().slices)).not.toContain('clashing');
  expect(() =>
    createSession({ clock, slices: [defineSlice<string>('s').on(Text, appendAll).on(otherText, appendAll)] }),
  ).toThrowError(conflict);
});

test('subscribers that throw at random never change state, and order is the same each time', () => {
  const Log = defineSlice<string>('log').on(Text, (_view, event) => ({
    operation: append(event.data),
    dispatch: event.data.length < 3 ? [Text(`${event.data}>`), Count(event.data.length)] : [],
  }));
  const Sum = defineSlice<number>('sum').on(Count, (view, event) => append((view.latest() ?? 0) + event.data));
  const run = (texts: readonly string[], throwing: readonly boolean[]): unknown => {
    const session = createSession({ clock, slices: [Log, Sum] });
    const order: string[] = [];
    let turn = 0;
    const observe = (event: SessionEvent<unknown>): void => {
      order.push(`${event.index} ${event.type} ${JSON.stringify(event.data)}`);
      turn += 1;
      if (throwing[turn % throwing.length] === true) throw new Error('random');
    };
    session.subscribe(Text, observe);
    session.subscribe(Count, observe);
    for (const text of texts) session.dispatch(Text(text));
    return { slices: session.snapshot().slices, count: session.eventCount(), order };
  };
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 3 }), { maxLength: 20 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }),
      (texts, throwing) => {
        expect(run(texts, throwing)).toEqual(run(texts, [false]));
      },
    ),
  );
});
