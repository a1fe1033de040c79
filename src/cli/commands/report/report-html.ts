import { callNumber } from '../../../base/call-number.ts';
import { inWords } from '../../../records/words.ts';
import { html, type Html } from '../../../html/html.ts';
import { dim, pageText, section, table } from '../../../html/page.ts';
import { countOf, countText } from '../../../base/number-text.ts';
import { intervalText } from '../../runs/interval-text.ts';
import { printableCut } from '../../terminal/printable.ts';
import { localTimeText, timeText } from '../../terminal/time-text.ts';
import { markStateOf } from '../../runs/run-text.ts';
import type { RunTally } from '../../runs/run-totals.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import type { NightRun } from './night-run.ts';
import { adviceFacts, headFacts, patternFacts, groupFacts, runFacts, workFacts } from './report-text.ts';

/** Formats a report as an HTML page. The output depends only on the report. */
export function reportHtml(report: NightReport, frame: ReportFrame): string {
  return pageText(`What the agents did until ${timeText(frame.untilMs)}`, [
    html`<p>${frame.from}: ${headFacts(report, frame).join('; ')}</p> `,
    momentsHtml(report),
    runsHtml(report),
    totalsHtml(report),
    adviceHtml(report),
    faultsHtml(report),
  ]);
}

function momentsHtml({ moments }: NightReport): Html | undefined {
  if (moments.length === 0) return undefined;
  const rows = moments.map(({ atMs, call, command, runId, what }) => [
    printableCut(what, 300),
    call === undefined ? runId : `${runId}, call ${callNumber(call)}`,
    atMs === undefined ? '–' : localTimeText(atMs),
    html`<code>${command}</code>`,
  ]);
  return section(
    'Worth a look',
    table({ caption: 'The most important first', head: ['What', 'Where', 'When', 'Command'], rows }),
  );
}

function runsHtml({ groups, runs, sums: { count } }: NightReport): Html {
  const hiddenCount = count - runs.length;
  const caption = hiddenCount > 0 ? `${countText(runs.length)} of ${countOf(count, 'run')}` : countOf(count, 'run');
  const tables = groups?.map((group) => runsTable(groupFacts(group), group.runs)) ?? [runsTable(caption, runs)];
  return section(groups === undefined ? 'Runs' : `Runs: ${caption}`, tables);
}

function runsTable(caption: string, runs: readonly NightRun[]): Html {
  const rows = runs.map((run) => {
    const { evidence } = run.verdict;
    const state = markStateOf(run);
    const mark =
      state === 'unknown' ? state : html`<span class="${state === 'worked' ? 'good' : 'bad'}">${state}</span>`;
    const task = run.task === undefined ? undefined : html`<br />${dim(run.task)}`;
    const problem = run.problem === undefined ? undefined : html`<br /><span class="bad">${run.problem}</span>`;
    return [
      mark,
      html`${run.id}${task}${problem}`,
      [evidence, ...runFacts(run), ...workFacts(run)].join(', '),
      patternFacts(run).join('; '),
    ];
  });
  return table({ caption, head: ['', 'Run', 'Result', 'Patterns'], rows });
}

function totalsHtml({ totals }: NightReport): Html | undefined {
  const { all, outcomes, patterns } = totals;
  const rowOf =
    (words: 'outcome' | 'pattern') =>
    ([name, { runs, stuck }]: readonly [string, RunTally]) => [
      printableCut(inWords(words, name), 80),
      countText(runs),
      intervalText(runs, all.runs),
      intervalText(stuck, runs),
    ];
  const head = ['Runs', 'Share (95 % interval)', 'Stuck'];
  return section('Outcomes and patterns', [
    table({ caption: 'How runs ended', head: ['Outcome', ...head], rows: outcomes.map(rowOf('outcome')) }),
    patterns.length === 0
      ? undefined
      : table({ caption: 'Kinds of pattern', head: ['Pattern', ...head], rows: patterns.map(rowOf('pattern')) }),
  ]);
}

function adviceHtml({ advice }: NightReport): Html | undefined {
  if (advice.length === 0) return undefined;
  const rows = advice.map(([name, tally]) => [printableCut(name, 80), adviceFacts(tally).join(', ')]);
  const note = 'What followed the advice. This does not show that the advice was the cause.';
  return section('Advice', table({ caption: note, head: ['Provider', 'What followed'], rows }));
}

function faultsHtml({ faults }: NightReport): Html | undefined {
  if (faults.length === 0) return undefined;
  const rows = faults.map(([fault, count]) => [countText(count), printableCut(fault, 300)]);
  return section('Faults', table({ caption: 'Faults of coxswain itself', head: ['Times', 'What'], rows }));
}
