import { expect, test } from 'vitest';

import { FailedCallsFold } from '../core/facts/failed-calls.ts';
import type { LessonRun } from '../core/facts/lesson-book.ts';
import { judgeLessons } from './judge-lessons.ts';

/** Sessions of a project, each with one command and whether it fails. */
function sessions(project: string, ...calls: readonly (readonly [command: string, error?: string])[]): LessonRun[] {
  return calls.map(([command, error], index) => {
    const fold = new FailedCallsFold();
    const failed = error !== undefined;
    const spent = { activeMs: 0, callMs: 0, costUsd: 0, tokens: 0 };
    const payload = { kind: 'tool_ended', tool_call_id: 'c', tool_name: 'Bash', result: '', is_error: failed } as const;
    const call = {
      id: 'c',
      number: 1,
      tool: 'Bash',
      args: { command },
      seq: 0,
      startLost: false,
      resultMissing: false,
    };
    fold.fold(payload, { ...call, failed }, { cause: error, atMs: index + 1, ...spent });
    return {
      id: `${project}${index}`,
      project,
      source: '',
      startedAtMs: index + 1,
      failures: fold.failures,
      keys: fold.keys,
      instructions: [],
    };
  });
}

const BAD = ['rtk bun', "unrecognized subcommand 'bun'"] as const;
const GOOD = ['rtk bun'] as const;

test('each session is compared only with the sessions before it', () => {
  const report = judgeLessons([...sessions('a', BAD, BAD, BAD, BAD, GOOD, GOOD), ...sessions('b', BAD, GOOD)]);
  expect(report.projects).toEqual([
    { project: 'a', sessions: 6, failures: 4, checks: 0, warnings: 3, right: 2, sameCause: 2, met: 2 },
    { project: 'b', sessions: 2, failures: 1, checks: 0, warnings: 0, right: 0, sameCause: 0, met: 0 },
  ]);
  expect(report.all).toMatchObject({ precision: { hits: 2, of: 3 }, coverage: { saved: 2, of: 5 } });
  expect(report.withoutAny).toMatchObject({ hits: 1, of: 2 });
  expect(report.wrong).toMatchObject([{ project: 'a', runId: 'a4', number: 1 }]);
});

test('a warning about a call that failed for another reason is right, but not for the same cause', () => {
  const report = judgeLessons(sessions('a', BAD, BAD, ['rtk bun', 'disk full']));
  expect(report.projects).toMatchObject([{ warnings: 1, right: 1, sameCause: 1 }]);
  const other = judgeLessons(sessions('a', BAD, BAD, ['rtk bun && ls x', 'disk full']));
  expect(other.projects).toMatchObject([{ warnings: 1, right: 1, sameCause: 0 }]);
});
