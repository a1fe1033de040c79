import { expect, test } from 'vitest';

import { CheckLedger } from './run-view.ts';

/** Folds commands, of which those with a text failed with it, and returns the checks that failed at the end. */
function failedAfter(...calls: readonly (readonly [command: string, failure?: string])[]): readonly string[] {
  const ledger = new CheckLedger();
  for (const [index, [command, failure]] of calls.entries()) {
    const call = { id: `c${index}`, number: index + 1, tool: 'Bash', args: { command }, seq: index, startLost: false };
    ledger.fold({ ...call, failed: failure !== undefined, resultMissing: false }, failure ?? 'ok', undefined);
  }
  return ledger.checks.filter(({ failed }) => failed).map(({ command }) => command);
}

test('a wrong command that a right one of the same purpose replaced is no failed check', () => {
  const wrong = ['rtk bun run test', "error: unrecognized subcommand 'bun'"] as const;
  expect(failedAfter(wrong)).toEqual(['rtk bun run test']);
  expect(failedAfter(wrong, ['bun run lint'])).toEqual(['rtk bun run test']);
  expect(failedAfter(wrong, ['bun run test'])).toEqual([]);
});

test('a check of a part does not make up for a failed check of the whole project', () => {
  expect(failedAfter(['npm test', '2 failed'], ['npx vitest run a.test.ts'])).toEqual(['npm test']);
  expect(failedAfter(['go test ./...', 'FAIL'], ['go test ./a -run X'])).toEqual(['go test ./...']);
  expect(failedAfter(['npx vitest run a.test.ts', '1 failed'], ['npm test'])).toEqual([]);
  expect(failedAfter(['go test -tags=integration ./it', 'FAIL'], ['mise run test'])).toEqual([
    'go test -tags=integration ./it',
  ]);
  expect(failedAfter(['mise run lint', '2 issues'], ['mise run ci'])).toEqual([]);
});

test('a commit whose hooks failed counts until it succeeds', () => {
  const failed = ['git commit -m x', '$ tsc\nhusky - pre-commit script failed (code 2)'] as const;
  expect(failedAfter(failed, ['git commit --amend --no-edit'])).toEqual([]);
  expect(failedAfter(failed, ['git commit --no-verify -m x'])).toEqual(['the hooks of git commit']);
  expect(failedAfter(failed)).toEqual(['the hooks of git commit']);
  expect(failedAfter(['git commit -m x', '$ npm test\n2 failed'])).toEqual(['the hooks of git commit']);
  expect(failedAfter(['git commit -m x', '$ npm test\nno changes added to commit'])).toEqual([]);
});

test('of a chain of checks only the one whose script the result names failed', () => {
  const chain = 'bun run test && bun run lint';
  expect(failedAfter([chain, '1318 pass\n0 fail\nerror: script "lint" exited with code 1'])).toEqual(['bun run lint']);
  expect(failedAfter(['npm test && npm run lint', 'npm error Lifecycle script `lint` failed'])).toEqual([
    'npm run lint',
  ]);
  expect(failedAfter(['bun run test', '2 failed'], [chain, 'error: script "lint" exited with code 1'])).toEqual([
    'bun run lint',
  ]);
  expect(failedAfter([chain, 'something else'])).toEqual(['bun run test', 'bun run lint']);
});
