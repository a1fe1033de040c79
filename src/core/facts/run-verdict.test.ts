import { errorWords } from './error-words.ts';
import { expect, test } from 'vitest';

import {
  laterVerdict,
  verdictOf,
  type LastAct,
  type LastChange,
  type LastCheck,
  type RunVerdict,
} from './run-verdict.ts';

const passed: LastCheck = { command: 'npm test', number: 4, failed: false };
const failed: LastCheck = { command: 'tsc', number: 3, failed: true };
const answered = { outcome: 'ended', reason: 'answered' };
const isAnswer = { isAnswer: true };

test('what the source says goes before everything else', () => {
  expect(verdictOf({ ...answered, success: false }, [passed]).verdict).toBe('failed');
  expect(verdictOf({ outcome: 'limit', success: true }, []).verdict).toBe('worked');
  const wrong = { outcome: 'ended', success: false, reason: 'the invoice was wrong' };
  expect(verdictOf(wrong, []).evidence).toBe('its source says that it failed: the invoice was wrong');
});

test('a time limit is a failure, and a program that aborted names no person', () => {
  const labels = { error: 'Request timed out.' };
  expect(verdictOf({ outcome: 'aborted', reason: 'timeout', labels }, [])).toMatchObject({
    verdict: 'failed',
    evidence: 'timed out: Request timed out.',
  });
  expect(verdictOf({ outcome: 'aborted' }, [], { call: 'npm test', isRunning: true }).evidence).toBe(
    'stopped with "npm test" unfinished',
  );
});

test('an error or a limit fails a run, with the reason; a person or a killed process does not', () => {
  const labels = { error: '529 Overloaded' };
  expect(verdictOf({ outcome: 'error', reason: 'overloaded', labels }, [passed])).toMatchObject({
    verdict: 'failed',
    evidence: 'model overloaded: Overloaded',
  });
  const running = { call: 'npm test', isRunning: true };
  const stopped = verdictOf({ outcome: 'aborted', reason: 'interrupted' }, [], running);
  expect(stopped).toMatchObject({ verdict: 'stopped', evidence: 'stopped by you with "npm test" unfinished' });
  expect(verdictOf({ outcome: 'aborted', reason: 'killed' }, [], { ...running, othersRunning: 2 }).evidence).toBe(
    'its process ended with "npm test" and 2 other calls unfinished',
  );
  expect(verdictOf({ outcome: 'aborted' }, []).verdict).toBe('stopped');
  const killed = verdictOf({ outcome: 'aborted', reason: 'killed' }, [], running);
  expect(killed).toMatchObject({ verdict: 'cut_off', evidence: 'its process ended with "npm test" unfinished' });
  expect(verdictOf({ outcome: 'aborted', reason: 'killed' }, [], { isAnswer: true }).verdict).toBe('answered');
});

test('a check that failed for its machine says so in the sentence of its run', () => {
  expect(verdictOf(answered, [{ ...failed, lacks: 'database' }], isAnswer)).toMatchObject({
    evidence: 'it answered; a check (call 3, tsc) failed and did not pass later (it could not reach its database)',
    why: 'it could not reach its database; tsc failed',
  });
  expect(verdictOf(answered, [{ ...failed, error: 'a.ts(1,2): error TS1' }], isAnswer).why).toBe(
    'a.ts(1,2): error TS1; tsc failed',
  );
});

test('an answer alone does not say that a run worked', () => {
  expect(verdictOf(answered, []).evidence).toBe(
    'it answered, but its words are not on record; no check that coxswain recognises',
  );
  expect(verdictOf(answered, [], isAnswer).evidence).toBe('it answered; no check that coxswain recognises');
  expect(verdictOf(answered, [passed]).verdict).toBe('worked');
  expect(verdictOf(answered, [failed, { ...failed, number: 2 }]).evidence).toContain('later, and so did 1 more');
  // The failed check need not be the last check of the run.
  expect(verdictOf(answered, [failed, passed], isAnswer)).toMatchObject({
    verdict: 'answered',
    evidence: 'it answered; a check (call 3, tsc) failed and did not pass later',
  });
  expect(verdictOf({ outcome: 'ended' }, [passed]).verdict).toBe('answered');
  expect(verdictOf(undefined, [passed]).verdict).toBe('unknown');
  expect(verdictOf(undefined, [passed], { isAnswer: true }).verdict).toBe('worked');
});

test('a plan that was refused last is no work that was cut off, since another session may carry it out', () => {
  const last = { isPlan: true, plan: 'Faster start', call: 'ExitPlanMode', isRefused: true };
  const evidence = 'it presented a plan, which was not approved in this session: Faster start';
  const silent = verdictOf(undefined, [], { ...last, silentMs: 8 * 3_600_000 });
  const killed = verdictOf({ outcome: 'aborted', reason: 'killed' }, [], last);
  for (const verdict of [silent, killed])
    expect(verdict).toMatchObject({ verdict: 'answered', evidence, cause: 'plan' });
});

test('a refusal before the last message of the user needs nothing of its person', () => {
  const after = (call: string) => verdictOf(undefined, [], { isAnswer: true, calls: 1, refused: 1, call });
  expect(after('rm -rf build').isRefused).toBe(true);
  expect(after('')).toMatchObject({ evidence: expect.stringContaining('its only call was refused') });
  expect(after('').isRefused).toBeUndefined();
});

test('a run without an end that has no record for six hours was cut off, unless it waits for its user', () => {
  const after = (hours: number, more: LastAct = {}): readonly string[] => {
    const { evidence, verdict } = verdictOf(undefined, [passed], { silentMs: hours * 3_600_000, ...more });
    return [verdict, evidence];
  };
  expect(after(5)).toEqual(['open', 'no answer yet, no record for 5.0 hours']);
  expect(after(5, { call: 'npm test', isRunning: true })).toEqual([
    'open',
    '"npm test" has no result yet, no record for 5.0 hours',
  ]);
  const silentMs = 8 * 3_600_000;
  const alive = verdictOf(undefined, [], { silentMs, call: 'npm test', isAlive: true, isRunning: true });
  expect(alive).toMatchObject({ verdict: 'open', evidence: '"npm test" has no result yet, no record for 8.0 hours' });
  expect(after(8)).toEqual(['cut_off', 'cut off before it answered; no record for 8.0 hours']);
  const killed = verdictOf({ outcome: 'aborted', reason: 'killed' }, []);
  expect(killed).toMatchObject({ verdict: 'cut_off', evidence: 'its process ended before it answered' });
  expect(after(24 * 90, { call: 'npm test' })).toEqual(['cut_off', 'cut off, after "npm test"; no record for 90 days']);
  expect(after(8, { call: 'npm test', failedCall: 4 })[1]).toBe(
    'cut off, after the failed "npm test"; no record for 8.0 hours',
  );
  expect(after(8, { call: 'rm -rf build', isRefused: true })[1]).toBe(
    'cut off, after "rm -rf build" was refused; no record for 8.0 hours',
  );
  expect(after(8, { waitsFor: 'waiting for permission' })).toEqual(['waiting', 'waiting for permission']);
  const killedAt = (waitsFor: string) =>
    verdictOf({ outcome: 'aborted', reason: 'killed' }, [], { waitsFor, call: 'npm test', isRunning: true });
  expect(killedAt('waits for your answer: Which port?')).toMatchObject({
    verdict: 'cut_off',
    evidence: 'its process ended while it waited for your answer: Which port?',
  });
  expect(killedAt('waiting for permission to use Bash').evidence).toBe(
    'its process ended while it waited for permission to use Bash: npm test',
  );
  expect(killedAt('waits for your decision on its plan')).toMatchObject({ verdict: 'answered', cause: 'plan' });
  expect(verdictOf(undefined, []).evidence).toBe('nothing says how it ended');
});

test('what the evidence says besides the verdict, and its cause, need no reading of the sentence', () => {
  const silentMs = 8 * 3_600_000;
  const running = { call: 'npm test', isRunning: true };
  expect(verdictOf(undefined, [], { ...running, silentMs })).toMatchObject({
    why: 'while npm test ran',
    cause: 'running',
  });
  expect(verdictOf(undefined, [], { failedRequests: 3, requestError: '529', silentMs })).toMatchObject({
    why: 'after 3 failed requests (529)',
    cause: 'requests',
  });
  expect(verdictOf(undefined, [], { call: 'npm test', silentMs })).toMatchObject({ cause: 'silent' });
  const refusal: LastAct = { call: 'npm test', silentMs, isRefused: true };
  expect(verdictOf(undefined, [], refusal)).toMatchObject({
    why: 'after a refused call: npm test',
    cause: 'call_refused',
  });
  expect(verdictOf(undefined, [], { ...refusal, refusedBy: 'you' })).toMatchObject({
    why: 'after you refused: npm test',
  });
  const lost: LastAct = { call: 'rm -rf a', calls: 1, errors: 1, isAnswer: true, callError: 'a: Permission denied' };
  expect(verdictOf(undefined, [], lost)).toMatchObject({ why: 'no call succeeded: rm -rf a: a: Permission denied' });
  // Some failed and one was refused.
  expect(verdictOf(undefined, [], { ...lost, calls: 3, errors: 2, refused: 1 }).why).toMatch(/^no call succeeded: /);
  expect(verdictOf({ outcome: 'error', reason: 'invalid_request' }, [])).toMatchObject({
    why: 'request rejected, no reason on record',
  });
  const labels = { error: 'resets 5am' };
  expect(verdictOf({ outcome: 'error', reason: 'rate_limit', labels }, [])).toMatchObject({
    why: 'rate limit: resets 5am',
    cause: 'rate_limit',
  });
  expect(verdictOf({ outcome: 'limit' }, [])).toMatchObject({
    why: 'stopped by a limit not named on record',
    cause: 'limit',
  });
  expect(verdictOf({ outcome: 'aborted', reason: 'killed' }, [], running)).toMatchObject({
    why: 'while npm test ran',
    cause: 'killed',
  });
  expect(verdictOf({ outcome: 'ended', success: false }, [])).toMatchObject({ cause: 'source' });
  const waits = (waitsFor: string, more: LastAct = {}) => verdictOf(undefined, [], { waitsFor, ...more });
  expect(waits('waits for your answer: Which port?')).toMatchObject({ why: 'Which port?', cause: 'question' });
  expect(waits('waits for your answer')).toMatchObject({ why: 'for your answer', cause: 'question' });
  expect(waits('waits for your decision on its plan')).toMatchObject({
    why: 'for your decision on its plan',
    cause: 'plan',
  });
  expect(waits('waiting for permission to use Bash', running)).toMatchObject({
    why: 'to use Bash: npm test',
    cause: 'permission',
  });
  expect(verdictOf(answered, [failed], isAnswer)).toMatchObject({ why: 'tsc failed', answer: 'shown' });
  expect(verdictOf(answered, [], isAnswer)).not.toHaveProperty('why');
  expect(verdictOf(answered, [])).toMatchObject({ why: 'its words are not on record', answer: 'hidden' });
  expect(verdictOf({ outcome: 'ended' }, [])).toMatchObject({ why: 'finished without a last message', answer: 'none' });
  const escaped = { outcome: 'aborted', reason: 'interrupted' };
  expect(verdictOf(escaped, [], { isPlan: true, plan: 'Move it' })).toMatchObject({
    why: 'not approved: Move it',
    cause: 'plan',
  });
  expect(verdictOf(escaped, [], { call: 'git push', isRefused: true })).toMatchObject({
    why: 'refused: git push',
    isRefused: true,
  });
  expect(verdictOf(escaped, [], { call: 'git push', isPlan: true, isRefused: true })).not.toHaveProperty('isRefused');
});

test('a limit that is past its reset does not say that it resets, also in a kept verdict', () => {
  const hourMs = 3_600_000;
  const after = (error: string, hours: number): RunVerdict =>
    verdictOf({ outcome: 'error', reason: 'rate_limit', labels: { error } }, [], { silentMs: hours * hourMs });
  expect(after('resets 5pm (Africa/Nairobi)', 3).why).toBe('rate limit: resets 5pm (Africa/Nairobi)');
  expect(after('resets 5pm (Africa/Nairobi)', 30).why).toBe('rate limit: it has reset since');
  const weekly = after('resets Jan 18, 8pm (Asia/Shanghai)', 30);
  expect(weekly.why).toBe('rate limit: resets Jan 18, 8pm (Asia/Shanghai)');
  expect(laterVerdict(weekly, 200 * hourMs)?.evidence).toBe('rate limit: it has reset since');
  expect(laterVerdict(weekly, 100 * hourMs)).toBe(weekly);
});

test('an answer after which most calls were refused says so', () => {
  const after = (calls: number, refused: number): string =>
    verdictOf(answered, [], { ...isAnswer, calls, refused }).evidence;
  expect(after(6, 4)).toBe('it answered; no check that coxswain recognises; 4 of its 6 calls were refused');
  expect(after(20, 4)).toBe('it answered; no check that coxswain recognises');
  expect(after(1, 1)).toBe('it answered; no check that coxswain recognises; its only call was refused');
  const half = { ...isAnswer, calls: 2, refused: 1, call: 'ls' };
  expect(verdictOf(answered, [], half).isRefused).toBeUndefined();
  expect(verdictOf(answered, [], { ...half, isRefused: true }).isRefused).toBe(true);
  const evidenceAfter = (calls: number, errors: number) =>
    verdictOf(undefined, [], { isAnswer: true, calls, errors }).evidence;
  expect(evidenceAfter(8, 8)).toBe('it answered; no check that coxswain recognises; 8 of its 8 calls failed');
  expect(evidenceAfter(8, 3)).toBe('it answered; no check that coxswain recognises');
});

test('a check that ran nothing does not say that a run worked', () => {
  const empty: LastCheck = { command: 'npx vitest', number: 5, failed: false, ranNothing: true };
  expect(verdictOf(answered, [empty], isAnswer)).toMatchObject({
    verdict: 'answered',
    evidence: 'it answered; its check (call 5, npx vitest) ran nothing',
  });
  expect(verdictOf(answered, [passed, empty], isAnswer).evidence).toBe(
    'it answered, and its last check (call 4, npm test) passed; a later check (call 5, npx vitest) ran nothing',
  );
});

test('a check of the syntax alone does not say that a run worked, and a failed one says that it did not', () => {
  const syntax: LastCheck = { command: 'bash -n a.sh', number: 6, failed: false, isSyntax: true };
  const evidence = 'it answered; only a check of the syntax passed (call 6, bash -n a.sh)';
  expect(verdictOf(answered, [syntax], isAnswer)).toMatchObject({ verdict: 'answered', evidence });
  expect(verdictOf(answered, [{ ...syntax, failed: true }], isAnswer)).toMatchObject({ cause: 'check' });
  const changed = { ...isAnswer, changes: [{ file: 'a.sh', number: 5 }] };
  expect(verdictOf(answered, [passed, syntax], changed)).toMatchObject({
    verdict: 'answered',
    evidence: 'it answered; its last check (call 4, npm test) passed before its last change (call 5, a.sh)',
  });
});

test('work that changed after its last check does not say that it worked', () => {
  const after = (...changes: readonly LastChange[]): RunVerdict =>
    verdictOf(answered, [passed], { ...isAnswer, changes });
  expect(after({ file: 'src/a.ts', number: 4 }).verdict).toBe('worked');
  expect(after({ file: 'web/src/a.ts', number: 6 })).toMatchObject({
    verdict: 'answered',
    evidence: 'it answered; its last check (call 4, npm test) passed before its last change (call 6, …/src/a.ts)',
  });
  // A text beside the checked work is part of it, a text of a later task is not.
  expect(after({ file: 'README.md', number: 6, taskFrom: 1 }).verdict).toBe('worked');
  expect(after({ file: 'README.md', number: 6, taskFrom: 5 }).verdict).toBe('answered');
  const both = after({ file: 'src/a.ts', number: 6 }, { file: 'README.md', number: 8, taskFrom: 7 });
  expect(both.evidence).toContain('before its last change (call 8, README.md)');
  const command = `go build -o /tmp/entire ${'github.com/a/b/cmd/... '.repeat(4)}`;
  expect(verdictOf(answered, [{ ...passed, command }]).evidence).toContain('…) passed');
  // A check of this text saw it before it changed.
  const formatted: LastCheck = { command: 'npx prettier --check docs/a.mdx', number: 5, failed: false };
  const changes = [{ file: '/p/docs/a.mdx', number: 6, taskFrom: 1 }];
  expect(verdictOf(answered, [formatted], { changes }).verdict).toBe('answered');
});

test('a check that was refused is no check, and one after the last check is named', () => {
  const refused: LastCheck = { command: 'npm run e2e', number: 6, failed: false, isRefused: true };
  expect(verdictOf(answered, [refused], isAnswer)).toMatchObject({
    verdict: 'answered',
    evidence: 'it answered; its check (call 6, npm run e2e) was refused or stopped',
  });
  expect(verdictOf(answered, [passed, refused], isAnswer).evidence).toBe(
    'it answered, and its last check (call 4, npm test) passed; a later check (call 6, npm run e2e) was refused or stopped',
  );
});

test('a removed file that was made after the last check changes nothing that the check read', () => {
  const removed = { file: 'x.bin', number: 9 };
  expect(verdictOf(answered, [passed], { ...isAnswer, changes: [{ ...removed, from: 6 }] }).verdict).toBe('worked');
  expect(verdictOf(answered, [passed], { ...isAnswer, changes: [{ ...removed, from: 2 }] }).verdict).toBe('answered');
});

test('a run whose last call failed after its last check has not worked', () => {
  const push = { ...isAnswer, call: 'git push origin main', failedCall: 9 };
  expect(verdictOf(answered, [passed], push)).toMatchObject({
    verdict: 'answered',
    evidence: 'it answered; its last call (call 9, git push origin main) failed after its last check had passed',
  });
  expect(verdictOf(answered, [passed], { ...push, failedCall: 3 }).verdict).toBe('worked');
});

test.each([
  ["You've hit your limit · resets 8pm (Europe/Warsaw)", 'resets 8pm (Europe/Warsaw)'],
  ['Session limit reached ∙ resets 11pm', 'resets 11pm'],
  ['402 "You have no credits."', 'You have no credits.'],
  [String.raw`"400 400 Bad Request\n"`, 'Bad Request'],
  [
    'API Error: Request rejected (429) · error: code=429 message="daily limit exceeded" metadata=map[]',
    'daily limit exceeded',
  ],
  ['API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'Overloaded'],
  [
    String.raw`[API Error: {"error":{"message":"{\n \"error\": {\n \"code\": 429, \"message\": \"Quota exceeded\" } }"}}]`,
    'Quota exceeded',
  ],
  ['Codex error: Your input exceeds the context window.', 'Your input exceeds the context window.'],
  ['Request timed out.', 'Request timed out.'],
  ['the message is too long', 'the message is too long'],
])('of the error %j people read the words', (error, words) => {
  expect(errorWords(error)).toBe(words);
});

test('a session in which nothing was asked is over, not cut off', () => {
  const silent = { isIdle: true, silentMs: 7 * 3_600_000 };
  expect(verdictOf(undefined, [], silent)).toMatchObject({ verdict: 'stopped', evidence: 'nothing was asked' });
  expect(verdictOf({ outcome: 'ended' }, [], silent)).toMatchObject({ evidence: 'nothing was asked' });
  expect(verdictOf({ outcome: 'error', reason: 'auth_failed' }, [], silent).verdict).toBe('failed');
  expect(verdictOf(undefined, [], { ...silent, silentMs: 60_000 }).verdict).toBe('open');
});
