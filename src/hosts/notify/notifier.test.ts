import { expect, test } from 'vitest';

import type { Notification, NotifyFailure } from './notification.ts';
import { Notifier, type PendingNotification } from './notifier.ts';

const MINUTE_MS = 60_000;

/** A notifier with one target that answers with these failures in turn, then takes everything. */
function notifierWith(failures: readonly (NotifyFailure | undefined)[] = []) {
  const clock = { ms: 0, nowMs: () => clock.ms };
  const sent: Notification[] = [];
  const slept: number[] = [];
  const failed: string[] = [];
  const notifier = new Notifier({
    clock,
    sleep: async (ms) => slept.push(ms),
    onFailure: (message) => failed.push(message),
    targets: [
      {
        name: 'the test',
        send: async (notification) => {
          sent.push(notification);
          return failures[sent.length - 1];
        },
      },
    ],
  });
  return { notifier, clock, sent, slept, failed };
}

const stuck = (run: string): Notification => ({ event: 'stuck', run, message: `Run ${run} is stuck.` });

test('the same event of a run is sent once in ten minutes', async () => {
  const { notifier, clock, sent } = notifierWith();
  expect(notifier.tell(stuck('a'))).toBe(true);
  clock.ms = 9 * MINUTE_MS;
  expect(notifier.tell(stuck('a'))).toBe(false);
  expect(notifier.tell(stuck('b'))).toBe(true);
  expect(notifier.tell({ ...stuck('a'), event: 'ended' })).toBe(true);
  clock.ms = 10 * MINUTE_MS;
  expect(notifier.tell(stuck('a'))).toBe(true);
  await notifier.finish();
  expect(sent.map(({ event, run }) => `${event} ${run}`)).toEqual(['stuck a', 'stuck b', 'ended a', 'stuck a']);
});

test('after thirty ends in an hour, one in ten minutes says how many were not sent', async () => {
  const { notifier, clock, sent } = notifierWith();
  const ended = (run: string): Notification => ({ event: 'ended', run, message: `Run ${run} ended.` });
  const results = Array.from({ length: 40 }, (_, index) => notifier.tell(ended(`r${index}`)));
  expect(results.filter(Boolean).length).toBe(31);
  clock.ms = 10 * MINUTE_MS;
  expect(notifier.tell(ended('r40'))).toBe(true);
  clock.ms = 60 * MINUTE_MS;
  expect(notifier.tell(ended('r41'))).toBe(true);
  await notifier.finish();
  expect(sent.slice(30).map(({ message }) => message)).toEqual([
    'Run r30 ended.\nOnly one in ten minutes follows; see coxswain',
    'Run r40 ended.\n9 more were not sent; see coxswain',
    'Run r41 ended.',
  ]);
});

test('ends take nothing from what waits for a person, and what a limit holds back is told when it may be', async () => {
  const { notifier, clock, sent } = notifierWith();
  for (let at = 0; at < 80; at += 1) notifier.tell({ event: 'ended', run: `e${at}`, message: 'ended' });
  for (let at = 0; at < 8; at += 1) notifier.tell({ event: 'ended', run: 'a', message: 'ended', atMs: at });
  const events = ['waiting', 'silent', 'failed', 'limit', 'deadline', 'budget'] as const;
  expect(events.map((event) => notifier.tell({ ...stuck('a'), event }))).toEqual(events.map(() => true));
  for (let at = 0; at < 26; at += 1) notifier.tell(stuck(`s${at}`));
  const failed: Notification = { event: 'failed', run: 'b', message: 'Run b failed.' };
  expect(notifier.tell(failed)).toBe(false);
  expect(notifier.tell(failed)).toBe(false);
  notifier.release();
  await notifier.finish();
  expect(sent.some(({ run }) => run === 'b')).toBe(false);
  clock.ms = 20 * MINUTE_MS;
  notifier.release();
  clock.ms = 60 * MINUTE_MS;
  notifier.release();
  await notifier.finish();
  expect(sent.filter(({ event }) => event !== 'ended').map(({ run }) => run)).toEqual([
    ...events.map(() => 'a'),
    ...Array.from({ length: 26 }, (_, at) => `s${at}`),
    'b',
  ]);
});

test('one run that is noisy leaves the others theirs', () => {
  const { notifier, clock } = notifierWith();
  const results = Array.from({ length: 6 }, (_, at) => {
    clock.ms = at * 10 * MINUTE_MS - at;
    return ['stuck', 'continued', 'failed'].map((event) => notifier.tell({ ...stuck('a'), event } as Notification));
  });
  expect(results.flat().filter(Boolean).length).toBeLessThanOrEqual(7);
  expect(notifier.tell(stuck('b'))).toBe(true);
});

test('what was not sent when a process ended is sent by the next one, which says what may have been sent before; and what happened before the last one was sent is not news', async () => {
  let [hold, waiting]: [() => void, readonly PendingNotification[]] = [() => {}, []];
  const held = new Promise<undefined>((resolve) => (hold = () => resolve(undefined)));
  const sent: string[] = [];
  const clock = { ms: 60 * MINUTE_MS, nowMs: () => clock.ms };
  const parts = { clock, sleep: async () => {}, onFailure: () => {} };
  const slow = { name: 'slow', send: async () => held };
  const before = new Notifier({ ...parts, targets: [slow], onSent: (_sent, pending) => (waiting = pending) });
  before.tell(stuck('a'));
  before.tell(stuck('b'));
  await new Promise(setImmediate);
  // The process is killed here: the first one is on its way.
  const left = waiting;
  hold();
  await before.finish();
  expect([left.map(({ run }) => run), waiting]).toEqual([['a', 'b'], []]);
  const quick = {
    name: 'quick',
    send: async ({ message, run }: Notification) =>
      void sent.push(message.includes('may have been sent before') ? `${run} again` : run),
  };
  const after = new Notifier({ ...parts, targets: [quick], pending: left, sent: [['stuck a', clock.ms]] });
  clock.ms += 30 * MINUTE_MS;
  expect(after.tell({ ...stuck('a'), atMs: 59 * MINUTE_MS })).toBe(false);
  expect(after.tell({ ...stuck('a'), atMs: 61 * MINUTE_MS })).toBe(true);
  await after.finish();
  expect(sent).toEqual(['a again', 'b', 'a']);
});

test('a failure that may pass is tried three times, any other once', async () => {
  const passing = { why: 'it answered 503', mayRetry: true };
  const first = notifierWith([passing, passing]);
  first.notifier.tell(stuck('a'));
  await first.notifier.finish();
  expect([first.sent.length, first.slept, first.failed]).toEqual([3, [1_000, 5_000], []]);
  const second = notifierWith([passing, passing, passing]);
  second.notifier.tell(stuck('a'));
  await second.notifier.finish();
  expect([second.sent.length, second.failed]).toEqual([3, ['the test was not notified (stuck): it answered 503']]);
  const third = notifierWith([{ why: 'it answered 404', mayRetry: false }]);
  third.notifier.tell(stuck('a'));
  await third.notifier.finish();
  expect([third.sent.length, third.failed.length]).toEqual([1, 1]);
});

test('secrets and control characters do not leave', async () => {
  const { notifier, sent } = notifierWith();
  const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  notifier.tell({ event: 'stuck', run: 'a', message: `with ${secret}\u001B[2J` });
  await notifier.finish();
  expect(sent[0]?.message).toMatch(/^with \[REDACTED:[^\]]+\]$/);
});
