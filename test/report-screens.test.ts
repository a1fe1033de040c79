import { expect, test } from 'vitest';

import { NightReport } from '../src/cli/commands/report/night-report.ts';
import { needsDocument, reportDocument } from '../src/cli/commands/report/report-document.ts';
import { screenDocument, shortProject } from '../src/cli/commands/report/screen-document.ts';
import { htmlPage, markdownText, terminalText } from '../src/cli/document/write-document.ts';
import { RunFactsFold } from '../src/core/facts/run-facts-fold.ts';
import type { RunFacts } from '../src/core/facts/run-facts.ts';
import { verdictOf, type RunVerdict } from '../src/core/facts/run-verdict.ts';

const UNTIL_MS = Date.UTC(2026, 10, 28, 7);
const HOUR_MS = 3_600_000;
const FRAME = { from: 'a night', sinceMs: UNTIL_MS - 12 * HOUR_MS, untilMs: UNTIL_MS };

const PROJECTS = ['/home/ann/shop', '/home/ann/api', '/home/ann/site-of-the-conference', '/home/bob/api'];
const TASKS = [
  'Fix the login form of the shop',
  '<system-reminder>Today</system-reminder>\nAdd a health endpoint to the service and its tests',
  'Implement the following plan:\n\n# Plan: Move the invoices to the new table\n\n## Context',
  'Why does the build of the page take nine minutes on the runner, and what can be left out?',
  '<command-name>/review</command-name><command-args>the last three commits</command-args>',
];
const answered = (command = '', number = 0, failed = false): RunVerdict =>
  verdictOf(undefined, command === '' ? [] : [{ command, number, failed }], { isAnswer: true });
const CUT_OFF = verdictOf(undefined, [], { call: 'npm run build', isRunning: true, silentMs: 7 * HOUR_MS });
const RATE_LIMIT = verdictOf(
  { outcome: 'error', reason: 'rate_limit', labels: { error: 'You have hit your limit · resets 5am (Europe/Paris)' } },
  [],
);
const NO_CHECK = answered();
const ENDS: readonly RunVerdict[] = [
  answered('npm test', 12),
  answered('mise run ci', 40),
  NO_CHECK,
  answered('npm test', 9),
  CUT_OFF,
  answered('npm run lint', 31, true),
  answered('npm test', 12),
  verdictOf(undefined, [], { waitsFor: 'waits for your answer: Which of the two tables holds the open invoices?' }),
  RATE_LIMIT,
  verdictOf({ outcome: 'aborted', reason: 'interrupted' }, [], { call: 'npm run dev', isRunning: true }),
  answered('npm test', 7),
  verdictOf(undefined, [], { call: 'npm test', isRunning: true, silentMs: HOUR_MS / 5 }),
];

function factsOf(index: number): RunFacts {
  const verdict = ENDS[index % ENDS.length] ?? NO_CHECK;
  const worked = verdict.verdict === 'worked';
  const failed = verdict.evidence.includes('failed and');
  const isCommitted = worked && index % 2 === 0;
  return {
    ...new RunFactsFold(`run-${index}`).facts(UNTIL_MS),
    task: `${TASKS[index % TASKS.length]}`,
    project: PROJECTS[index % PROJECTS.length] ?? '',
    format: 'claude-code',
    startedAtMs: UNTIL_MS - 11 * HOUR_MS + index * 60_000,
    lastAtMs: UNTIL_MS - 10 * HOUR_MS + index * 60_000,
    activeMs: 20 * 60_000,
    calls: 40,
    verdict,
    checks: worked || failed ? [{ command: failed ? 'npm run lint' : 'npm test', number: 12, failed }] : [],
    filesChanged: [`${PROJECTS[index % PROJECTS.length]}/src/a.ts`, 'src/a.ts', 'src/b.ts'],
    commits: isCommitted ? 1 : 0,
    uncommitted: isCommitted ? 0 : 2,
    ...(isCommitted ? { branch: 'fix/login', commitsOn: { 'fix/login': 1 } } : {}),
    ...(index % 9 === 0 ? { pullRequests: ['https://github.com/ann/shop/pull/12'] } : {}),
    ...(index % 7 === 0 ? { tokens: 1_000 } : { tokens: 90_000, costUsd: 0.41 }),
  };
}

function reportOf(count: number): NightReport {
  const report = new NightReport(({ runId }) => `coxswain view --run ${runId}`);
  for (let index = 0; index < count; index += 1) report.add(factsOf(index));
  return report;
}

const paint = (_style: unknown, text: string): string => text;

test.each([1, 10, 60, 600].flatMap((count) => [80, 120].map((width) => [count, width] as const)))(
  'the first screen of %i sessions fits 23 lines of %i columns, and says what it leaves out',
  async (count, width) => {
    const text = terminalText(screenDocument(reportOf(count), FRAME, width), { paint, width });
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(23);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    // The times are those of this machine's zone.
    const withoutTimes = text.replaceAll(/\d\d:\d\d(?= +\d+$)/gm, 'hh:mm');
    await expect(withoutTimes).toMatchFileSnapshot(`report-screens/${count}-sessions-${width}-columns.txt`);
  },
);

test('an empty night is one sentence', () => {
  expect(terminalText(screenDocument(reportOf(0), FRAME, 80), { paint, width: 80 })).toBe(
    'No session in the last 12 hours.\n',
  );
});

test('Markdown, HTML and JSON have the blocks of the screen, with every session', () => {
  const report = reportOf(60);
  const document = reportDocument(report, FRAME, 1_000);
  for (const text of [markdownText(document), htmlPage(document)])
    for (const title of [
      'Waits for you: 5',
      'Failed or cut off: 10',
      'Answered, but a check failed: 5',
      'Answered, not checked at its end: 5',
      'Worked: 25',
      'Projects',
    ])
      expect(text).toContain(title);
  expect(report.toJson(FRAME)).toMatchObject({
    sections: expect.arrayContaining([
      {
        name: 'waiting',
        items: expect.arrayContaining([expect.objectContaining({ number: 1, verb: 'answer', project: 'bob/api' })]),
      },
    ]),
    projectBlocks: expect.arrayContaining([expect.objectContaining({ project: 'shop', sessions: 15 })]),
  });
});

test('a plan that was not approved names the session in which it went on', () => {
  const report = new NightReport(() => '');
  const plan = 'Move the invoices to the new table';
  const verdict = verdictOf({ outcome: 'aborted' }, [], { isPlan: true, plan });
  report.add({ ...factsOf(0), id: 'planned', plan, verdict });
  report.add({ ...factsOf(12), id: 'done', task: `Implement the following plan:\n\n# Plan: ${plan}` });
  const text = terminalText(screenDocument(report, FRAME, 120), { paint, width: 120 });
  expect(text).toContain('its plan went on in 2');
  const alone = new NightReport(() => '');
  alone.add({ ...factsOf(0), id: 'planned', task: 'Fix the login', plan, verdict });
  expect(terminalText(screenDocument(alone, FRAME, 120), { paint, width: 120 })).toMatch(
    /planned .*Fix the login: not approved: Move the invoices to the new table/,
  );
});

test('a session at work that nearly fills its context or runs away has a line with the reason', () => {
  const report = new NightReport(() => '');
  const atWork = { ...factsOf(11), activeMs: 1, lastAtMs: UNTIL_MS };
  report.add({
    ...atWork,
    id: 'full',
    task: 'Read it all',
    context: { tokens: 164_000, window: 200_000, share: 0.82 },
  });
  report.add({ ...atWork, id: 'calm', task: 'Read a page', context: { tokens: 64_000, window: 200_000, share: 0.32 } });
  report.add({ ...atWork, id: 'busy', task: 'Ask everyone' });
  for (let index = 0; index < 20; index += 1)
    report.add({
      ...factsOf(0),
      id: `child-${index}`,
      parentId: index < 10 ? 'busy' : 'child-3',
      startedAtMs: UNTIL_MS - index * 1_000,
      lastAtMs: UNTIL_MS,
      recent: [{ atMs: UNTIL_MS, costUsd: 1, children: 0 }],
    });
  const text = terminalText(screenDocument(report, FRAME, 120), { paint, width: 120 });
  expect(text).toMatch(/\nAt work: 3 \(2 run away or nearly fill their context\)\n/);
  expect(text).toMatch(/at work .*Read it all: filled 82 % of its model's context: 164,000 of 200,000 tokens/);
  expect(text).toMatch(/at work .*Ask everyone: spent \$20\.00 and started 20 subagents in 10 minutes/);
  // Where room is left, the others have a line with what they do.
  expect(text).toMatch(/at work .*Read a page: "npm test" has no result yet, no record for 12 minutes/);
  const all = terminalText(reportDocument(report, FRAME, 10), { paint, width: 120 });
  expect(all).toContain('\n  "npm test" has no result yet, no record for 12 minutes\n');
});

test('a command, a tool or a question about a plan is not a plan that waits', () => {
  const verbOf = (verdict: RunVerdict, failed: boolean): string | undefined => {
    const report = new NightReport(() => '');
    const checks = [{ command: 'npm run plan', number: 3, failed }];
    report.add({ ...factsOf(0), checks: failed ? checks : [], verdict });
    return report.sections[0]?.items[0]?.verb;
  };
  const waiting = (waitsFor: string): RunVerdict => verdictOf(undefined, [], { waitsFor });
  expect(verbOf(answered('npm run plan', 3, true), true)).toBe('check');
  expect(verbOf(waiting('waiting for permission to use update_plan'), false)).toBe('allow');
  expect(verbOf(waiting('waits for your answer: Which plan?'), false)).toBe('answer');
  expect(verbOf(waiting('waits for your decision on its plan'), false)).toBe('decide');
});

test('changed files are listed once, relative to the project', () => {
  const document = reportDocument(reportOf(1), FRAME, 10);
  expect(markdownText(document)).toContain('seen to change src/a.ts and 1 more file');
});

test('a line of a project joins commits with their branches only, and files only if one session has changed some', () => {
  const report = new NightReport(() => '');
  const project = '/home/ann/agentv';
  report.add({ ...factsOf(0), id: 'a', project, commits: 2, uncommitted: 0, commitsOn: { main: 2 }, branch: 'main' });
  expect(report.projects).toMatchObject([{ commits: 2, commitsOn: { main: 2 }, uncommitted: 0 }]);
  const { commitsOn: _none, ...other } = factsOf(0);
  report.add({ ...other, id: 'b', project, commits: 0, uncommitted: 15, branch: 'chore/remove' });
  const [block] = report.projects;
  expect(block).toMatchObject({ commits: 2, commitsOn: { main: 2 } });
  expect(block).not.toHaveProperty('uncommitted');
  const text = terminalText(screenDocument(report, FRAME, 120), { paint, width: 120 });
  expect(text).toContain('agentv: 2 sessions, 2 commits on main, ann/shop/pull/12, npm test passed');
  expect(text).not.toContain('chore/remove');
});

test('what worked in a project costs what the working sessions and all their subagents cost, and nothing of the others', () => {
  const report = new NightReport(() => '');
  const add = (id: string, more: Partial<RunFacts>): void =>
    report.add({ ...factsOf(0), project: '/home/ann/shop', costUsd: 1, ...more, id });
  const verdict = NO_CHECK;
  // A subagent has no check of its own.
  add('works', {});
  add('works/child', { parentId: 'works', verdict });
  add('works/grandchild', { parentId: 'works/child', verdict });
  add('other', { verdict });
  add('other/child', { parentId: 'other', verdict });
  expect(report.projects).toMatchObject([{ worked: 1, costUsd: 5, ofWorked: { costUsd: 3 } }]);
});

test('a session names what its subagents did, which its own figures and ending leave out', () => {
  const report = new NightReport(() => '');
  const verdict = NO_CHECK;
  const child = { parentId: 'asks', filesChanged: ['src/a.ts', 'src/b.ts'], commits: 1, errors: 3 };
  report.add({ ...factsOf(2), id: 'asks', verdict, cancelled: 1 });
  report.add({ ...factsOf(2), ...child, id: 'asks/a', checks: [{ command: 'npm test', number: 4, failed: false }] });
  report.add({ ...factsOf(2), ...child, id: 'asks/b', commits: 0, lastAtMs: UNTIL_MS });
  const text = terminalText(reportDocument(report, FRAME, 10), { paint, width: 120 });
  expect(text).toContain('it answered; no check that coxswain recognises');
  expect(text).toContain('and 2 subagents with 80 calls, 6 errors for $0.82');
  expect(text).toContain('subagents: seen to change 2 files, 1 commit, npm test passed');
  expect(text).toContain('40 calls, 0 errors, 1 cancelled');
});

test('a screen of more than a day names the age of each session, at any width', () => {
  const report = new NightReport(() => '');
  report.add({ ...factsOf(4), lastAtMs: UNTIL_MS - 75 * HOUR_MS });
  const text = terminalText(screenDocument(report, { ...FRAME, sinceMs: 0 }, 80), { paint, width: 80 });
  expect(text).toMatch(/^cut off .* 3d +1$/m);
});

test('the reason has more of a line than the title, and lines of its own where room is left', () => {
  const report = new NightReport(() => '');
  const silentMs = 9 * HOUR_MS;
  const command = 'gh pr view 6 --json url,title,body,headRefName,baseRefName,isDraft,mergeable';
  const ends = [CUT_OFF, RATE_LIMIT, verdictOf(undefined, [], { call: command, silentMs })];
  for (const [index, verdict] of ends.entries()) report.add({ ...factsOf(4), id: `run-${index}`, verdict });
  const text = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(text).toContain('3 need you: 1 failed (rate limit), 2 cut off (no cause on record)\n');
  expect(text).toContain(' 2\n         unfinished: npm run build; no record for 7.0 hours\n');
  expect(text).toContain('\nfailed  shop rate limit: resets 5am – /review the last three commits           1\n');
  expect(text).toContain(
    ' 3\n         after "gh pr view 6 --json\n         url,title,body,headRefName,baseRefName,isDraft,mergeable"; no record\n         for 9.0 hours\n',
  );
  expect(text).toContain('Open first: coxswain 1. coxswain --all lists every session');
  for (let index = 3; index < 20; index += 1)
    report.add({ ...factsOf(4), id: `run-${index}`, task: `Task ${index}`, verdict: CUT_OFF });
  const full = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(full).toContain('20 need you: 1 failed (rate limit), 19 cut off (no cause on record)\n');
  expect(full).toMatch(/^cut off shop unfinished: npm run build; no record for 7\.… – \/review the las… {3}2$/m);
  expect(full).toMatch(/^failed {2}shop rate limit: resets 5am – \/review the last three commits {2,}1$/m);
  expect(full).toContain('Open first: coxswain 1. coxswain --needs-me lists all 20, --all every session');
});

test('a heading names every cause, and the first screen no single one as another', () => {
  const report = new NightReport(() => '');
  const causes = ['rate_limit', 'login', 'credit', 'overloaded', 'turn_limit'] as const;
  for (const reason of causes)
    report.add({ ...factsOf(4), id: reason, verdict: verdictOf({ outcome: 'error', reason }, []) });
  const documents = [needsDocument(report, FRAME), screenDocument(report, FRAME, 200)];
  for (const text of documents.map((document) => terminalText(document, { paint, width: 200 }))) {
    expect(text).toContain('1 turn limit');
    expect(text).not.toContain('1 other');
  }
});

test('a title in Japanese takes no more columns than another', () => {
  const report = new NightReport(() => '');
  const asks = (waitsFor: string) => verdictOf(undefined, [], { waitsFor: `waits for your answer: ${waitsFor}` });
  const task = 'このサイトの改善案を洗い出して、優先順位を付けてください。それから実装してください';
  for (let index = 0; index < 30; index += 1)
    report.add({
      ...factsOf(0),
      id: `run-${index}`,
      task,
      verdict: asks(index < 3 ? 'コミットしますか？'.repeat(9) : 'Yes?'),
    });
  for (const count of [30, 2]) {
    const shown = new NightReport(() => '');
    for (const run of report.runs.slice(-count)) shown.add(run);
    const lines = terminalText(screenDocument(shown, FRAME, 80), { paint, width: 80 })
      .trimEnd()
      .split('\n');
    const columns = lines.map((line) => line.length + (line.match(/[\u3000-\u9fff\uff00-\uff60]/g)?.length ?? 0));
    expect(Math.max(...columns)).toBeLessThanOrEqual(80);
    expect(lines.length).toBeLessThanOrEqual(23);
  }
});

test('the list of those that need you has each with its number, title and whole reason, in every form', () => {
  const report = reportOf(60);
  const document = needsDocument(report, FRAME);
  const text = terminalText(document, { paint, width: 80 });
  expect(text).toContain('20 need you: 5 waiting, 5 failed (rate limit), 5 cut off (no cause on record)');
  expect(text).toContain('\nFailed or cut off: 10 (5 rate limit, 5 no cause on record)\n');
  expect(text).toMatch(
    /\n✗ 7 {2}shop {2}\/review the last three commits\n {2}\d{4}-\d\d-\d\d \d\d:\d\d, rate limit: resets 5am \(Europe\/Paris\)/,
  );
  expect(text.match(/^[●✗·] \d+ {2}/gm)).toHaveLength(20);
  expect(text).not.toContain('Worked');
  expect(markdownText(document)).toContain('resets 5am');
  expect(htmlPage(document)).toContain('resets 5am');
  const { sections } = report.toJson(FRAME, true) as { readonly sections: readonly { readonly name: string }[] };
  expect(sections.map(({ name }) => name)).toEqual(['waiting', 'failed', 'failing']);
  const none = terminalText(needsDocument(reportOf(1), FRAME), { paint, width: 80 });
  expect(none).toContain('; none needs you\n');
});

test('the list of those that need you has what their failed checks printed', () => {
  const report = new NightReport(() => '');
  const error = "src/a.ts(3,1): error TS2304: Cannot find name 'x'.";
  const checks = [5, 7].map((number) => ({ command: `npx tsc -p ${number}`, number, failed: true, error }));
  report.add({ ...factsOf(4), checks, verdict: verdictOf(undefined, checks, { isAnswer: true }) });
  const text = terminalText(needsDocument(report, FRAME), { paint, width: 100 });
  expect(text).toContain(`, ${error}; npx tsc -p 7 failed in call 7, and so did 1 more\n`);
  const screen = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(screen).toMatch(/^ {9}a\.ts\(3,1\): error TS2304: /m);
  expect(text.split(error)).toHaveLength(2);
});

test('the head names every need, and the models of the runs without a known cost', () => {
  const report = reportOf(600);
  const { costUsd: _none, ...unpriced } = factsOf(1);
  for (const [index, modelId] of ['new-model-9', 'new-model-9', 'other', 'third', undefined].entries())
    report.add({ ...unpriced, id: `unpriced-${index}`, ...(modelId === undefined ? {} : { modelId }) });
  const asked = { ...factsOf(2), id: 'asks', question: 'Push it?' };
  report.add(asked);
  const all = terminalText(reportDocument(report, FRAME, 1_000), { paint, width: 120 });
  expect(all).toContain('it asks: Push it?');
  const verdict = verdictOf(undefined, [], { isAnswer: true, call: 'git push', calls: 9, isRefused: true });
  report.add({ ...factsOf(2), id: 'refused', verdict });
  const lines = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 }).split('\n');
  const head = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('answer ')),
  );
  expect(head).toEqual([
    '607 sessions in 4 projects in the last 12 hours; $211.56',
    '91 of 607 runs without a known cost: new-model-9, other, third',
    '202 need you (50 below): 50 waiting, 50 failed (rate limit),',
    '50 cut off (no cause on record), 50 with a failed check, 1 refused,',
    '1 with a question',
  ]);
  expect(lines.join('\n')).toMatch(/\nrefused .* its last call \(git push\)/);
  expect(lines.length).toBeLessThanOrEqual(24);
});

test('of a name with several folders the last one is shown, with what tells it from others', () => {
  expect(shortProject('api', 14)).toBe('api');
  expect(shortProject('devenv/git-sync', 14)).toBe('…venv/git-sync');
  expect(shortProject('Users/jan/prg/cluster/cc-backend', 14)).toBe('Us…/cc-backend');
  expect(shortProject('home/jan/prg/cc-backend', 14)).toBe('ho…/cc-backend');
  expect(shortProject('a/site-of-a-conference', 14)).toBe('site-of-a-con…');
  expect(shortProject('ubuntu/charming-analysis', 14)).toBe('charming-anal…');
});
