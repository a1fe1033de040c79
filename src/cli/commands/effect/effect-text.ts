import type { ShareReport } from '../../../backtest/backtest-report.ts';
import type { ArmFigures, EffectReport, ProviderEffect } from '../../../backtest/effect-report.ts';
import { countOf, countText, shareText } from '../../terminal/number-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printable, printableCut } from '../../terminal/printable.ts';

const NAME_CHARS = 80;
const BAR_CELLS = 20;

/** A report for a reader at a terminal. */
export function effectText(report: EffectReport, paint: Paint): string {
  const blocks = [
    `${paint('bold', report.paths.map(printable).join(', '))}\n${headText(report)}\n`,
    ...report.providers.map((provider) => providerText(provider, report.within, paint)),
    ...(report.providers.length === 0 ? ['No advice was worked out in these runs.\n'] : []),
    `${report.notes.map((note) => paint('dim', note)).join('\n')}\n`,
  ];
  return blocks.join('\n');
}

function headText({ runs }: EffectReport): string {
  const { delivered, leftOutAsOpen, leftOutForGap, read, shadow, steered, withheld } = runs;
  const drawn = delivered + withheld;
  return [
    `${countOf(read, 'run')}, ${countText(steered)} steered`,
    ...(shadow > 0 ? [`${countText(shadow)} in shadow mode`] : []),
    drawn === 0
      ? 'no experiment'
      : `experiment: ${countText(delivered)} told, ${countText(withheld)} withheld (with their subagents)`,
    ...(leftOutForGap > 0 ? [`${countText(leftOutForGap)} left out for a gap`] : []),
    ...(leftOutAsOpen > 0 ? [`${countText(leftOutAsOpen)} left out because they go on`] : []),
  ].join('; ');
}

function providerText({ comparison, pieces, provider }: ProviderEffect, within: number, paint: Paint): string {
  const { afterOther, delivered, high, low, ratio, reason, withheld } = comparison;
  const lines = [paint('bold', printableCut(provider, NAME_CHARS))];
  const hasArms = delivered !== null && withheld !== null && delivered.runs + withheld.runs > 0;
  if (hasArms) {
    lines.push(`  left the pattern within ${countOf(within, 'call')} of the first advice`);
    lines.push(`    delivered  ${clearedText(delivered.cleared)}`, `    withheld   ${clearedText(withheld.cleared)}`);
  }
  const interval = low === null || high === null ? '' : ` [${ratioText(low)}, ${ratioText(high)}]`;
  lines.push(
    ratio === null
      ? `  ${paint('yellow', reason)}`
      : `  ratio ${paint('bold', ratioText(ratio))}${interval}: ${reason}`,
  );
  if (afterOther > 0) lines.push(`  not counted: ${countOf(afterOther, 'run')} where other advice came first`);
  if (hasArms) {
    lines.push(...secondText(delivered, withheld).map((line) => paint('dim', line)));
  }
  lines.push(`  all pieces: ${piecesText(pieces)}`);
  return `${lines.join('\n')}\n`;
}

/** What else followed, side by side. */
function secondText(delivered: ArmFigures, withheld: ArmFigures): readonly string[] {
  const rows: readonly (readonly [string, (arm: ArmFigures) => string])[] = [
    ['reached the agent', ({ reached, runs }) => `${countText(reached)} of ${countText(runs)}`],
    ['calls until left, median (quartiles)', ({ callsToClear }) => quartilesText(callsToClear)],
    [
      'errors in the calls that followed',
      ({ calls, errors }) => `${countText(errors)} of ${countText(calls)} (${shareText(errors, calls)})`,
    ],
    [
      'cost of those calls, a run',
      ({ costUsd, costKnown }) =>
        costUsd === null ? '–' : `$${costUsd.toPrecision(3)} (${countText(costKnown)} known)`,
    ],
    ['ended before so many calls', ({ endedBefore }) => countText(endedBefore)],
    ['answered: accepted, rejected, noted', ({ accepted, noted, rejected }) => `${accepted}, ${rejected}, ${noted}`],
  ];
  const cells = [['', 'delivered', 'withheld'], ...rows.map(([name, of]) => [name, of(delivered), of(withheld)])];
  const widths = [0, 1].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells.map((row) => `    ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}

function clearedText({ high, hits, low, of, share }: ShareReport): string {
  const counts = `${countText(hits)} of ${countText(of)}`.padEnd(12);
  if (share === null || low === null || high === null) return counts.trimEnd();
  const cells = Math.round(share * BAR_CELLS);
  const bar = '█'.repeat(cells) + '░'.repeat(BAR_CELLS - cells);
  return `${counts} ${bar} ${shareText(hits, of).padStart(5)} [${shareText(low, 1)}, ${shareText(high, 1)}]`;
}

function quartilesText({ median, q1, q3 }: ArmFigures['callsToClear']): string {
  return median === null || q1 === null || q3 === null ? '–' : `${median} (${q1}–${q3})`;
}

function piecesText({ delivered, shadowed, undelivered, unsettled, withheld }: ProviderEffect['pieces']): string {
  return [
    `${countText(delivered)} delivered`,
    ...(withheld > 0 ? [`${countText(withheld)} withheld`] : []),
    ...(shadowed > 0 ? [`${countText(shadowed)} in shadow mode`] : []),
    ...(undelivered > 0 ? [`${countText(undelivered)} not delivered`] : []),
    ...(unsettled > 0 ? [`${countText(unsettled)} of which nothing is on record`] : []),
  ].join(', ');
}

function ratioText(value: number): string {
  return value.toFixed(2);
}
