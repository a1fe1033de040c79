import { expect, test } from 'vitest';

import { RunFactsFold } from '../../core/facts/run-facts-fold.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { verdictOf } from '../../core/facts/run-verdict.ts';
import { completedBy } from './recorded-session.ts';

const blank = new RunFactsFold('s1').facts(0);
const recorded: RunFacts = {
  ...blank,
  calls: 0,
  steered: true,
  verdict: verdictOf(undefined, [], { waitsFor: 'waiting for permission' }),
};
const asks = verdictOf(undefined, [], { waitsFor: 'waits for your answer: Which database?' });

test('a recorded session has the calls and the end of its file, and the advice of its records', () => {
  const file = { ...blank, source: '/home/s1.jsonl', calls: 1, verdict: asks };
  expect(completedBy(recorded, file)).toMatchObject({ source: '', calls: 1, verdict: asks, steered: true });
});

test('a file that is not written yet changes only the usage that no event reported', () => {
  const file = { ...blank, calls: 0, costUsd: 0.02, verdict: asks };
  const early = { ...recorded, calls: 1 };
  expect(completedBy(early, file)).toEqual({ ...early, costUsd: 0.02 });
  expect(completedBy({ ...early, costUsd: 0.01 }, file)).toMatchObject({ costUsd: 0.01 });
});

test('a file without an end leaves the end of the records', () => {
  const killed = { outcome: 'aborted', reason: 'killed' };
  const verdict = verdictOf(killed, [], { call: 'npm test', isRunning: true });
  const silent = verdictOf(undefined, [], { call: 'npm test', isRunning: true, silentMs: 60_000 });
  expect(completedBy({ ...recorded, ending: killed, verdict }, { ...blank, verdict: silent }).verdict).toEqual(verdict);
  const retries = verdictOf(undefined, [], { failedRequests: 1, requestError: 'Connection dropped', silentMs: 60_000 });
  const open = { ...recorded, verdict: silent };
  expect(completedBy(open, { ...blank, verdict: retries }).verdict).toEqual(retries);
  const waited = verdictOf(killed, [], { waitsFor: 'waiting for permission', call: 'npm test', isRunning: true });
  expect(
    completedBy({ ...recorded, ending: killed, verdict: waited }, { ...blank, ending: killed, verdict }).verdict,
  ).toEqual(waited);
  const failing = verdictOf(killed, [], { failedRequests: 3, requestError: 'Connection dropped' });
  const file = { ...blank, ending: killed, verdict: failing };
  expect(completedBy({ ...recorded, ending: killed, verdict }, file).verdict).toEqual(failing);
});
