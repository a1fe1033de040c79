import type { ContextSize } from './context-tokens.ts';
import { present } from '../base/json.ts';
import { callNumber } from '../base/number-text.ts';
import type { StretchCounts } from '../base/stretch-counts.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import { DEFAULT_WITHIN_CALLS, type AdviceOutcome } from './advice-outcome.ts';
import type { CallPreview } from './run-call.ts';
import type { InstructionFile } from './instruction-lines.ts';
import type { FailedCall } from './failed-calls.ts';
import type { RunAlert } from './run-alert.ts';
import type { RecentWork } from './run-pressure.ts';
import type { LastAct, LastCheck, RunOutcome, RunVerdict } from './run-verdict.ts';
import type { RunUsage } from './usage-fold.ts';
import { allTokens } from './usage-text.ts';
import type { RunWork } from './run-work.ts';
import type { RunSummary } from './run-summary.ts';
import type { RunPatterns } from './seen-pattern.ts';
import type { Wasted } from './run-story.ts';

export interface RunDiagnostic {
  readonly severity: 'error' | 'note';
  readonly message: string;
  readonly line?: number;
}

/** Contains untrusted text: pass it through `printable` before showing it. */
export interface RefusedCall {
  readonly number: number;
  readonly call: string;
  /** The line of its result that says why, if one does. */
  readonly why?: string;
}

export interface PatternFacts extends TrajectoryPattern {
  readonly costUsd?: number;
}

/** Everything that reports say about one run. Plain JSON; every report selects from its fields. */
export interface RunFacts
  extends
    RunUsage,
    RunWork,
    Pick<RunSummary, 'task' | 'modelId' | 'startedAtMs' | 'lastAtMs' | 'calls' | 'turns' | 'errors'>,
    Pick<RunSummary, 'refused' | 'cancelled' | 'lostRecords' | 'problem'> {
  readonly id: string;
  readonly parentId?: string;
  readonly source: string;
  readonly format: string;
  readonly project?: string;
  /** The label `person` at the end of the run, or the user whose home folder contains its source. */
  readonly person?: string;
  readonly agent?: string;
  readonly durationMs?: number;
  /** Time at work: without the time before messages of the user and without pauses of more than an hour. */
  readonly activeMs: number;
  /** Absent before the first response with tokens, and after a compaction. */
  readonly context?: ContextSize;
  /** The first refused calls, at most three. Absent if none. */
  readonly refusedCalls?: readonly RefusedCall[];
  /** Absent if the run is open or its records are incomplete. */
  readonly ending?: RunOutcome;
  readonly verdict: RunVerdict;
  /** From what it is judged again with its subagents. Absent unless it started some and finished. */
  readonly lastAct?: LastAct;
  /** What only a clock finds: the run waits for a person, or nothing has been recorded for long. */
  readonly alert?: RunAlert;
  /** What it spent in its last ten minutes, without its subagents. */
  readonly recent: readonly RecentWork[];
  readonly checks: readonly LastCheck[];
  readonly stuck: boolean;
  readonly steered: boolean;
  readonly patternBasis: RunPatterns['basis'];
  /** Patterns ordered by their first call. Hints are only included on request. */
  readonly patterns: readonly PatternFacts[];
  /** Usage after the first stuck pattern was flagged. Absent if the run did not get stuck. */
  readonly afterFlag?: Wasted;
  readonly advice: AdviceTally;
  readonly adviceTexts: readonly AdviceOutcome[];
  readonly faults: number;
  readonly faultTexts: readonly string[];
  readonly failures: readonly FailedCall[];
  readonly keys: ArrayLike<number>;
  readonly instructions: readonly InstructionFile[];
  readonly moments: readonly Moment[];
  readonly diagnostics: readonly RunDiagnostic[];
  readonly strip: StripText;
  readonly previews: Readonly<Record<number, CallPreview>>;
}

export function factsJson(facts: RunFacts): object {
  const {
    adviceTexts: _texts,
    failures: _failures,
    faultTexts: _faults,
    instructions: _instructions,
    keys: _keys,
    lastAct: _lastAct,
    patterns,
    previews: _previews,
    recent: _recent,
    strip: _strip,
    ...rest
  } = facts;
  return { ...rest, ...present({ allTokens: allTokens(facts) }), patterns: patterns.map(patternJson) };
}

/** The calls of a pattern, which are indices, as numbers from 1. */
export function patternJson({ identity: _identity, ...pattern }: PatternFacts): object {
  const { kind, stuck, level, confidence, flaggedAt, firstSeen, occurrences, clearedAt, tool, evidence, costUsd } =
    pattern;
  return {
    kind,
    stuck,
    level,
    confidence,
    flaggedAt: flaggedAt === null ? null : callNumber(flaggedAt),
    firstSeen: callNumber(firstSeen),
    occurrences,
    ...present({ clearedAt: clearedAt === undefined ? undefined : callNumber(clearedAt), tool }),
    evidence: evidence.map(callNumber),
    ...present({ costUsd }),
  };
}

export interface Moment {
  readonly runId: string;
  /** Number of the call, from 1. */
  readonly call?: number;
  /** Time in Unix milliseconds, if known. */
  readonly atMs?: number;
  readonly what: string;
  readonly type: string;
  readonly score: number;
}

export const NO_ADVICE = {
  pieces: 0,
  delivered: 0,
  /** Number of pieces withheld on purpose: in an experiment or in shadow mode. */
  withheld: 0,
  /** Number of pieces that were not delivered, or whose delivery was not confirmed. */
  undelivered: 0,
  /** Number of delivered pieces about a pattern with at least ten calls after delivery. */
  followed: 0,
  /** Number of pieces in `followed` whose pattern was cleared within ten calls. */
  cleared: 0,
  /** Number of delivered pieces about a pattern with fewer than ten calls after delivery. */
  endedEarly: 0,
  withNext: 0,
  /** Number of pieces in `withNext` after which the agent repeated its call. */
  repeated: 0,
  answered: 0,
};

export type AdviceTally = Readonly<typeof NO_ADVICE>;

export function tallied(tally: AdviceTally, outcome: AdviceOutcome): AdviceTally {
  const { delivery, response, callsLeft, cleared, nextCall, pattern } = outcome;
  const isDelivered = delivery === 'delivered';
  return {
    pieces: tally.pieces + 1,
    delivered: tally.delivered + (isDelivered ? 1 : 0),
    withheld: tally.withheld + (delivery === 'withheld' || delivery === 'shadowed' ? 1 : 0),
    undelivered: tally.undelivered + (delivery === 'undelivered' || delivery === 'unsettled' ? 1 : 0),
    followed: tally.followed + (isDelivered && cleared !== null ? 1 : 0),
    cleared: tally.cleared + (isDelivered && cleared === true ? 1 : 0),
    endedEarly: tally.endedEarly + (isDelivered && pattern !== undefined && callsLeft < DEFAULT_WITHIN_CALLS ? 1 : 0),
    withNext: tally.withNext + (isDelivered && nextCall !== 'none' ? 1 : 0),
    repeated: tally.repeated + (isDelivered && nextCall === 'repeated' ? 1 : 0),
    answered: tally.answered + (isDelivered && response !== undefined ? 1 : 0),
  };
}

export function shownEvidence({ evidence, flaggedAt }: TrajectoryPattern): readonly number[] {
  const shown = new Set([...evidence.slice(0, 1), ...evidence.slice(-1)]);
  if (flaggedAt !== null) shown.add(flaggedAt);
  return [...shown].sort((a, b) => a - b);
}

export interface StripText {
  /** One character per column: `·` for no failed call, `▪` for some failed calls, `×` if all calls failed. */
  readonly cells: string;
  readonly callsPerColumn: number;
}

/** Returns the strip of a run. A column represents 1, 2, 4, 8 … calls. */
export function stripOf(failures: StretchCounts): StripText {
  const { length, perStretch: callsPerColumn } = failures;
  const cells = failures.counts().map((count, column) => {
    const calls = Math.min(callsPerColumn, length - column * callsPerColumn);
    return count === 0 ? '·' : count < calls ? '▪' : '×';
  });
  return { cells: cells.join(''), callsPerColumn };
}
