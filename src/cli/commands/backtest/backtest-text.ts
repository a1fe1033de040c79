import { callNumber } from '../../../base/call-number.ts';
import type {
  BacktestReport,
  ComparisonReport,
  PartReport,
  QuartilesReport,
  RateRatioReport,
  ShareReport,
  SignalReport,
} from '../../../backtest/backtest-report.ts';
import { barText } from '../../terminal/bar-text.ts';
import { columnsText } from '../../terminal/columns-text.ts';
import { countOf, countText } from '../../../base/number-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printableCut } from '../../terminal/printable.ts';
import { stopEarlyText } from './stop-early-text.ts';
import { sweepText } from './sweep-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const NAME_CHARS = 48;
const BAR_CELLS = 6;
/** Minimum terminal width for bars. */
const BAR_WIDTH = 110;
const SHOWN_PLACES = 10;

export function backtestText(report: BacktestReport, terminal: Terminal, withDetails: boolean): string {
  const { paint, width } = terminal;
  const draw = { paint, bars: width >= BAR_WIDTH };
  const blocks = [headText(report, paint)];
  for (const part of report.parts) {
    if (report.sweep === undefined) blocks.push(...partText(part, report, draw, withDetails));
  }
  if (report.comparison !== undefined) blocks.push(comparisonText(report.comparison, report, paint));
  if (report.sweep !== undefined) blocks.push(sweepText(report.sweep, paint));
  if (report.gates.length > 0) {
    const lines = report.gates.map(({ passed, reason }) =>
      passed ? paint('green', `  kept    ${reason}`) : paint('red', `  broken  ${reason}`),
    );
    blocks.push(`${[paint('bold', 'gates'), ...lines].join('\n')}\n`);
  }
  blocks.push(report.notes.map((note) => paint('dim', `${printableCut(note, 400)}\n`)).join(''));
  return blocks.join('\n');
}

interface Drawing {
  readonly paint: Paint;
  readonly bars: boolean;
}

function headText({ input, truth, configurations }: BacktestReport, paint: Paint): string {
  const names = truth === 'labels' ? ['stuck', 'ok'] : ['failed', 'succeeded'];
  const judgedCounts = [
    `${countText(input.positive)} ${names[0]}`,
    `${countText(input.negative)} ${names[1]}`,
    `${countText(input.unlabelled)} unlabelled`,
  ];
  const heads = configurations.map(({ name, hash }) => `configuration ${printableCut(name, 100)} (${hash})\n`);
  const counts = `${countOf(input.runs, 'run')}, ${countOf(input.calls, 'call')}`;
  return `${paint('bold', counts)}: ${judgedCounts.join(', ')}\n${heads.join('')}`;
}

function partText(
  part: PartReport,
  { configurations, parts }: BacktestReport,
  draw: Drawing,
  withDetails: boolean,
): readonly string[] {
  const head =
    parts.length === 1
      ? ''
      : `part ${part.name}: ${countOf(part.runs, 'run')} of ${countOf(part.tasks, 'task')}, ${countText(part.positive)} positive, ${countText(part.negative)} negative\n`;
  return part.byConfiguration.map((figures, index) => {
    const name = configurations.length === 1 ? '' : `under ${printableCut(configurations[index]?.name ?? '', 100)}\n`;
    const rows = [figures.advice, ...figures.providers, ...(withDetails ? figures.details : []), ...figures.patterns];
    const stops = figures.stopEarly === undefined ? '' : `\n${stopEarlyText(figures.stopEarly, draw.paint)}`;
    return draw.paint('bold', head + name) + signalTable(rows, draw) + stops;
  });
}

const HEAD = ['', 'times', 'runs', 'precision', 'recall', 'false rate', 'F1', 'calls left', 'at the same call'];

function signalTable(signals: readonly SignalReport[], { paint, bars }: Drawing): string {
  const rows = signals.map((signal) => [
    nameOf(signal),
    countText(signal.fired),
    countText(signal.runs),
    shareCell(signal.precision, bars),
    shareCell(signal.recall, bars),
    shareCell(signal.falseRate, false),
    signal.f1 === null ? '–' : signal.f1.toFixed(2),
    leftCell(signal.callsLeft),
    ratioCell(signal.atSameCall),
  ]);
  const [head = '', ...lines] = columnsText([HEAD, ...rows], [3, 4, 5, 7, 8]);
  return `${[paint('dim', head), ...lines].join('\n')}\n`;
}

function nameOf({ by, name, pattern, point }: SignalReport): string {
  const shownName = printableCut(name, NAME_CHARS);
  if (by === 'advice') return 'any advice';
  if (by === 'pattern') return `pattern ${shownName}`;
  if (by === 'provider') return shownName;
  return `  ${shownName}: ${printableCut(pattern ?? 'no pattern', NAME_CHARS)} at ${point ?? ''}`;
}

/** Formats a share, such as `74 % ████▍ 71–76`; `–` if unknown. */
function shareCell({ share, low, high }: ShareReport, withBar: boolean): string {
  if (share === null || low === null || high === null) return '–';
  const bar = withBar ? `${barText(share, BAR_CELLS)} ` : '';
  return `${percentText(share).padStart(3)} % ${bar}${percentText(low)}–${percentText(high)}`;
}

function leftCell({ q1, median, q3 }: QuartilesReport): string {
  if (q1 === null || median === null || q3 === null) return '–';
  return `${percentText(median).padStart(2)} % (${percentText(q1)}–${percentText(q3)})`;
}

function ratioCell({ ratio, low, high }: RateRatioReport): string {
  if (ratio === null || low === null || high === null) return '–';
  return `×${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

function percentText(share: number): string {
  return String(Math.round(100 * share));
}

function comparisonText(comparison: ComparisonReport, report: BacktestReport, paint: Paint): string {
  const { unchanged, added, removed, moved, changedRuns, byProvider, places } = comparison;
  const [first, second] = report.configurations;
  const head = `${printableCut(first?.name ?? '', 100)} → ${printableCut(second?.name ?? '', 100)}`;
  const rows = [
    ['', 'unchanged', 'new', 'removed', 'moved'],
    ...[{ provider: 'any advice', unchanged, added, removed, moved }, ...byProvider].map((one) => [
      printableCut(one.provider, NAME_CHARS),
      countText(one.unchanged),
      countText(one.added),
      countText(one.removed),
      countText(one.moved),
    ]),
  ];
  const [names = '', ...lines] = columnsText(rows, []);
  const lists = (['added', 'removed', 'moved'] as const).flatMap((kind) => {
    const list = places[kind];
    if (list.length === 0) return [];
    const shownPlaces = list.slice(0, SHOWN_PLACES).map(({ run, provider, call, to }) => {
      const callRange = to === undefined ? `call ${callNumber(call)}` : `call ${callNumber(call)} → ${callNumber(to)}`;
      return `  ${callRange}  ${printableCut(provider, NAME_CHARS)}  ${printableCut(run, 100)}`;
    });
    const hiddenCount = comparison[kind] - shownPlaces.length;
    const hiddenNote = hiddenCount > 0 ? [`  and ${countText(hiddenCount)} more; --json lists the first 50`] : [];
    return [['', kind === 'added' ? 'new' : kind], shownPlaces, hiddenNote].flat();
  });
  const runs = `${countOf(changedRuns, 'run')} changed`;
  return `${[paint('bold', `${head}: ${runs}`), paint('dim', names), ...lines, ...lists].join('\n')}\n`;
}
