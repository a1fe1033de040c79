import { callNumber } from '../base/call-number.ts';
import { html, type Html, type HtmlValue } from '../html/html.ts';
import { dim, pageText, section, table } from '../html/page.ts';
import type {
  BacktestReport,
  ComparisonReport,
  MomentReport,
  PartFigures,
  PartReport,
  PlaceReport,
  RateRatioReport,
  SavedReport,
  ShareReport,
  SignalReport,
  StopEarlyReport,
  SweepReport,
} from './backtest-report.ts';
import { percentText } from '../base/number-text.ts';
import { positionStrip, shareBar, stopPlot, sweepPlot } from './html-plots.ts';

/** Maximum number of configurations whose figures are expanded. With more configurations, all are collapsed. */
const MAX_OPEN = 2;
const MAX_PATHS = 20;

/**
 * Renders a backtest report as one page. The page contains tables with intervals, the positions of firings within the run, the plot of a
 * sweep, and the changes of a comparison. It needs no network and no script, and all text is escaped. Equal reports give equal bytes.
 */
export function htmlReport(report: BacktestReport): string {
  const { comparison, gates, parts, sweep } = report;
  const body = [
    inputHtml(report),
    notesHtml(report.notes),
    gates.length === 0 ? undefined : gatesHtml(report),
    sweep === undefined ? undefined : sweepHtml(sweep),
    comparison === undefined ? undefined : comparisonHtml(comparison, report),
    ...parts.map((part) => partHtml(part, report)),
  ];
  return pageText('coxswain backtest', body);
}

function inputHtml({ configurations, input, paths, truth }: BacktestReport): Html {
  const shownPaths = paths.slice(0, MAX_PATHS).map(shortened).join(', ');
  const remainder = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : '';
  const positive = truth === 'labels' ? 'labels say so' : 'the run failed';
  const facts = [
    `${count(input.runs)} runs, ${count(input.calls)} calls`,
    `${count(input.positive)} positive (${positive}), ${count(input.negative)} negative, ${count(input.unlabelled)} unlabelled`,
    ...nonZeroCount(input.ownEvaluations, 'evaluated at the recorded points'),
    ...nonZeroCount(input.neverAsked, 'never evaluated'),
    ...nonZeroCount(input.withGap, 'with a gap'),
    ...nonZeroCount(input.withoutVerdicts, 'left out without recorded verdicts'),
    ...nonZeroCount(input.problems, 'sources with a problem'),
  ];
  const rows = configurations.map(({ hash, name }) => [shortened(name), html`<code>${hash}</code>`]);
  const configurationsTable = table({ caption: 'Configurations', head: ['Configuration', 'Fingerprint'], rows });
  return html`<p>${shownPaths}${remainder}</p>
    <p>${facts.join('; ')}.</p>
    ${configurationsTable}`;
}

function notesHtml(notes: readonly string[]): readonly Html[] {
  return notes.map((note) => html`<p class="note">${note}</p> `);
}

function gatesHtml({ gates }: BacktestReport): Html {
  const rows = gates.map(({ gate, limit, passed, reason, value }) => [
    gate,
    passed ? html`<span class="good">passed</span>` : html`<span class="bad">failed</span>`,
    String(limit),
    value === null ? 'unknown' : twoDecimals(value),
    shortened(reason),
  ]);
  const head = ['Gate', '', 'Limit', 'Value', 'Reason'];
  return section('Gates', table({ caption: 'Bounds', head, rows }));
}

function sweepHtml(sweep: SweepReport): Html {
  const { field, part, points, signal } = sweep;
  const rows = points.map(({ f1, falseRate, fired, precision, raised, recall, runs, value }) => [
    raised === undefined ? value : html`${value}<br />${dim(`with ${shortened(raised.path)} ${raised.value}`)}`,
    count(fired),
    count(runs),
    shareHtml(precision),
    shareHtml(recall),
    shareHtml(falseRate),
    f1 === null ? '–' : twoDecimals(f1),
  ]);
  const head = ['Value', 'Fired', 'Runs', 'Precision', 'Recall', 'False rate', 'F1'];
  const caption = `${shortened(signal.name)} (${signal.by}) in part ${shortened(part)}`;
  return section(`Sweep of ${shortened(field)}`, [sweepPlot(sweep), table({ caption, head, rows, figures: true })]);
}

function comparisonHtml(comparison: ComparisonReport, { configurations }: BacktestReport): Html {
  const { added, byProvider, changedRuns, moved, places, removed } = comparison;
  const head = ['Provider', 'Unchanged', 'New', 'Removed', 'Moved'];
  const rows = [...byProvider.map((one) => changedRow(shortened(one.provider), one)), changedRow('all', comparison)];
  const [first, second] = configurations;
  const title = `${second?.name ?? 'second'} against ${first?.name ?? 'first'}`;
  return section(shortened(title), [
    html`<p>${count(changedRuns)} runs are changed.</p> `,
    table({ caption: 'Pieces of advice', head, rows }),
    placesHtml('New', places.added, added),
    placesHtml('Removed', places.removed, removed),
    placesHtml('Moved', places.moved, moved),
  ]);
}

function changedRow(
  name: string,
  { added, moved, removed, unchanged }: Pick<ComparisonReport, 'added' | 'moved' | 'removed' | 'unchanged'>,
): readonly string[] {
  return [name, count(unchanged), count(added), count(removed), count(moved)];
}

function placesHtml(title: string, places: readonly PlaceReport[], total: number): Html | undefined {
  if (places.length === 0) return undefined;
  const rows = places.map(({ call, provider, run, to }) => [
    shortened(run),
    shortened(provider),
    to === undefined ? String(call) : `${call} → ${to}`,
  ]);
  const caption = `${title}: ${count(places.length)} of ${count(total)}`;
  return table({ caption, head: ['Run', 'Provider', 'After call'], rows });
}

function partHtml(part: PartReport, { configurations }: BacktestReport): Html {
  const { byConfiguration, calls, name, negative, positive, runs, tasks, unlabelled } = part;
  const facts = `${count(runs)} runs of ${count(tasks)} tasks, ${count(calls)} calls: ${count(positive)} positive, ${count(negative)} negative, ${count(unlabelled)} unlabelled.`;
  const figures = byConfiguration.map((one, index) => {
    const title = configurations[index]?.name ?? String(index);
    const open = index < MAX_OPEN ? html` open` : undefined;
    return html`<details${open}><summary><strong>${shortened(title)}</strong></summary>\n${figuresHtml(one)}</details>\n`;
  });
  return section(`Runs: ${shortened(name)}`, [html`<p>${facts}</p> `, figures]);
}

function figuresHtml({ advice, details, patterns, providers, stopEarly }: PartFigures): HtmlValue {
  return [
    signalTable('Advice by provider', [advice, ...providers]),
    signalTable('By pattern and decision point', details),
    signalTable('Flagged patterns, with or without advice', patterns),
    stopEarly === undefined ? undefined : stopEarlyHtml(stopEarly),
    examplesTable([advice, ...providers, ...details, ...patterns]),
  ];
}

function stopEarlyHtml({ policies }: StopEarlyReport): HtmlValue {
  const [first] = policies;
  if (first === undefined) return html`<p>No run has a stuck warning, so stopping early would change nothing.</p> `;
  const rows = policies.flatMap(({ byAfter, kind, level }) =>
    byAfter.map(({ after, calls, costUsd, lostSuccesses, ms, stoppedRuns, tokens }) => [
      `${kind ?? 'any stuck pattern'}, ${level}`,
      after,
      count(stoppedRuns),
      savedHtml(calls),
      savedHtml(ms),
      savedHtml(tokens),
      savedHtml(costUsd),
      shareHtml(lostSuccesses),
    ]),
  );
  const head = [
    'First warning',
    'Calls later',
    'Runs stopped',
    'Calls saved',
    'Time',
    'Tokens',
    'Cost',
    'Successes lost',
  ];
  const caption =
    'Stopping each run so many calls after its first warning. The savings are exact: a recording shows a run up to the stop as it was. Starting the task again is not counted. Time, tokens and cost cover only the runs that record them. Ranges are intervals of 95 %.';
  return [stopPlot(first), table({ caption, head, rows, figures: true })];
}

function savedHtml({ high, low, share }: SavedReport): HtmlValue {
  if (share === null) return '–';
  return html`${percentText(share)} ${dim(`${Math.round(100 * (low ?? 0))}–${Math.round(100 * (high ?? 0))}`)}`;
}

function examplesTable(signals: readonly SignalReport[]): Html | undefined {
  const rows = signals
    .filter(({ fired }) => fired > 0)
    .map((signal) => {
      const { negative, positive, unlabelled } = signal.examples;
      return [nameHtml(signal), momentsHtml(negative), momentsHtml(positive), momentsHtml(unlabelled)];
    });
  if (rows.length === 0) return undefined;
  const caption =
    'Moments to read: first firings, at most three of each kind. False alarms are those of negative runs.';
  const head = ['Signal', 'In negative runs', 'In positive runs', 'In unlabelled runs'];
  return html`<details>
    <summary>Moments to read</summary>
    ${table({ caption, head, rows })}
  </details> `;
}

function momentsHtml(moments: readonly MomentReport[]): HtmlValue {
  if (moments.length === 0) return '–';
  return moments.map(({ call, run, source }, index) => {
    const separator = index === 0 ? undefined : html`<br />`;
    return html`${separator}${shortened(run)} after call ${callNumber(call)} ${dim(shortened(source))}`;
  });
}

function signalTable(caption: string, signals: readonly SignalReport[]): Html | undefined {
  if (signals.length === 0) return undefined;
  const head = [
    'Signal',
    'Fired',
    'Runs',
    'Per 100 calls',
    'Precision',
    'Recall',
    'False rate',
    'F1',
    'First fired',
    'At the same call',
  ];
  const rows = signals.map((signal) => [
    nameHtml(signal),
    count(signal.fired),
    html`${count(signal.runs)}<br />${dim([signal.positiveRuns, signal.negativeRuns, signal.unlabelledRuns].map(count).join(' / '))}`,
    signal.per100Calls === null ? '–' : twoDecimals(signal.per100Calls),
    shareHtml(signal.precision),
    shareHtml(signal.recall),
    shareHtml(signal.falseRate),
    signal.f1 === null ? '–' : twoDecimals(signal.f1),
    positionStrip(signal.callsLeft),
    ratioHtml(signal.atSameCall),
  ]);
  return table({
    caption: `${caption}. Runs: all, then positive / negative / unlabelled. Ranges are intervals of 95 %. At the same call: how much more readily it fires in positive than in negative runs, and in how many of each.`,
    head,
    rows,
    figures: true,
  });
}

function nameHtml({ by, name, pattern, point }: SignalReport): HtmlValue {
  const qualifiers = [
    ...(pattern === undefined ? [] : [pattern ?? 'no pattern']),
    ...(point === undefined ? [] : [point]),
  ];
  const first = shortened(by === 'advice' ? 'all advice' : name);
  return qualifiers.length === 0 ? first : html`${first}<br />${dim(shortened(qualifiers.join(', ')))}`;
}

function shareHtml(share: ShareReport): HtmlValue {
  if (share.share === null) return '–';
  const [low, high] = [share.low, share.high].map((end) => Math.round(100 * (end ?? 0)));
  const fraction = `${count(share.hits)} of ${count(share.of)}`;
  return html`${percentText(share.share)} ${dim(`${low}–${high}`)}${shareBar(share)}${dim(fraction)}`;
}

function ratioHtml({ high, low, negativeEvents, positiveEvents, ratio }: RateRatioReport): Html {
  const events = dim(`${count(positiveEvents)} / ${count(negativeEvents)} runs`);
  if (ratio === null || low === null || high === null) return html`–<br />${events}`;
  return html`×${twoDecimals(ratio)} ${dim(`${twoDecimals(low)}–${twoDecimals(high)}`)}<br />${events}`;
}

const MAX_CHARS = 300;

/** Truncates a name from the input, which may be very long. */
function shortened(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;
}

function nonZeroCount(amount: number, noun: string): readonly string[] {
  return amount === 0 ? [] : [`${count(amount)} ${noun}`];
}

function count(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

function twoDecimals(value: number): string {
  return value.toFixed(2);
}
