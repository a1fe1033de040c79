import { escapeHtml, htmlFrame, type Html } from '../../base/html-frame.ts';
import { countOf, countText, shareText } from '../number-text.ts';
import { printable, printableCut } from '../printable.ts';
import type { RunTally } from '../run-totals.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import { adviceFacts, headFacts, patternFacts, runFacts } from './report-text.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --dim: #5b6470; --paper: #fff; --line: #d9dee4; --bad: #b3261e; --good: #1b6e3a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #9aa4b0; --paper: #16191d; --line: #333a42; --bad: #ff8a80; --good: #7fd39b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--dim); }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; } .dim { color: var(--dim); } .bad { color: var(--bad); } .good { color: var(--good); }
`;

/** A report as one page: `htmlFrame` around its sections. Every text is escaped. Equal reports give equal bytes. */
export function reportHtml(report: NightReport, frame: ReportFrame): string {
  const until = new Date(frame.untilMs).toISOString().slice(0, 16).replace('T', ' ');
  const [head, tail] = htmlFrame(`coxswain report, ${until}`, STYLE);
  return `${head}<h1>What the agents did until ${until} UTC</h1>
<p>${text(frame.from)}: ${headFacts(report, frame).map(text).join('; ')}</p>
${momentsHtml(report)}${runsHtml(report)}${totalsHtml(report)}${adviceHtml(report)}${faultsHtml(report)}${tail}`;
}

function momentsHtml({ moments }: NightReport): string {
  if (moments.length === 0) return '';
  const rows = moments.map(({ atMs, call, command, runId, what }) => [
    text(printableCut(what, 300)),
    `${text(runId)}${call === undefined ? '' : `, call ${call}`}`,
    atMs === undefined ? '' : new Date(atMs).toISOString().slice(0, 19).replace('T', ' '),
    `<code>${text(command)}</code>`,
  ]);
  return section('Worth a look', table('The most worth a look first', ['What', 'Where', 'When', 'Shown by'], rows));
}

function runsHtml({ count, runs }: NightReport): string {
  const rows = runs.map((run) => {
    const mark = run.stuck
      ? '<span class="bad">stuck</span>'
      : run.patterns.length > 0
        ? 'pattern'
        : '<span class="good">fine</span>';
    const task = run.task === undefined ? '' : `<br><span class="dim">${text(run.task)}</span>`;
    const problem = run.problem === undefined ? '' : `<br><span class="bad">${text(run.problem)}</span>`;
    return [mark, `${text(run.id)}${task}${problem}`, runFacts(run).map(text).join(', '), text(patternFacts(run))];
  });
  const left = count - runs.length;
  const caption = left > 0 ? `${countText(runs.length)} of ${countOf(count, 'run')}` : countOf(count, 'run');
  return section('Runs', table(caption, ['', 'Run', 'What it came to', 'Patterns'], rows));
}

function totalsHtml({ totals }: NightReport): string {
  const { all, outcomes, patterns } = totals;
  const row = ([name, { runs, stuck }]: readonly [string, RunTally]): readonly string[] => [
    text(printableCut(name, 80)),
    countText(runs),
    shareText(runs, all.runs),
    countText(stuck),
  ];
  const head = ['Runs', 'Share', 'Of them stuck'];
  return section(
    'Outcomes and patterns',
    table('How runs ended', ['Outcome', ...head], outcomes.map(row)) +
      (patterns.length === 0 ? '' : table('Kinds of pattern', ['Pattern', ...head], patterns.map(row))),
  );
}

function adviceHtml({ advice }: NightReport): string {
  if (advice.length === 0) return '';
  const rows = advice.map(([name, tally]) => [text(printableCut(name, 80)), adviceFacts(tally).map(text).join(', ')]);
  const note = 'What followed the advice. That it was the reason cannot be seen from this.';
  return section('Advice', table(note, ['Who', 'What became of it'], rows));
}

function faultsHtml({ faults }: NightReport): string {
  if (faults.length === 0) return '';
  const rows = faults.map(([fault, count]) => [countText(count), text(printableCut(fault, 300))]);
  return section('Faults', table('What went wrong on the side of coxswain', ['Times', 'What'], rows));
}

function section(title: string, body: string): string {
  return `<section>\n<h2>${title}</h2>\n${body}</section>\n`;
}

/** @param rows  cells that are HTML */
function table(caption: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]): string => row.map((cell) => `<td>${cell}</td>`).join('');
  return `<table>\n<caption>${caption}</caption>\n<thead><tr>${head.map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead>
<tbody>\n${rows.map((row) => `<tr>${cells(row)}</tr>\n`).join('')}</tbody>\n</table>\n`;
}

function text(value: string): Html {
  return escapeHtml(printable(value));
}
