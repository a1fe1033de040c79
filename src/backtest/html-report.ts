import type { Html } from '../base/html-frame.ts';
import type {
  BacktestReport,
  ComparisonReport,
  MomentReport,
  PartFigures,
  PartReport,
  PlaceReport,
  RateRatioReport,
  ShareReport,
  SignalReport,
  SweepReport,
} from './backtest-report.ts';
import { htmlFigures, htmlPage, htmlSection, htmlTable, htmlText } from './html-page.ts';
import { percent, positionStrip, shareBar, sweepPlot } from './html-plots.ts';

/** Configurations whose figures are open; those of more are folded away. */
const MAX_OPEN = 2;
const MAX_PATHS = 20;

/**
 * A report of a backtest as one page: tables with intervals, where in the run things fire, the plot of a sweep, what a
 * comparison changes. It needs no network and no script; every text is escaped; equal reports give equal bytes.
 */
export function htmlReport(report: BacktestReport): Html {
  const { comparison, gates, parts, sweep } = report;
  const body = [
    inputHtml(report),
    notesHtml(report.notes),
    gates.length === 0 ? '' : gatesHtml(report),
    sweep === undefined ? '' : sweepHtml(sweep),
    comparison === undefined ? '' : comparisonHtml(comparison, report),
    ...parts.map((part) => partHtml(part, report)),
  ];
  return htmlPage('coxswain backtest', body.join(''));
}

function inputHtml({ configurations, input, paths, truth }: BacktestReport): Html {
  const shown = paths.slice(0, MAX_PATHS).map(htmlText).join(', ');
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : '';
  const said = truth === 'labels' ? 'labels say so' : 'the run failed';
  const facts = [
    `${count(input.runs)} runs, ${count(input.calls)} calls`,
    `${count(input.positive)} positive (${said}), ${count(input.negative)} negative, ${count(input.unlabelled)} unlabelled`,
    ...optional(input.ownEvaluations, 'asked where their own host asked'),
    ...optional(input.neverAsked, 'never asked'),
    ...optional(input.withGap, 'with a gap'),
    ...optional(input.withoutVerdicts, 'left out for want of recorded verdicts'),
    ...optional(input.problems, 'sources with a problem'),
  ];
  const rows = configurations.map(({ hash, name }) => [htmlText(name), `<code>${htmlText(hash)}</code>`]);
  return `<p>${shown}${more}</p>\n<p>${facts.join('; ')}.</p>\n${htmlTable('What was tried', ['Configuration', 'Fingerprint'], rows)}`;
}

function notesHtml(notes: readonly string[]): Html {
  return notes.map((note) => `<p class="note">${htmlText(note)}</p>\n`).join('');
}

function gatesHtml({ gates }: BacktestReport): Html {
  const rows = gates.map(({ gate, limit, passed, reason, value }) => [
    htmlText(gate),
    passed ? '<span class="good">passed</span>' : '<span class="bad">failed</span>',
    String(limit),
    value === null ? 'unknown' : fixed(value),
    htmlText(reason),
  ]);
  return htmlSection('Gates', htmlTable('Bounds to keep', ['Gate', '', 'Limit', 'Value', 'Reason'], rows));
}

function sweepHtml(sweep: SweepReport): Html {
  const { field, part, points, signal } = sweep;
  const rows = points.map(({ f1, falseRate, fired, precision, raised, recall, runs, value }) => [
    `${htmlText(String(value))}${raised === undefined ? '' : `<br><span class="dim">with ${htmlText(raised.path)} ${raised.value}</span>`}`,
    count(fired),
    count(runs),
    shareHtml(precision),
    shareHtml(recall),
    shareHtml(falseRate),
    f1 === null ? '–' : fixed(f1),
  ]);
  const head = ['Value', 'Fired', 'Runs', 'Precision', 'Recall', 'False rate', 'F1'];
  const caption = `${signal.name} (${signal.by}) in part ${part}`;
  return htmlSection(`Sweep of ${field}`, sweepPlot(sweep) + htmlFigures(caption, head, rows));
}

function comparisonHtml(comparison: ComparisonReport, { configurations }: BacktestReport): Html {
  const { added, byProvider, changedRuns, moved, places, removed } = comparison;
  const head = ['Provider', 'Unchanged', 'New', 'Removed', 'Moved'];
  const rows = [...byProvider.map((one) => changedRow(htmlText(one.provider), one)), changedRow('all', comparison)];
  const [first, second] = configurations;
  const title = `${second?.name ?? 'second'} against ${first?.name ?? 'first'}`;
  return htmlSection(
    title,
    `<p>${count(changedRuns)} runs are changed.</p>\n${htmlTable('Pieces of advice', head, rows)}${placesHtml('New', places.added, added)}${placesHtml('Removed', places.removed, removed)}${placesHtml('Moved', places.moved, moved)}`,
  );
}

function changedRow(
  name: Html,
  { added, moved, removed, unchanged }: Pick<ComparisonReport, 'added' | 'moved' | 'removed' | 'unchanged'>,
): readonly Html[] {
  return [name, count(unchanged), count(added), count(removed), count(moved)];
}

function placesHtml(title: string, places: readonly PlaceReport[], all: number): Html {
  if (places.length === 0) return '';
  const rows = places.map(({ call, provider, run, to }) => [
    htmlText(run),
    htmlText(provider),
    to === undefined ? String(call) : `${call} → ${to}`,
  ]);
  const caption = `${title}: ${count(places.length)} of ${count(all)}`;
  return htmlTable(caption, ['Run', 'Provider', 'After call'], rows);
}

function partHtml(part: PartReport, { configurations }: BacktestReport): Html {
  const { byConfiguration, calls, name, negative, positive, runs, tasks, unlabelled } = part;
  const facts = `${count(runs)} runs of ${count(tasks)} tasks, ${count(calls)} calls: ${count(positive)} positive, ${count(negative)} negative, ${count(unlabelled)} unlabelled.`;
  const figures = byConfiguration.map((one, index) => {
    const title = configurations[index]?.name ?? String(index);
    const open = index < MAX_OPEN ? ' open' : '';
    return `<details${open}><summary><strong>${htmlText(title)}</strong></summary>\n${figuresHtml(one)}</details>\n`;
  });
  return htmlSection(`Runs: ${name}`, `<p>${facts}</p>\n${figures.join('')}`);
}

function figuresHtml({ advice, details, patterns, providers }: PartFigures): Html {
  return [
    signalTable('What is said, and by whom', [advice, ...providers]),
    signalTable('By pattern and decision point', details),
    signalTable('Patterns that were flagged, said or not', patterns),
    examplesTable([advice, ...providers, ...details, ...patterns]),
  ].join('');
}

function examplesTable(signals: readonly SignalReport[]): Html {
  const rows = signals
    .filter(({ fired }) => fired > 0)
    .map((signal) => {
      const { negative, positive, unlabelled } = signal.examples;
      return [nameHtml(signal), momentsHtml(negative), momentsHtml(positive), momentsHtml(unlabelled)];
    });
  if (rows.length === 0) return '';
  const caption =
    'Moments to read: first firings, at most three of each kind. False alarms are those of negative runs.';
  const table = htmlTable(caption, ['Signal', 'In negative runs', 'In positive runs', 'In unlabelled runs'], rows);
  return `<details><summary>Moments to read</summary>\n${table}</details>\n`;
}

function momentsHtml(moments: readonly MomentReport[]): Html {
  if (moments.length === 0) return '–';
  return moments
    .map(({ call, run, source }) => `${htmlText(run)} after call ${call} <span class="dim">${htmlText(source)}</span>`)
    .join('<br>');
}

function signalTable(caption: string, signals: readonly SignalReport[]): Html {
  if (signals.length === 0) return '';
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
    `${count(signal.runs)}<br><span class="dim">${count(signal.positiveRuns)} / ${count(signal.negativeRuns)} / ${count(signal.unlabelledRuns)}</span>`,
    signal.per100Calls === null ? '–' : fixed(signal.per100Calls),
    shareHtml(signal.precision),
    shareHtml(signal.recall),
    shareHtml(signal.falseRate),
    signal.f1 === null ? '–' : fixed(signal.f1),
    positionStrip(signal.callsLeft),
    ratioHtml(signal.atSameCall),
  ]);
  return htmlFigures(
    `${caption}. Runs: all, then positive / negative / unlabelled. Ranges are intervals of 95 %. At the same call: how much more readily it fires in positive than in negative runs, and in how many of each.`,
    head,
    rows,
  );
}

function nameHtml({ by, name, pattern, point }: SignalReport): Html {
  const more = [...(pattern === undefined ? [] : [pattern ?? 'no pattern']), ...(point === undefined ? [] : [point])];
  const first = by === 'advice' ? 'all advice' : name;
  return more.length === 0
    ? htmlText(first)
    : `${htmlText(first)}<br><span class="dim">${htmlText(more.join(', '))}</span>`;
}

function shareHtml(share: ShareReport): Html {
  if (share.share === null) return '–';
  const [low, high] = [share.low, share.high].map((end) => Math.round(100 * (end ?? 0)));
  return `${percent(share.share)} <span class="dim">${low}–${high}</span>${shareBar(share)}<span class="dim">${count(share.hits)} of ${count(share.of)}</span>`;
}

function ratioHtml({ high, low, negativeEvents, positiveEvents, ratio }: RateRatioReport): Html {
  const events = `${count(positiveEvents)} / ${count(negativeEvents)}`;
  if (ratio === null || low === null || high === null) return `–<br><span class="dim">${events} runs</span>`;
  return `×${fixed(ratio)} <span class="dim">${fixed(low)}–${fixed(high)}</span><br><span class="dim">${events} runs</span>`;
}

function optional(amount: number, what: string): readonly string[] {
  return amount === 0 ? [] : [`${count(amount)} ${what}`];
}

function count(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

function fixed(value: number): string {
  return value.toFixed(2);
}
