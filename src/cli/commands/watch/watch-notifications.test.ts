import { expect, test } from 'vitest';

import { WatchNotifications } from './watch-notifications.ts';
import type { WatchedEvent } from './watched-item.ts';

const START_MS = Date.UTC(2026, 0, 1);
const at = (run: string, minute: number) => ({ run, label: run, atMs: START_MS + minute * 60_000 });
const begun = (run: string, parentRun?: string): WatchedEvent => ({
  type: 'run_started',
  ...at(run, 0),
  format: 'coxswain',
  ...(parentRun === undefined ? {} : { parentRun }),
});
const ended = (run: string, minute: number, outcome: string, success?: boolean): WatchedEvent => ({
  type: 'run_ended',
  ...at(run, minute),
  outcome,
  ...(success === undefined ? {} : { success }),
});
const called = (run: string, minute: number): WatchedEvent => ({
  type: 'call',
  ...at(run, minute),
  index: 0,
  tool: 'bash',
  call: 'bash make',
  failed: false,
});

function eventsOf(events: readonly WatchedEvent[], minutes?: number): readonly string[] {
  const notices = new WatchNotifications(minutes === undefined ? undefined : { minutes });
  return events.flatMap((event) => notices.take(event)).map(({ event }) => event);
}

test('a run that was broken off or had no success failed, any other one ended', () => {
  expect(eventsOf([begun('a'), ended('a', 1, 'ended')])).toEqual(['ended']);
  expect(eventsOf([begun('a'), ended('a', 1, 'ended', false)])).toEqual(['failed']);
  expect(eventsOf([begun('a'), ended('a', 1, 'error')])).toEqual(['failed']);
  expect(eventsOf([begun('a'), ended('a', 1, 'limit', true)])).toEqual(['ended']);
});

test('the end of a subagent is no news', () => {
  expect(eventsOf([begun('a'), begun('a/b', 'a'), ended('a/b', 1, 'error')])).toEqual([]);
});

test('a run over its deadline is news once', () => {
  expect(eventsOf([begun('a'), called('a', 4), called('a', 5), called('a', 9)], 5)).toEqual(['deadline']);
});
