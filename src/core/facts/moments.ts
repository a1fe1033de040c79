import { callNumber, countOf } from '../base/number-text.ts';
import { inWords } from '../records/words.ts';
import type { AdviceOutcome } from './advice-outcome.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import { timesSeen } from './seen-pattern.ts';
import type { Moment, RunFacts } from './run-facts.ts';

export interface Streak {
  readonly length: number;
  /** Number of the call, from 1. */
  readonly call: number;
  /** Start in Unix milliseconds; 0 if unknown. */
  readonly atMs: number;
}

export interface MomentSources {
  readonly facts: Omit<RunFacts, 'moments' | 'diagnostics' | 'strip' | 'previews' | 'problem'>;
  readonly streak: Streak;
  readonly gaveUp: Streak | undefined;
  /** Start times of calls in Unix milliseconds, by call index; 0 or absent if unknown. */
  readonly callTimes: readonly number[];
}

const MAX_TYPES = 64;
const MAX_PER_RUN = 2;
const MIN_STREAK = 5;

type FoundMoment = Omit<Moment, 'runId'>;

/** At most two, one per pattern. The scores are ranks set by hand, not measured; docs/report.md has the table. */
export function momentsOf(sources: MomentSources): readonly Moment[] {
  const { callTimes, facts, gaveUp, streak } = sources;
  const { adviceTexts, faultTexts, id: runId } = facts;
  const [fault] = faultTexts;
  const foundMoments: (FoundMoment | undefined)[] = [
    gaveUp && {
      ...placeOf(gaveUp),
      score: 95,
      type: 'gave up',
      what: `allowed to end unfinished after ${countOf(gaveUp.length, 'check')}`,
    },
    worstPattern(facts),
    endMoment(facts),
    warningMoment(adviceTexts),
    fault === undefined ? undefined : { score: 45, type: 'fault', what: `a fault: ${fault}` },
    streakMoment(streak),
  ];
  return foundMoments
    .flatMap((moment) => {
      if (moment === undefined) return [];
      const atMs = moment.atMs ?? (moment.call === undefined ? undefined : callTimes[moment.call - 1]);
      return [{ runId, ...moment, ...(atMs === undefined || atMs <= 0 ? {} : { atMs }) }];
    })
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_PER_RUN);
}

/** Keeps the best moments of any number of runs. Memory: `size` moments for each of up to 64 types. */
export class BestMoments {
  readonly #size: number;
  readonly #byType = new Map<string, readonly Moment[]>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Returns the moments with the highest scores. Types and runs only repeat if there are too few moments. */
  get best(): readonly Moment[] {
    const allMoments = [...this.#byType.values()].flat().toSorted((a, b) => b.score - a.score);
    const chosenMoments: Moment[] = [];
    const isNew = ({ runId, type }: Moment): boolean =>
      chosenMoments.every((one) => one.type !== type && one.runId !== runId);
    for (const moment of allMoments) if (chosenMoments.length < this.#size && isNew(moment)) chosenMoments.push(moment);
    for (const moment of allMoments)
      if (chosenMoments.length < this.#size && !chosenMoments.includes(moment)) chosenMoments.push(moment);
    return chosenMoments.toSorted((a, b) => b.score - a.score);
  }

  add(moments: readonly Moment[]): void {
    for (const moment of moments) {
      const sameType = this.#byType.get(moment.type) ?? [];
      if (sameType.length === 0 && this.#byType.size >= MAX_TYPES) continue;
      const bestMoments = [...sameType, moment].toSorted((a, b) => b.score - a.score).slice(0, this.#size);
      this.#byType.set(moment.type, bestMoments);
    }
  }
}

/** Returns one pattern per run, because other patterns mostly concern the same calls. */
function worstPattern({ patternBasis, patterns }: MomentSources['facts']): FoundMoment | undefined {
  const patternMoments = patterns.flatMap((pattern) => patternMoment(pattern, patternBasis) ?? []);
  return patternMoments.toSorted((a, b) => b.score - a.score)[0];
}

function patternMoment(pattern: TrajectoryPattern, basis: RunFacts['patternBasis']): FoundMoment | undefined {
  const { clearedAt, flaggedAt, firstSeen, kind, level, occurrences, stuck, tool } = pattern;
  if (!stuck || level === 'hint') return undefined;
  const isLeft = clearedAt !== undefined;
  if (isLeft && level === 'warn') return undefined;
  const [base, most] = isLeft ? [30, 50] : level === 'strong' ? [80, 95] : [50, 60];
  const patternText = `${inWords('pattern', kind)}${tool === undefined ? '' : ` (${tool})`}, seen ${timesSeen(pattern, basis)}`;
  const end = isLeft ? `over by call ${callNumber(clearedAt)}` : 'not over at the end';
  const score = Math.min(most, base + occurrences);
  return {
    call: callNumber(flaggedAt ?? firstSeen),
    score,
    type: `stuck ${kind}`,
    what: `stuck: ${patternText}, ${end}`,
  };
}

function endMoment({
  calls,
  checks,
  ending,
  refusedCalls = [],
  verdict,
}: MomentSources['facts']): FoundMoment | undefined {
  const last = { ...(calls > 0 ? { call: calls } : {}), score: 70 };
  const { evidence, verdict: name, why: what = evidence } = verdict;
  if (name === 'cut_off') return { ...last, type: 'end cut off', what: evidence };
  const failedCheck = name === 'answered' ? checks.findLast(({ failed }) => failed) : undefined;
  if (failedCheck !== undefined) return { ...last, call: failedCheck.number, type: 'check failed', what };
  const [refused] = refusedCalls;
  if (refused !== undefined && verdict.isRefused === true)
    return { ...last, call: refused.number, type: 'end refused', what };
  if (name !== 'failed' || ending === undefined || ending.success !== undefined) return undefined;
  return { ...last, type: `end ${ending.reason ?? ending.outcome}`, what: evidence };
}

function warningMoment(outcomes: readonly AdviceOutcome[]): FoundMoment | undefined {
  const lostAdvice = outcomes.find(({ delivery, severity }) => delivery === 'undelivered' && severity === 'warning');
  if (lostAdvice === undefined) return undefined;
  const reasonText = lostAdvice.reason === undefined ? '' : `: ${lostAdvice.reason}`;
  return {
    ...(lostAdvice.callsBefore > 0 ? { call: lostAdvice.callsBefore } : {}),
    ...(lostAdvice.atMs > 0 ? { atMs: lostAdvice.atMs } : {}),
    score: 65,
    type: 'warning',
    what: `a warning of ${lostAdvice.providerName} did not reach the agent${reasonText}`,
  };
}

function streakMoment(streak: Streak): FoundMoment | undefined {
  if (streak.length < MIN_STREAK) return undefined;
  return {
    ...placeOf(streak),
    score: Math.min(75, 40 + streak.length),
    type: 'streak',
    what: `${streak.length} failures in a row`,
  };
}

function placeOf({ atMs, call }: Streak): Pick<Moment, 'call' | 'atMs'> {
  return { call, ...(atMs > 0 ? { atMs } : {}) };
}
