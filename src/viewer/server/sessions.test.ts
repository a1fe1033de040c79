import { expect, test } from 'vitest';

import { createFakeClock } from '../../testing/fake-clock.ts';
import { Sessions } from './sessions.ts';

test('a one-time address is valid for a minute', () => {
  const clock = createFakeClock();
  const sessions = new Sessions(() => clock.nowMs());
  const [soon, late] = [sessions.issueOnce(), sessions.issueOnce()];
  clock.advance(59);
  expect(sessions.isOpen(sessions.openSession(soon))).toBe(true);
  clock.advance(2);
  expect(sessions.openSession(late)).toBe(undefined);
});

test('neither a token nor undefined is a session', () => {
  const sessions = new Sessions(() => 0);
  expect([sessions.isOpen(sessions.token), sessions.isOpen(''), sessions.isOpen(undefined)]).toEqual([
    false,
    false,
    false,
  ]);
  expect(sessions.isOpen(sessions.openSession(sessions.token))).toBe(true);
});
