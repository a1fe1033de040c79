import type { ArmFigures, EffectExperiment, EffectOutcome, EffectReport } from '../../../backtest/effect-report.ts';
import { MIN_RUNS_AN_ARM } from '../../../backtest/effect-report.ts';
import { countOf, countText } from '../../../base/number-text.ts';
import { shareText } from '../../terminal/number-text.ts';
import { inWords } from '../../../records/words.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printable, printableCut } from '../../terminal/printable.ts';

const NAME_CHARS = 80;
const BAR_CELLS = 20;

export function effectText(report: EffectReport, paint: Paint): string {
  const { experiments, notes, paths, providers } = report;
  const blocks = [
    `${paint('bold', paths.map(printable).join(', '))}\n${headText(report)}\n`,
    ...experiments.map((experiment) => experimentText(experiment, report, paint)),
    ...(providers.length === 0
      ? ['These runs have no advice.\n']
      : [`all advice\n${piecesLines(providers).join('\n')}\n`]),
    `${notes.map((note) => paint('dim', note)).join('\n')}\n`,
  ];
  return blocks.join('\n');
}

function headText({ declared, runs, within }: EffectReport): string {
  const { drawnByEpisode, drawnByRun, leftOutForGap, read, shadow, steered } = runs;
  const isDrawn = drawnByEpisode + drawnByRun > 0;
  return [
    `${countOf(read, 'run')}, ${countText(steered)} steered`,
    ...(shadow > 0 ? [`${countText(shadow)} in shadow mode`] : []),
    ...(isDrawn ? [] : ['no experiment']),
    ...(drawnByEpisode > 0 ? [`${countText(drawnByEpisode)} in an experiment that draws episodes`] : []),
    ...(drawnByRun > 0 ? [`${countText(drawnByRun)} in an experiment that draws runs`] : []),
    ...(isDrawn && !declared ? [`${countOf(within, 'call')} were not declared beforehand: only a hint`] : []),
    ...(leftOutForGap > 0 ? [`${countText(leftOutForGap)} left out because of lost records`] : []),
  ].join('; ');
}

function experimentText(experiment: EffectExperiment, report: EffectReport, paint: Paint): string {
  const { about, balanced, name, outcome, told, unknown, withheld } = experiment;
  const shownName = about === 'pattern' ? inWords('pattern', name) : name;
  const title = `${printableCut(shownName, NAME_CHARS)}: ${outcomeText(outcome, report.within)}`;
  const lines = [paint('bold', title)];
  if (told !== null && withheld !== null) {
    lines.push(`  advised   ${goodText(told)}`, `  withheld  ${goodText(withheld)}`);
  }
  lines.push(...verdictLines(experiment, report).map((line, index) => `  ${index === 0 ? paint('bold', line) : line}`));
  if (!balanced) {
    const problem =
      'The arms are too uneven to be chance: records of one arm are missing, so do not trust this figure.';
    lines.push(`  ${paint('red', problem)}`);
  }
  if (unknown > 0) lines.push(`  not counted: ${countText(unknown)} because the run is going on or records no outcome`);
  if (about !== 'run' && told !== null && withheld !== null && told.units + withheld.units > 0) {
    lines.push(...secondText(told, withheld, outcome).map((line) => paint('dim', line)));
  }
  return `${lines.join('\n')}\n`;
}

function outcomeText(outcome: EffectOutcome, within: number): string {
  if (outcome === 'succeeded') return 'the run succeeded';
  return outcome === 'in-time' ? 'the run ended before its deadline' : `left within ${countOf(within, 'call')}`;
}

/** Formats the results and their interpretation. */
function verdictLines(experiment: EffectExperiment, { worthwhile }: EffectReport): readonly string[] {
  const { difference, high, low, onceHigh, onceLow, power, status, told, withheld } = experiment;
  const smallestDifference = pointsText(worthwhile, false);
  if (difference === null || low === null || high === null || onceLow === null || onceHigh === null) {
    const runs = `${countText(told?.runs ?? 0)} runs were advised, ${countText(withheld?.runs ?? 0)} were not`;
    const lack =
      status === 'not-drawn'
        ? 'not compared: no advice was withheld'
        : `too little data: ${runs}; each needs ${MIN_RUNS_AN_ARM}`;
    return [lack, powerText(power)];
  }
  const head = `difference ${pointsText(difference)} points [${pointsText(low)} to ${pointsText(high)}]`;
  const words = {
    helps: `Advice helps: of 100, about ${percentNumber(difference)} more end well with advice.`,
    harms: `Advice harms: of 100, about ${percentNumber(-difference)} fewer end well with advice. Switch it off.`,
    'no-difference': `Advice makes no difference of ${smallestDifference} or more: it costs tokens and changes nothing that matters.`,
    undecided: `Not decided: both no difference and one of ${smallestDifference} fit these runs. Let the experiment go on.`,
  };
  const meaning = status === 'not-drawn' || status === 'too-little-data' ? [] : [words[status]];
  const singleLook = `[${pointsText(onceLow)} to ${pointsText(onceHigh)}] for a single look at a number of runs chosen beforehand`;
  return [head, singleLook, ...meaning, ...(status === 'undecided' ? [powerText(power)] : [])];
}

function powerText(power: EffectExperiment['power']): string {
  const knownPower = power.flatMap(({ difference, moreRuns }) =>
    moreRuns === null
      ? []
      : [`${countText(twoDigits(moreRuns))} to see a difference of ${pointsText(difference, false)}`],
  );
  if (knownPower.length === 0) return 'the number of runs needed is unknown: no run has come to this yet';
  return `further runs like these: about ${knownPower.join(', ')}`;
}

function twoDigits(value: number): number {
  return value < 100 ? value : Number(value.toPrecision(2));
}

function percentNumber(share: number): number {
  return Math.round(100 * share);
}

/** Formats a difference in percentage points, such as `+48 points`. */
function pointsText(share: number, signed = true): string {
  const points = Math.round(100 * share);
  return `${signed && points > 0 ? '+' : ''}${points === 0 ? 0 : points}${signed ? '' : ' points'}`;
}

/** Formats the secondary results of both arms. */
function secondText(told: ArmFigures, withheld: ArmFigures, outcome: EffectOutcome): readonly string[] {
  const rows: readonly (readonly [string, (arm: ArmFigures) => string])[] = [
    ['runs', ({ runs }) => countText(runs)],
    ['advice reached the agent', ({ reached, units }) => `${countText(reached)} of ${countText(units)}`],
    ['next call repeated or failed alike', ({ repeated, units }) => shareText(repeated, units)],
    ...(outcome === 'left-pattern'
      ? ([
          ['calls until left, median (quartiles)', ({ callsToLeave }) => quartilesText(callsToLeave)],
          ['ended earlier without leaving it', ({ endedBefore }) => countText(endedBefore)],
        ] satisfies (readonly [string, (arm: ArmFigures) => string])[])
      : []),
    [
      'failures in following calls',
      ({ calls, errors }) => `${countText(errors)} of ${countText(calls)} (${shareText(errors, calls)})`,
    ],
    [
      'cost of those calls',
      ({ costUsd, costKnown }) =>
        costUsd === null ? 'not known' : `$${costUsd.toPrecision(3)} (${countText(costKnown)} known)`,
    ],
    ['accepted, rejected, noted', ({ accepted, noted, rejected }) => `${accepted}, ${rejected}, ${noted}`],
  ];
  const cells = [['', 'advised', 'withheld'], ...rows.map(([name, of]) => [name, of(told), of(withheld)])];
  const widths = [0, 1].map((column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells.map((row) => `    ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}

function goodText({ good: { hits, of, share } }: ArmFigures): string {
  const counts = `${countText(hits)} of ${countText(of)}`.padEnd(14);
  if (share === null) return counts.trimEnd();
  const cells = Math.round(share * BAR_CELLS);
  return `${counts} ${'█'.repeat(cells)}${'░'.repeat(BAR_CELLS - cells)} ${shareText(hits, of).padStart(5)}`;
}

function quartilesText({ median, q1, q3 }: ArmFigures['callsToLeave']): string {
  return median === null || q1 === null || q3 === null ? '–' : `${median} (${q1}–${q3})`;
}

function piecesLines(providers: EffectReport['providers']): readonly string[] {
  const nameWidth = Math.max(...providers.map(({ provider }) => Math.min(NAME_CHARS, provider.length)));
  return providers.map(({ pieces, provider }) => {
    const { delivered, shadowed, undelivered, unsettled, withheld } = pieces;
    const parts = [
      `${countText(delivered)} delivered`,
      ...(withheld > 0 ? [`${countText(withheld)} withheld`] : []),
      ...(shadowed > 0 ? [`${countText(shadowed)} in shadow mode`] : []),
      ...(undelivered > 0 ? [`${countText(undelivered)} not delivered`] : []),
      ...(unsettled > 0 ? [`${countText(unsettled)} without a delivery record`] : []),
    ];
    return `  ${printableCut(provider, NAME_CHARS).padEnd(nameWidth)}  ${parts.join(', ')}`;
  });
}
