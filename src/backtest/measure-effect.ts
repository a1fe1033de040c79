import type { AdviceArm, AdviceOutcome } from '../run-view/advice-outcome.ts';
import {
  EFFECT_REPORT_VERSION,
  MAX_INTERVAL_FACTOR,
  MIN_CLEARED_AN_ARM,
  MIN_RUNS_AN_ARM,
  type ArmFigures,
  type EffectComparison,
  type EffectReport,
} from './effect-report.ts';
import type { EffectRow } from './effect-row.ts';
import { effectTrees, type EffectTree } from './effect-trees.ts';
import { riskRatioOf } from './risk-ratio.ts';
import { quartilesOf, rounded, shareOf } from './statistics.ts';

/** What the rows are of. */
export interface EffectInput {
  readonly paths: readonly string[];
  readonly within: number;
  readonly rows: readonly EffectRow[];
}

/** A provider's first word in a tree. */
interface Case {
  readonly withheld: boolean;
  readonly stratum: string;
  readonly outcome: AdviceOutcome;
}

/**
 * What the rows of runs say about advice: per provider one comparison of arms that were drawn, where there are any.
 *
 * Cost: O(n log n) in the runs. The order of the rows does not matter.
 */
export function measureEffect({ paths, within, rows }: EffectInput): EffectReport {
  const sorted = [...rows].sort((left, right) => order(left.id, right.id));
  const trees = effectTrees(sorted);
  const spoke = trees.filter(({ speaking }) => speaking !== undefined);
  const withGap = spoke.filter(({ speaking }) => speaking?.gap === true);
  const isOpen = ({ speaking }: EffectTree): boolean =>
    speaking?.ended === false && (speaking.first?.pieces ?? []).some(({ callsLeft }) => callsLeft < within);
  const open = spoke.filter((tree) => tree.speaking?.gap === false && isOpen(tree));
  const used = spoke.filter((tree) => tree.speaking?.gap === false && !isOpen(tree));
  const steered = sorted.filter(({ steering }) => steering !== null);
  const names = [...new Set(sorted.flatMap(({ pieces }) => pieces.map(({ provider }) => provider)))].sort(order);
  return {
    version: EFFECT_REPORT_VERSION,
    paths,
    within,
    runs: {
      read: rows.length,
      steered: steered.length,
      shadow: steered.filter(({ steering }) => steering?.mode === 'shadow').length,
      delivered: trees.filter(({ withheld }) => !withheld).length,
      withheld: trees.filter(({ withheld }) => withheld).length,
      leftOutForGap: withGap.length,
      leftOutAsOpen: open.length,
    },
    providers: names.map((provider) => ({
      provider,
      pieces: countPieces(sorted, provider),
      comparison: compare(provider, { trees: used, drawn: trees.length > 0, within }),
    })),
    notes: notesOf(trees.length > 0, within),
  };
}

function compare(
  provider: string,
  { trees, drawn, within }: { readonly trees: readonly EffectTree[]; readonly drawn: boolean; readonly within: number },
): EffectComparison {
  const none = { ratio: null, low: null, high: null };
  if (!drawn) {
    const reason = 'no run was drawn into an experiment: delivered and withheld advice cannot be compared; set holdout';
    return { status: 'not-randomised', reason, delivered: null, withheld: null, ...none, strata: 0, afterOther: 0 };
  }
  const cases = trees.flatMap(({ speaking, stratum, withheld }): readonly Case[] =>
    (speaking?.first?.pieces ?? [])
      .filter(({ providerName }) => providerName === provider)
      .map((outcome) => ({ withheld, stratum, outcome })),
  );
  const isWithheld = (one: Case): boolean => one.withheld;
  const strata = [...new Set(cases.map(({ stratum }) => stratum))].sort(order).map((name) => {
    const inside = cases.filter(({ stratum }) => stratum === name);
    return {
      treated: countCleared(
        inside.filter((one) => !one.withheld),
        within,
      ),
      control: countCleared(inside.filter(isWithheld), within),
    };
  });
  // A stratum with one arm compares nothing, so it may not help to reach the minimum either.
  const both = strata.filter(({ treated, control }) => treated.of > 0 && control.of > 0);
  const found = riskRatioOf(both);
  const lack = cases.length === 0 ? NEVER_FIRST : lackOf(both, found);
  const figures = {
    delivered: armOf(
      cases.filter((one) => !one.withheld),
      within,
    ),
    withheld: armOf(cases.filter(isWithheld), within),
    ...(found === undefined || lack !== undefined ? none : found),
    strata: both.length,
    afterOther: trees.filter(({ later }) => later.has(provider)).length,
  };
  if (found === undefined || lack !== undefined) {
    return { status: 'too-little-data', reason: lack ?? 'too little data', ...figures };
  }
  return { status: 'compared', reason: verdict(found, within), ...figures };
}

const NEVER_FIRST = 'nothing to compare: it never was the first to speak, of a pattern that was flagged';

type Strata = readonly { readonly treated: Counted; readonly control: Counted }[];

interface Counted {
  readonly events: number;
  readonly of: number;
}

function lackOf(
  strata: Strata,
  found: { readonly low: number; readonly high: number } | undefined,
): string | undefined {
  const sum = (pick: (stratum: Strata[number]) => number): number =>
    strata.reduce((total, stratum) => total + pick(stratum), 0);
  const told = sum(({ treated }) => treated.of);
  const kept = sum(({ control }) => control.of);
  if (told < MIN_RUNS_AN_ARM || kept < MIN_RUNS_AN_ARM) {
    return `too little data: ${told} runs delivered, ${kept} withheld; each needs ${MIN_RUNS_AN_ARM}`;
  }
  const left = sum(({ treated }) => treated.events);
  const leftAlone = sum(({ control }) => control.events);
  if (left < MIN_CLEARED_AN_ARM || leftAlone < MIN_CLEARED_AN_ARM) {
    const counts = `${left} delivered, ${leftAlone} withheld`;
    return `too little data: runs that left the pattern are ${counts}; each needs ${MIN_CLEARED_AN_ARM}`;
  }
  if (found === undefined || found.high / found.low > MAX_INTERVAL_FACTOR) {
    return `too little data: the interval spans more than a factor of ${MAX_INTERVAL_FACTOR}`;
  }
  return undefined;
}

function verdict({ low, high }: { readonly low: number; readonly high: number }, within: number): string {
  if (low > 1) return `runs that were told left the pattern within ${within} calls more often`;
  if (high < 1) return `runs that were told left the pattern within ${within} calls less often`;
  return 'no difference is shown: the interval holds 1';
}

function armOf(cases: readonly Case[], within: number): ArmFigures {
  const outcomes = cases.map(({ outcome }) => outcome);
  const sum = (pick: (outcome: AdviceOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  const answers = (wanted: AdviceOutcome['acknowledged']): number =>
    outcomes.filter(({ acknowledged }) => acknowledged === wanted).length;
  const toClear = outcomes.flatMap(({ callsToClear }) => (callsToClear === undefined ? [] : [callsToClear]));
  const { q1, median, q3 } = quartilesOf(toClear);
  const costs = outcomes.flatMap(({ followingCostUsd }) => (followingCostUsd === undefined ? [] : [followingCostUsd]));
  const { events, of } = countCleared(cases, within);
  const isOver = ({ callsLeft, callsToClear }: AdviceOutcome): boolean =>
    callsLeft < within && callsToClear === undefined;
  return {
    runs: outcomes.length,
    reached: outcomes.filter(({ arm }) => arm === 'delivered').length,
    cleared: shareOf(events, of),
    endedBefore: outcomes.filter(isOver).length,
    callsToClear: { q1, median, q3 },
    calls: sum(({ followingCalls }) => followingCalls),
    errors: sum(({ followingErrors }) => followingErrors),
    costUsd: costs.length === 0 ? null : rounded(costs.reduce((total, cost) => total + cost, 0) / costs.length),
    costKnown: costs.length,
    accepted: answers('accepted'),
    rejected: answers('rejected'),
    noted: answers('noted'),
  };
}

/** Runs that left the pattern in time; one that ended before so many calls without leaving it did not. */
function countCleared(cases: readonly Case[], within: number): Counted {
  const events = cases.filter(({ outcome: { callsToClear } }) => callsToClear !== undefined && callsToClear <= within);
  return { events: events.length, of: cases.length };
}

function countPieces(rows: readonly EffectRow[], provider: string): Readonly<Record<AdviceArm, number>> {
  const counts = { delivered: 0, withheld: 0, shadowed: 0, undelivered: 0, unsettled: 0 };
  for (const { pieces } of rows) {
    for (const piece of pieces) if (piece.provider === provider) counts[piece.arm] += piece.count;
  }
  return counts;
}

function notesOf(drawn: boolean, within: number): readonly string[] {
  if (!drawn) {
    return [
      'No run was drawn into an experiment, so nothing is compared: runs in which advice was given differ from others in why it was given.',
    ];
  }
  return [
    `Compared is the first moment of a run at which anything was said or withheld: whether the pattern spoken of was left within ${within} calls.`,
    'Arms are as they were drawn; a run that ended sooner without leaving its pattern counts as not having left it.',
    'Leaving a pattern is not success at the task. Each provider has an interval of its own: of twenty without any effect, one is expected to miss 1.',
  ];
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
