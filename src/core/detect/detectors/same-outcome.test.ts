import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { sameOutcomeDetector } from './same-outcome.ts';

const PROMPTS = [
  'Please find out which team owns the billing service and how to reach it today',
  'Look up the owner of the billing service again and tell me how to reach them',
  'Who is responsible for the billing service, and what is the way to reach that team',
];
const REPORT =
  'Summary of the search\nThe directory has no entry for the service. Two pages mention it: one is an old plan from the platform group, the other is a list of services without owners. Neither names a person or a channel. The last change of both pages is more than a year old, so the group that is named there may not exist any more.';

const hand = (at: number, report = REPORT): ScriptedCall => ({
  tool: 'delegate',
  args: { prompt: PROMPTS[at % PROMPTS.length] ?? '' },
  result: report.replace('Two pages', `${at + 2} pages`),
});

test('a job handed over in other words with nearly the same report is flagged at the third time', () => {
  expect(
    firstFlag(
      sameOutcomeDetector(),
      times(4, (at) => hand(at)),
    ),
  ).toBe(2);
  const openings = ['Summary', 'Report', 'Result'];
  const retold = (at: number): ScriptedCall => ({
    ...hand(at, REPORT.replace('Summary', openings[at] ?? '')),
    args: { prompt: `${PROMPTS[0]}, ${PROMPTS[at]}` },
  });
  expect(firstFlag(sameOutcomeDetector(), times(3, retold))).toBe(2);
});

test('other reports, short ones, code, the calls of one turn, and a change in between are not flagged', () => {
  const other = (at: number): ScriptedCall => {
    const words = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => `${'vwxyzu'[at]}${letter.repeat(12)}`);
    return hand(at, words.join(' '));
  };
  expect(firstFlag(sameOutcomeDetector(), times(6, other))).toBeNull();
  expect(
    firstFlag(
      sameOutcomeDetector(),
      times(6, (at) => hand(at, 'The directory has no entry.')),
    ),
  ).toBeNull();
  // Agents that Claude Code starts one after the other.
  const receipt = (at: number): string =>
    `Async agent launched successfully.\nagentId: a${at}cc8ab821610b0e1 (internal ID - do not mention to user. Use to resume later if needed.)\nThe agent is working in the background. You will be notified automatically when it completes.\nDo not duplicate this agent's work. Work on other tasks, or end your response.\noutput_file: /tmp/claude-1000/p/tasks/a${at}cc8ab821610b0e1.output`;
  expect(
    firstFlag(
      sameOutcomeDetector(),
      times(6, (at) => hand(at, receipt(at))),
    ),
  ).toBeNull();
  const query = (at: number): ScriptedCall => ({
    ...hand(at),
    args: { sql: `select a from b where c = ${at} and d = 1 order by e limit 5` },
  });
  expect(firstFlag(sameOutcomeDetector(), times(6, query))).toBeNull();
  expect(
    firstFlag(
      sameOutcomeDetector(),
      times(6, (at) => ({ ...hand(at), turn: 1 })),
    ),
  ).toBeNull();
  const change = (at: number): ScriptedCall =>
    at % 2 === 0 ? hand(at) : { tool: 'write', args: { path: 'a', content: `${at}` }, result: 'ok' };
  expect(firstFlag(sameOutcomeDetector(), times(8, change))).toBeNull();
});
