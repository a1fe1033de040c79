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
      'Answered with a failed check: 5',
      'Answered without a passed check at the end: 5',
      'Worked, last check passed: 25',
      'Projects',
    ])
      expect(text).toContain(title);
  expect(report.toJson(FRAME)).toMatchObject({
    sections: expect.arrayContaining([
      {
        name: 'waiting',
        items: expect.arrayContaining([expect.objectContaining({ number: 1, verb: 'waits', project: 'bob/api' })]),
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
  expect(text).toMatch(/\nAt work: 3 \(2 run away or nearly fill their context\), at least \$1\.23\n/);
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
  expect(verbOf(answered('npm run plan', 3, true), true)).toBe('failed check');
  for (const what of [
    'ing for permission to use update_plan',
    's for your answer: Which plan?',
    's for your decision on its plan',
  ])
    expect(verbOf(waiting(`wait${what}`), false)).toBe('waits');
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
  add('works/child', { parentId: 'works', verdict, project: '/home/ann/tools' });
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
  const late = { command: 'npm test', number: 9, failed: false, atMs: UNTIL_MS };
  const red = { command: 'npm test -- --bail', number: 4, failed: true, atMs: UNTIL_MS - 1 };
  const healed = new NightReport(() => '');
  healed.add({ ...factsOf(2), id: 'asks', verdict, checks: [late] });
  healed.add({ ...factsOf(2), ...child, id: 'asks/a', checks: [red] });
  expect(terminalText(reportDocument(healed, FRAME, 10), { paint, width: 120 })).not.toContain('failed');
});

test('a reason without room keeps both halves of its message, and its values become short', () => {
  const report = new NightReport(() => '');
  for (const letter of 'abcdefghijklmnop') {
    const [one, other] = ['CategoryService', letter].map((name) => `import("/w/shop/src/${name}").Category[]`);
    const error = `Type '${one}' is not assignable to type '${other}'`;
    const check = { command: 'npx tsc', number: 3, failed: true, error };
    report.add({ ...factsOf(4), id: letter, verdict: verdictOf(undefined, [check], { isAnswer: true }) });
  }
  for (let index = 0; index < 30; index += 1)
    report.add({ ...factsOf(4), id: `cut-${index}`, task: `Task ${index}`, verdict: CUT_OFF });
  const text = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(text).toContain("\n         Type 'CategoryService…' is not assignable to type 'a.Category[]'\n");
});

test('of sessions that were stopped, those that the person stopped are counted, and wide characters have two columns', () => {
  const report = new NightReport(() => '');
  const stopped = (reason?: string) =>
    verdictOf({ outcome: 'aborted', ...(reason === undefined ? {} : { reason }) }, []);
  for (const [index, verdict] of [stopped('interrupted'), stopped(), CUT_OFF].entries())
    report.add({ ...factsOf(4), id: `run-${index}`, project: '/w/考研', verdict });
  const lines = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 }).split('\n');
  expect(lines).toContainEqual(expect.stringMatching(/^Stopped: 2 \(1 by you\)/));
  // Each of the two characters of the project takes two columns.
  expect(lines.find((line) => line.startsWith('cut off'))).toHaveLength(78);
});

test('a screen names the age of each session from 100 columns on', () => {
  const report = new NightReport(() => '');
  report.add({ ...factsOf(4), lastAtMs: UNTIL_MS - 75 * HOUR_MS });
  const textOf = (width: number) =>
    terminalText(screenDocument(report, { ...FRAME, sinceMs: 0 }, width), { paint, width });
  expect(textOf(100)).toMatch(/^cut off .* 3d +1$/m);
  expect(textOf(80)).not.toContain('3d');
});

test('the reason has more of a line than the title, and lines of its own where room is left', () => {
  const report = new NightReport(() => '');
  const silentMs = 9 * HOUR_MS;
  const command = 'gh pr view 6 --json url,title,body,headRefName,baseRefName,isDraft,mergeable';
  const ends = [CUT_OFF, RATE_LIMIT, verdictOf(undefined, [], { call: command, silentMs })];
  for (const [index, verdict] of ends.entries()) report.add({ ...factsOf(4), id: `run-${index}`, verdict });
  const text = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(text).toContain('3 need you, $1.23: 1 failed (rate limit), 2 cut off (no cause on record)\n');
  expect(text).toContain('\nfailed  shop rate limit: resets 5am – /review the last three commits           1\n');
  expect(text).toContain('\ncut off shop while npm run build ran – /review the last three commits          2\n');
  expect(text).toContain(
    ' 3\n         after gh pr view 6 --json\n         url,title,body,headRefName,baseRefName,isDraft,mergeable\n',
  );
  expect(text).toContain('Open first: coxswain 1 (shop: failed). coxswain --all lists every session');
  for (let index = 3; index < 30; index += 1)
    report.add({ ...factsOf(4), id: `run-${index}`, task: `Task ${index}`, verdict: CUT_OFF });
  const full = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(full).toContain('30 need you, $12.30: 1 failed (rate limit), 29 cut off (no cause on record)\n');
  expect(full).toMatch(/^failed {2}shop rate limit: resets 5am – \/review the last three commits {2,}1$/m);
  // Of those without a cause only three have lines.
  expect(full.match(/^cut off /gm)).toHaveLength(3);
  expect(full).toContain('\nNot shown: cut off 5–30\n');
  expect(full).toContain('Open first: coxswain 1 (shop: failed). All 30: coxswain --needs-me');
});

test('failed checks have lines before questions and sessions without a cause, and whole messages', () => {
  const report = new NightReport(() => '');
  const message = "Type 'Row' is missing the following properties from type 'Column'";
  for (let index = 0; index < 12; index += 1) {
    const check = { command: 'npx tsc', number: 3, failed: true, error: `${message}: ${'abcdefghijkl'[index]}` };
    report.add({ ...factsOf(4), id: `check-${index}`, verdict: verdictOf(undefined, [check], { isAnswer: true }) });
    report.add({ ...factsOf(4), id: `cut-${index}`, task: `Task ${index}`, verdict: CUT_OFF });
    report.add({ ...factsOf(2), id: `asks-${index}`, question: `Would you like me to push ${index}?` });
  }
  report.add({ ...factsOf(2), id: 'real', question: `${'It is long. '.repeat(9)}Which of the two ports is free?` });
  const lines = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 }).split('\n');
  expect(lines.filter((line) => line.startsWith('failed check'))).toHaveLength(6);
  expect(lines.filter((line) => line.trim().startsWith(message))).toHaveLength(6);
  expect(lines.filter((line) => line.startsWith('cut off'))).toHaveLength(3);
  // A question comes before an offer, and keeps its end; an offer loses its opening.
  const asks = lines.findIndex((line) => line.startsWith('asks'));
  expect(lines[asks + 1]).toMatch(/^ {9}….*Which of the two ports is free\?$/);
  expect(lines.join('\n')).toContain('Not shown: cut off 4–12; failed check 19–24');
});

test('the costs of the screen add up, those of subagents whose session is not here too', () => {
  const report = reportOf(120);
  report.add({ ...factsOf(1), id: 'lost', parentId: 'elsewhere' });
  const text = terminalText(screenDocument(report, FRAME, 200), { paint, width: 200 });
  expect(text).toContain('. Subagents without session: 1, $0.41\n');
  const [all = 0, ...parts] = [...text.matchAll(/\$([\d.]+)(?=[,:.;)\n])(?!.*commit)/g)].map(([, usd]) => Number(usd));
  expect(parts.reduce((sum, usd) => sum + usd, 0)).toBeCloseTo(all);
});

test('sessions of one project whose checks failed alike are one line with their numbers', () => {
  const report = new NightReport(() => '');
  for (const [index, number] of [4, 17, 9].entries()) {
    const verdict = answered('mix precommit', number, true);
    report.add({ ...factsOf(4), id: `run-${index}`, task: `Task ${index}`, verdict });
  }
  const text = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(text).toMatch(/^failed check shop mix precommit failed, in 3 sessions +1–3$/m);
  const all = terminalText(reportDocument(report, FRAME, 10), { paint, width: 120 });
  expect(all).toContain('and 2 more sessions with the same end: 2, 3; $1.23 in all');
});

test('a reason that does not fit keeps the word that says what became of a command', () => {
  const report = new NightReport(() => '');
  for (const name of 'abcdefghijkl')
    report.add({
      ...factsOf(4),
      id: name,
      verdict: answered(`npx vitest run ${name} ${'src/supabase '.repeat(9)}`, 3, true),
    });
  const lines = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 }).split('\n');
  expect(lines.filter((line) => /^ {9}npx vitest run [a-l] .*… failed$/.test(line))).toHaveLength(8);
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
  expect(text).toContain('20 need you, at least $6.97: 5 wait for you, 5 failed (rate limit), 5 cut off');
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
  const error = "Cannot find name 'x' in src/a.ts(3,1)";
  const checks = [5, 7].map((number) => ({ command: `npx tsc -p ${number}`, number, failed: true, error }));
  report.add({ ...factsOf(4), checks, verdict: verdictOf(undefined, checks, { isAnswer: true }) });
  const text = terminalText(needsDocument(report, FRAME), { paint, width: 100 });
  expect(text).toContain(`, ${error}; npx tsc -p 7 failed, and so did 1 more\n`);
  const screen = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 });
  expect(screen).toContain(`         ${error}; npx tsc -p 7 failed, and so did\n         1 more\n`);
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
  expect(all).toContain('no known price of new-model-9, other, third');
  const verdict = verdictOf(undefined, [], { isAnswer: true, call: 'git push', calls: 9, isRefused: true });
  report.add({ ...factsOf(2), id: 'refused', verdict });
  const lines = terminalText(screenDocument(report, FRAME, 80), { paint, width: 80 }).split('\n');
  const head = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith('waits ')),
  );
  expect(head).toEqual([
    '607 sessions in 4 projects, last 12 hours; at least $211.56, 91 without a price',
    '202 need you, at least $70.93: 50 wait for you, 50 failed (rate limit),',
    '50 cut off (no cause on record), 50 with a failed check, 1 had a call refused,',
    '1 asks a question',
  ]);
  expect(lines.join('\n')).toMatch(/\nrefused .* refused: git push/);
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
