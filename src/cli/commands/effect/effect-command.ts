import { present } from '../../../core/base/json.ts';
import { effect } from '../../../lab/effect.ts';
import { terminalText } from '../../document/write-document.ts';
import { sourcesNamed, pricesInForce } from '../../runs/open-store.ts';
import { jsonLine, printable, printableCut } from '../../../core/base/printable.ts';
import { wholeOption } from '../../terminal/option-values.ts';
import { Problems } from '../../runs/problems.ts';
import { Progress } from '../../terminal/progress.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import {
  MIN_RUNS_AN_ARM,
  type ArmFigures,
  type EffectExperiment,
  type EffectOutcome,
  type EffectReport,
} from '../../../lab/effect-row.ts';
import { countOf, countText, shareText, usdText } from '../../../core/base/number-text.ts';
import { inWords } from '../../../core/records/words.ts';
import {
  barText,
  heading,
  linesOf,
  sectionOf,
  styled,
  type Block,
  type Document,
  type Text,
} from '../../document/document.ts';

const NAME_CHARS = 80;

function effectDocument(report: EffectReport): Document {
  const { experiments, notes, paths, providers } = report;
  return {
    title: paths.join(', '),
    blocks: [
      linesOf([headText(report)]),
      ...experiments.flatMap((experiment) => experimentBlocks(experiment, report)),
      ...(providers.length === 0
        ? [linesOf(['These runs have no advice.'])]
        : sectionOf('All advice', adviceTable(providers))),
      linesOf(notes.map((note) => styled('dim', note))),
    ],
  };
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

function experimentBlocks(experiment: EffectExperiment, report: EffectReport): readonly Block[] {
  const { about, balanced, name, outcome, advised, unknown, withheld } = experiment;
  const shownName = printableCut(about === 'pattern' ? inWords('pattern', name) : name, NAME_CHARS);
  const isCompared = advised !== null && withheld !== null;
  const [first = '', ...rest] = verdictLines(experiment, report);
  const conclusion: readonly Text[] = [
    styled('strong', first),
    ...rest,
    ...(balanced
      ? []
      : [
          styled(
            'bad',
            'The arms are too uneven to be chance: records of one arm are missing, so do not trust this figure.',
          ),
        ]),
    ...(unknown > 0 ? [`not counted: ${countText(unknown)} because the run is going on or records no outcome`] : []),
  ];
  return [
    heading(`${shownName}: ${outcomeText(outcome, report.within)}`),
    ...(isCompared ? [armTable(advised, withheld, about === 'run' ? undefined : outcome)] : []),
    linesOf(conclusion),
  ];
}

function outcomeText(outcome: EffectOutcome, within: number): string {
  if (outcome === 'succeeded') return 'the run succeeded';
  return outcome === 'in-time' ? 'the run ended before its deadline' : `left within ${countOf(within, 'call')}`;
}

function verdictLines(experiment: EffectExperiment, { worthwhile }: EffectReport): readonly string[] {
  const { difference, high, low, onceHigh, onceLow, power, status, advised, withheld } = experiment;
  const smallestDifference = pointsText(worthwhile, false);
  if (difference === null || low === null || high === null || onceLow === null || onceHigh === null) {
    const runs = `${countText(advised?.runs ?? 0)} runs were advised, ${countText(withheld?.runs ?? 0)} were not`;
    const lack =
      status === 'not-drawn'
        ? 'not compared: no advice was withheld'
        : `too little data: ${runs}; each needs ${MIN_RUNS_AN_ARM}`;
    return [lack, powerText(power)];
  }
  const words = {
    helps: `Advice helps: of 100, about ${percentNumber(difference)} more end well with advice.`,
    harms: `Advice harms: of 100, about ${percentNumber(-difference)} fewer end well with advice. Switch it off.`,
    'no-difference': `Advice makes no difference of ${smallestDifference} or more: it costs tokens and changes nothing that matters.`,
    undecided: `Not decided: both no difference and one of ${smallestDifference} fit these runs. Let the experiment go on.`,
  };
  return [
    `difference ${pointsText(difference)} points [${pointsText(low)} to ${pointsText(high)}]`,
    `[${pointsText(onceLow)} to ${pointsText(onceHigh)}] for a single look at a number of runs chosen beforehand`,
    ...(status === 'not-drawn' || status === 'too-little-data' ? [] : [words[status]]),
    ...(status === 'undecided' ? [powerText(power)] : []),
  ];
}

function powerText(power: EffectExperiment['power']): string {
  const knownPower = power.flatMap(({ difference, moreRuns }) =>
    moreRuns === null
      ? []
      : [
          `${countText(moreRuns < 100 ? moreRuns : Number(moreRuns.toPrecision(2)))} to see a difference of ${pointsText(difference, false)}`,
        ],
  );
  if (knownPower.length === 0) return 'the number of runs needed is unknown: no run has come to this yet';
  return `further runs like these: about ${knownPower.join(', ')}`;
}

function percentNumber(share: number): number {
  return Math.round(100 * share);
}

/** Formats a difference in percentage points, such as `+48` or, unsigned, `48 points`. */
function pointsText(share: number, signed = true): string {
  const points = percentNumber(share);
  return `${signed && points > 0 ? '+' : ''}${points === 0 ? 0 : points}${signed ? '' : ' points'}`;
}

function armTable(advised: ArmFigures, withheld: ArmFigures, outcome: EffectOutcome | undefined): Block {
  const rows: (readonly [string, (arm: ArmFigures) => string])[] = [['ended well', goodText]];
  if (outcome !== undefined && advised.units + withheld.units > 0) {
    rows.push(
      ['runs', ({ runs }) => countText(runs)],
      ['advice reached the agent', ({ reached, units }) => `${countText(reached)} of ${countText(units)}`],
      ['next call repeated or failed alike', ({ repeated, units }) => shareText(repeated, units)],
    );
    if (outcome === 'left-pattern') {
      rows.push(
        [
          'calls until left, median (quartiles)',
          ({ callsToLeave: { median, q1, q3 } }) =>
            median === null || q1 === null || q3 === null ? '–' : `${median} (${q1}–${q3})`,
        ],
        ['ended earlier without leaving it', ({ endedBefore }) => countText(endedBefore)],
      );
    }
    rows.push(
      [
        'failures in following calls',
        ({ calls, errors }) => `${countText(errors)} of ${countText(calls)} (${shareText(errors, calls)})`,
      ],
      [
        'cost of those calls',
        ({ costUsd, costKnown }) =>
          costUsd === null ? 'not known' : `${usdText(costUsd)} (${countText(costKnown)} known)`,
      ],
      ['accepted, rejected, noted', ({ accepted, noted, rejected }) => `${accepted}, ${rejected}, ${noted}`],
    );
  }
  return {
    type: 'table',
    head: ['', 'advised', 'withheld'],
    left: [1, 2],
    rows: rows.map(([name, of]) => [name, of(advised), of(withheld)]),
  };
}

function goodText({ good: { hits, of, share } }: ArmFigures): string {
  const counts = `${countText(hits)} of ${countText(of)}`;
  if (share === null) return counts;
  return `${counts} ${barText(share)} ${shareText(share)}`;
}

function adviceTable(providers: EffectReport['providers']): Block {
  return {
    type: 'table',
    left: [1],
    rows: providers.map(({ pieces, provider }) => {
      const { delivered, shadowed, undelivered, unsettled, withheld } = pieces;
      const parts = [
        `${countText(delivered)} delivered`,
        ...(withheld > 0 ? [`${countText(withheld)} withheld`] : []),
        ...(shadowed > 0 ? [`${countText(shadowed)} in shadow mode`] : []),
        ...(undelivered > 0 ? [`${countText(undelivered)} not delivered`] : []),
        ...(unsettled > 0 ? [`${countText(unsettled)} without a delivery record`] : []),
      ];
      return [printableCut(provider, NAME_CHARS), parts.join(', ')];
    }),
  };
}

const MAX_WITHIN = 1_000;
const MAX_POINTS = 100;

export async function effectCommand(
  paths: readonly string[],
  options: { readonly within?: string; readonly worthwhile?: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const maxCalls = wholeOption('--within', options.within, [1, MAX_WITHIN]);
  const points = wholeOption('--worthwhile', options.worthwhile, [1, MAX_POINTS]);
  const sources = await sourcesNamed(paths, terminal);
  const problems = new Problems(terminal);
  const progress = new Progress(terminal);
  const report = await effect(sources, {
    prices: pricesInForce(),
    ...present({ within: maxCalls, worthwhile: points === undefined ? undefined : points / 100 }),
    onRun: () => progress.run(),
    onProblem: (problem) => problems.faultIn(problem),
  });
  progress.end();
  problems.endSource();
  if (report.runs.read === 0) {
    if (!problems.any) terminal.complain(`coxswain: ${report.paths.map(printable).join(', ')}: no run found`);
    return 1;
  }
  await terminal.write(options.json === true ? jsonLine(report) : terminalText(effectDocument(report), terminal));
  return problems.any ? 1 : 0;
}
