import { countOf, countText, rangeText, shareText } from '../../../core/base/number-text.ts';
import type {
  BacktestReport,
  ComparisonReport,
  PartReport,
  RateRatioReport,
  SignalReport,
  StopEarlyReport,
  StopPolicyReport,
  SweepPointReport,
  SweepReport,
} from '../../../lab/backtest-report.ts';
import { heading, linesOf, sectionOf, styled, type Block, type Document, type Text } from '../../document/document.ts';
import { distinctCuts, printable, printableCut } from '../../../core/base/printable.ts';

const NAME_CHARS = 48;
const SHOWN_PLACES = 10;
const SHOWN_AFTER = new Set([0, 2, 5, 10]);
const MAX_POLICIES = 8;
const MAX_GROUPS = 10;
const GROUP_CHARS = 60;
const PLOT_COLUMNS = 51;
const PLOT_ROWS = 11;
const MARKS = '123456789abcdefghijklmnopqrstuvw';

export function backtestDocument(report: BacktestReport): Document {
  const { comparison, configurations, gates, input, notes, parts, sweep, truth } = report;
  const [positive, negative] = truth === 'labels' ? ['stuck', 'ok'] : ['failed', 'succeeded'];
  const judged = [
    `${countText(input.positive)} ${positive}`,
    `${countText(input.negative)} ${negative}`,
    `${countText(input.unlabelled)} unlabelled`,
  ];
  return {
    title: [
      styled('strong', `${countOf(input.runs, 'run')}, ${countOf(input.calls, 'call')}`),
      `: ${judged.join(', ')}`,
    ],
    blocks: [
      linesOf(configurations.map(({ name, hash }) => `configuration ${printableCut(name, 100)} (${hash})`)),
      ...(sweep === undefined ? parts.flatMap((part) => partBlocks(part, report)) : []),
      ...(comparison === undefined ? [] : comparisonBlocks(comparison, report)),
      ...(sweep === undefined ? [] : sweepBlocks(sweep)),
      ...sectionOf(
        'Gates',
        linesOf(
          gates.map(({ passed, reason }) =>
            passed ? styled('good', `kept    ${reason}`) : styled('bad', `broken  ${reason}`),
          ),
        ),
      ),
      linesOf(notes.map((note) => styled('dim', printableCut(note, 400)))),
    ],
  };
}

function partBlocks(part: PartReport, { configurations, parts }: BacktestReport): readonly Block[] {
  const { name, negative, positive, runs, tasks } = part;
  const counts = `${countOf(runs, 'run')} of ${countOf(tasks, 'task')}, ${countText(positive)} positive, ${countText(negative)} negative`;
  return part.byConfiguration.flatMap((figures, index) => {
    const title = [
      ...(parts.length === 1 ? [] : [`part ${name}: ${counts}`]),
      ...(configurations.length === 1 ? [] : [`under ${printableCut(configurations[index]?.name ?? '', 100)}`]),
    ].join(', ');
    const rows = [figures.advice, ...figures.providers, ...figures.patterns];
    return [
      ...(title === '' ? [] : [heading(title)]),
      ...groupBlocks(part, index),
      positive + negative === 0 ? spokenTable(rows, part) : signalTable(rows),
      ...(figures.stopEarly === undefined ? [] : stopEarlyBlocks(figures.stopEarly)),
    ];
  });
}

function signalTable(signals: readonly SignalReport[]): Block {
  return {
    type: 'table',
    head: ['', 'times', 'runs', 'precision', 'recall', 'false rate', 'F1', 'calls left', 'at the same call'],
    left: [3, 4, 5, 7, 8],
    rows: signals.map(({ atSameCall: { high, low, ratio }, callsLeft: { median, q1, q3 }, ...signal }) => [
      nameOf(signal),
      countText(signal.fired),
      countText(signal.runs),
      rangeText(signal.precision),
      rangeText(signal.recall),
      rangeText(signal.falseRate),
      signal.f1 === null ? '–' : signal.f1.toFixed(2),
      rangeText({ share: median, low: q1, high: q3 }),
      ratioText({ ratio, low, high }),
    ]),
  };
}

/** What is known without labels: how often, in how many runs, and how early each fired. */
function spokenTable(signals: readonly SignalReport[], { runs: all }: PartReport): Block {
  return {
    type: 'table',
    head: ['', 'times', 'runs', 'of the runs', 'a run with any', 'per 100 calls', 'calls left'],
    left: [6],
    rows: signals.map((signal) => {
      const { callsLeft, fired, per100Calls, runs } = signal;
      return [
        nameOf(signal),
        countText(fired),
        countText(runs),
        shareText(all === 0 ? null : runs / all),
        runs === 0 ? '–' : (fired / runs).toFixed(1),
        per100Calls?.toFixed(2) ?? '–',
        rangeText({ share: callsLeft.median, low: callsLeft.q1, high: callsLeft.q3 }),
      ];
    }),
  };
}

function ratioText({ high, low, ratio }: Pick<RateRatioReport, 'ratio' | 'low' | 'high'>): string {
  if (ratio === null || low === null || high === null) return '–';
  return `×${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

function groupBlocks({ groups, negative, positive }: PartReport, configuration: number): readonly Block[] {
  if (groups.length < 2) return [];
  const compared = groups.reduce((sum, { advice }) => sum + (advice[configuration]?.atSameCall.comparedRuns ?? 0), 0);
  const judged = positive + negative;
  const shown = groups.slice(0, MAX_GROUPS);
  const rest = groups.length - shown.length;
  const folderChars = sharedFolderChars(groups.map(({ name }) => name));
  const names = distinctCuts(
    groups.map(({ name }) => name.slice(folderChars)),
    GROUP_CHARS,
  );
  return [
    linesOf([
      `${countOf(groups.length, 'group')} by source, agent and model. "At the same call" compares runs within a group: it covers ${countText(compared)} of ${countOf(judged, 'judged run')}, those of groups with both kinds.`,
    ]),
    {
      type: 'table',
      head: ['group', 'runs', 'positive', 'with advice', 'precision', 'false rate', 'at the same call'],
      left: [4, 5, 6],
      rows: shown.map(({ advice, ...group }, at) => {
        const figures = advice[configuration];
        return [
          names[at] ?? '',
          countText(group.runs),
          countText(group.positive),
          countText(figures?.runs ?? 0),
          figures === undefined ? '–' : rangeText(figures.precision),
          figures === undefined ? '–' : rangeText(figures.falseRate),
          figures === undefined ? '–' : ratioText(figures.atSameCall),
        ];
      }),
    },
    ...(rest === 0 ? [] : [linesOf([`${countOf(rest, 'smaller group')} in --json`])]),
  ];
}

function nameOf({ by, name }: Pick<SignalReport, 'by' | 'name'>): string {
  if (by === 'advice') return 'any advice';
  const shownName = printableCut(name, NAME_CHARS);
  return by === 'pattern' ? `pattern ${shownName}` : shownName;
}

function sharedFolderChars([first = '', ...others]: readonly string[]): number {
  let chars = first.lastIndexOf('/') + 1;
  while (chars > 0 && !others.every((name) => name.startsWith(first.slice(0, chars)))) {
    chars = first.slice(0, chars - 1).lastIndexOf('/') + 1;
  }
  return chars;
}

function stopEarlyBlocks({ policies }: StopEarlyReport): readonly Block[] {
  const title = heading('Stopping after a warning');
  if (policies.length === 0) return [title, linesOf(['no run has a stuck warning'])];
  const note =
    'The savings are exact: a recording shows a run up to the stop as it was. Starting the task again is not counted. Time, tokens and cost cover only the runs that record them.';
  return [
    title,
    {
      type: 'table',
      head: ['stop the run', 'runs stopped', 'calls saved', 'time', 'tokens', 'cost', 'successes lost'],
      left: [2, 3, 4, 5, 6],
      rows: policies.slice(0, MAX_POLICIES).flatMap(stopRows),
    },
    linesOf([styled('dim', note)]),
  ];
}

function stopRows({ byAfter, kind, level }: StopPolicyReport): readonly (readonly string[])[] {
  const warning = level === 'strong' ? 'strong warning' : 'warning';
  const name = kind === null ? `first stuck ${warning}` : `first ${warning} of ${printableCut(kind, NAME_CHARS)}`;
  return byAfter
    .filter(({ after }) => SHOWN_AFTER.has(after))
    .map(({ after, calls, costUsd, lostSuccesses: lost, ms, stoppedRuns, tokens }) => [
      after === 0 ? `at the ${name}` : `  ${after} calls later`,
      countText(stoppedRuns),
      rangeText(calls),
      rangeText(ms),
      rangeText(tokens),
      rangeText(costUsd),
      lost.of === 0 ? '–' : `${rangeText(lost)}, ${countText(lost.hits)} of ${countText(lost.of)}`,
    ]);
}

function comparisonBlocks(comparison: ComparisonReport, report: BacktestReport): readonly Block[] {
  const { byProvider, changedRuns, places } = comparison;
  const names = report.configurations.slice(0, 2).map(({ name }) => printableCut(name, 100));
  const placeLists = (['added', 'removed', 'moved'] as const).flatMap((kind) => {
    const shownPlaces = places[kind].slice(0, SHOWN_PLACES).map(({ run, provider, call, to }) => {
      const callRange = to === undefined ? `call ${countText(call)}` : `call ${countText(call)} → ${countText(to)}`;
      return `${callRange}  ${printableCut(provider, NAME_CHARS)}  ${printable(run)}`;
    });
    const hiddenCount = comparison[kind] - shownPlaces.length;
    const hiddenNote = hiddenCount > 0 ? [`and ${countText(hiddenCount)} more; --json lists the first 50`] : [];
    return shownPlaces.length === 0
      ? []
      : sectionOf(kind === 'added' ? 'new' : kind, linesOf([...shownPlaces, ...hiddenNote]));
  });
  return [
    heading(`${names.join(' → ')}: ${countOf(changedRuns, 'run')} changed`),
    {
      type: 'table',
      head: ['', 'unchanged', 'new', 'removed', 'moved'],
      rows: [{ ...comparison, provider: 'any advice' }, ...byProvider].map((one) => [
        printableCut(one.provider, NAME_CHARS),
        countText(one.unchanged),
        countText(one.added),
        countText(one.removed),
        countText(one.moved),
      ]),
    },
    ...placeLists,
  ];
}

function sweepBlocks({ field, signal, part, points }: SweepReport): readonly Block[] {
  const name = signal.by === 'advice' ? 'any advice' : `${signal.by} ${printableCut(signal.name, 80)}`;
  return [
    heading(`${field}: ${name}${part === 'all' ? '' : `, on ${part}`}`),
    {
      type: 'table',
      head: ['', 'value', 'times', 'runs', 'precision', 'recall', 'false rate', 'F1', ''],
      left: [8],
      rows: points.map((point, index) => [
        MARKS[index] ?? '',
        String(point.value),
        countText(point.fired),
        countText(point.runs),
        rangeText(point.precision),
        rangeText(point.recall),
        rangeText(point.falseRate),
        point.f1 === null ? '–' : point.f1.toFixed(3),
        point.raised === undefined ? '' : `${point.raised.path} raised to ${point.raised.value}`,
      ]),
    },
    { type: 'drawing', lines: plotLines(points) },
  ];
}

/** Precision upwards, recall to the right. `*` marks several points in one cell. */
function plotLines(points: readonly SweepPointReport[]): readonly Text[] {
  const knownPoints = points.flatMap(({ precision, recall }, index) =>
    precision.share === null || recall.share === null
      ? []
      : [{ mark: MARKS[index] ?? '*', x: recall.share, y: precision.share }],
  );
  if (knownPoints.length === 0) return [styled('dim', 'no plot: precision or recall is unknown')];
  const xs = rangeOf(knownPoints.map(({ x }) => x));
  const ys = rangeOf(knownPoints.map(({ y }) => y));
  const rows = Array.from({ length: PLOT_ROWS }, () => Array.from({ length: PLOT_COLUMNS }, () => ' '));
  for (const { mark, x, y } of knownPoints) {
    const row = rows[Math.round((1 - (y - ys.from) / (ys.to - ys.from)) * (PLOT_ROWS - 1))];
    const column = Math.round(((x - xs.from) / (xs.to - xs.from)) * (PLOT_COLUMNS - 1));
    if (row !== undefined) row[column] = row[column] === ' ' ? mark : '*';
  }
  const plot = rows.map((row, at): Text => {
    const side = at === 0 ? shareText(ys.to) : at === PLOT_ROWS - 1 ? shareText(ys.from) : '';
    return [styled('dim', `${side.padStart(8)} │`), row.join('').trimEnd()];
  });
  const [from, to] = [shareText(xs.from), `${shareText(xs.to)} recall`];
  return [
    styled('dim', 'precision'),
    ...plot,
    styled('dim', `${' '.repeat(9)}└${'─'.repeat(PLOT_COLUMNS)}`),
    styled('dim', `${' '.repeat(10)}${from}${to.padStart(PLOT_COLUMNS - from.length)}`),
  ];
}

function rangeOf(values: readonly number[]): { readonly from: number; readonly to: number } {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max(0.005, (high - low) * 0.1);
  return { from: Math.max(0, low - room), to: Math.min(1, high + room) };
}
