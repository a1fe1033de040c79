import { adviceOf } from '../core/records/derived-payload.ts';
import { LruMap } from '../core/base/lru-map.ts';
import { present } from '../core/base/json.ts';
import type { ModelPrices } from '../core/records/answer-cost.ts';
import type { TrajectoryPattern } from '../core/records/trajectory-pattern.ts';
import type { RunStarted, TrajectoryPayload, TrajectoryRecord } from '../core/records/trajectory-record.ts';
import { DECLARED_WITHIN_CALLS, silenceReason, unitOf, type HoldoutArm } from '../core/steering/holdout.ts';
import { stretchAfter, type StuckStretch } from '../core/steering/stop-policy.ts';
import type { Delivery, AdviceOutcome } from '../core/facts/advice-outcome.ts';
import { RunView } from '../core/facts/run-view.ts';
import type { QuartilesReport, ShareReport } from './backtest-report.ts';

export const EFFECT_REPORT_VERSION = 3;

/** The minimum number of runs per arm for a comparison. The intervals are approximations that need about twenty runs. */
export const MIN_RUNS_AN_ARM = 20;

/** The differences for which the report lists the required number of runs. */
export const STATED_DIFFERENCES: readonly number[] = [0.05, 0.1, 0.2];

/** The measured effect of advice in recorded runs, as plain JSON. The fields have this order, so equal input gives equal bytes. */
export interface EffectReport {
  readonly version: typeof EFFECT_REPORT_VERSION;
  /** The input paths as the user wrote them, without passwords. */
  readonly paths: readonly string[];
  /** Number of calls within which a pattern should clear. */
  readonly within: number;
  /** True if the experiment declared this number beforehand. */
  readonly declared: boolean;
  /** The smallest difference that matters, as a share of 1. */
  readonly worthwhile: number;
  readonly runs: EffectRuns;
  /** Ordered: `stuck`, then pattern kinds by name, then providers without a pattern, then whole runs. */
  readonly experiments: readonly EffectExperiment[];
  /** The amount of advice per provider and delivery, sorted by name. */
  readonly providers: readonly { readonly provider: string; readonly pieces: Readonly<Record<Delivery, number>> }[];
  /** Notes on how to read the figures, in a fixed order. */
  readonly notes: readonly string[];
}

export interface EffectRuns {
  readonly read: number;
  readonly steered: number;
  readonly shadow: number;
  /** Number of runs in experiments that draw episodes, and in experiments that draw whole runs. */
  readonly drawnByEpisode: number;
  readonly drawnByRun: number;
  /** Number of runs with advice that were left out because records are missing. */
  readonly leftOutForGap: number;
}

/** The outcome that an experiment measures. The advice alone determines which outcome applies; the result of the run has no influence. */
export type EffectOutcome =
  /** Good if the episode cleared, or the run succeeded, within the declared number of calls. */
  | 'left-pattern'
  /** Good if the run ended before its deadline. */
  | 'in-time'
  /** Good if the run ended in success. */
  | 'succeeded';

/**
 * A comparison of units with delivered and with withheld advice. For advice about a pattern, a unit is an episode. An episode is either a
 * period in which the agent is stuck, with all overlapping patterns, or one other pattern. For advice without a pattern, a unit is a run.
 * In experiments that draw runs, a unit is a run with its child runs, or the first episode of that group.
 */
export interface EffectExperiment {
  /** `stuck`, the kind of the first advised pattern, the name of a provider without a pattern, or `whole runs`. */
  readonly name: string;
  readonly about: 'all' | 'pattern' | 'provider' | 'run';
  readonly outcome: EffectOutcome;
  /**
   * The conclusion of the comparison:
   * - `helps`, `harms`: the interval is entirely above, or below, zero
   * - `no-difference`: the interval is within the smallest difference that matters
   * - `undecided`: the interval contains both zero and a difference that matters
   * - `too-little-data`: an arm has fewer than 20 runs
   * - `not-drawn`: there is no experiment
   */
  readonly status: 'helps' | 'harms' | 'no-difference' | 'undecided' | 'too-little-data' | 'not-drawn';
  /** Null if arms were not assigned at random. */
  readonly advised: ArmFigures | null;
  readonly withheld: ArmFigures | null;
  /** The share of good outcomes with delivered advice minus the share with withheld advice. Null with too little data. */
  readonly difference: number | null;
  /** 95 % interval that stays valid for any number of looks. */
  readonly low: number | null;
  readonly high: number | null;
  /** 95 % interval for a single look, after a number of runs fixed beforehand. */
  readonly onceLow: number | null;
  readonly onceHigh: number | null;
  /**
   * The number of further runs needed to detect a difference of this size with a probability of 80 %. Before an experiment, it assumes
   * that half of the advice will be withheld. Null if unknown.
   */
  readonly power: readonly { readonly difference: number; readonly moreRuns: number | null }[];
  /** False if the arms are so uneven that units of one arm must be missing. By chance this happens once in 1,000 times. */
  readonly balanced: boolean;
  /** Number of units left out because their run has not ended or records no outcome. */
  readonly unknown: number;
}

/** The outcomes after the first advice on each unit of one arm. */
export interface ArmFigures {
  readonly units: number;
  /** Number of runs. A run and its child runs count as one. */
  readonly runs: number;
  /** Number of units whose advice reached the agent. */
  readonly reached: number;
  readonly good: ShareReport;
  /** Number of calls until the pattern cleared, over all units whose pattern cleared at any time. */
  readonly callsToLeave: Pick<QuartilesReport, 'q1' | 'median' | 'q3'>;
  /** Number of units whose next call repeated the previous call or failed in the same way. */
  readonly repeated: number;
  /** The number of calls that followed, up to the declared number, and how many of them failed. */
  readonly calls: number;
  readonly errors: number;
  /** Cost per unit of the model's responses in that period, over the units that record it. Null if none does. */
  readonly costUsd: number | null;
  readonly costKnown: number;
  /** Number of runs that ended earlier without the pattern clearing. They count as not cleared. */
  readonly endedBefore: number;
  /** Acknowledgements by the agent: accepted, rejected or noted. */
  readonly accepted: number;
  readonly rejected: number;
  readonly noted: number;
}

/** The facts about a run from which the effect of advice is measured. Plain JSON and small, because all rows are kept in memory. */
export interface EffectRow {
  readonly id: string;
  readonly parent: string | null;
  /** Null for a run without steering. */
  readonly steering: {
    readonly mode: 'steer' | 'shadow';
    readonly configuration: string;
    readonly holdout: HoldoutArm | null;
  } | null;
  /** Number of calls within which a pattern should clear. The requested number, or else the one that the experiment declared. */
  readonly within: number;
  readonly gap: boolean;
  readonly ended: boolean;
  /** Null if the run records no outcome. */
  readonly success: boolean | null;
  readonly pieces: readonly { readonly provider: string; readonly delivery: Delivery; readonly count: number }[];
  /** In the order in which they appear. */
  readonly units: readonly AdvisedUnit[];
}

/** A unit of an experiment (see `unitOf`), with its first advice. */
export interface AdvisedUnit {
  /** The kind of the pattern that the first advice refers to, or null if it refers to none. */
  readonly kind: string | null;
  /** True if the agent was stuck. */
  readonly stuck: boolean;
  /** Until the pattern cleared, or for a stuck agent every overlapping one. Absent if it did not clear. */
  readonly callsToLeave?: number;
  /** True if the unit was assigned to the withheld arm, whether or not the advice would have arrived. */
  readonly withheld: boolean;
  readonly advice: AdviceOutcome;
}

export interface EffectRowOptions {
  /** Number of calls within which a pattern may clear. Default: the number that the run's experiment declared. */
  readonly within?: number | undefined;
  /** Model prices in addition to the built-in ones. */
  readonly prices?: ModelPrices | undefined;
}

interface Unit {
  readonly key: string;
  readonly pattern: Pick<TrajectoryPattern, 'kind' | 'identity' | 'stuck'> | undefined;
  readonly callsBefore: number;
  callsToLeave?: number;
}

const MAX_OPEN = 256;

/** Folds the records of one run into its row. Records must arrive in `seq` order, starting with the first. */
export class EffectRowFold {
  readonly #id: string;
  readonly #requestedLimit: number | undefined;
  readonly #prices: ModelPrices | undefined;
  #view = new RunView();
  readonly #openPatterns = new LruMap<TrajectoryPattern>(MAX_OPEN);
  #stretch: StuckStretch | undefined;
  /** Units keyed by the id of their first advice. */
  readonly #units = new Map<string, Unit>();
  /** Units whose pattern has not cleared yet, keyed by their unit of the experiment (`unitOf`). */
  readonly #openUnits = new Map<string, Unit>();

  constructor(id: string, { prices, within }: EffectRowOptions = {}) {
    this.#id = id;
    this.#requestedLimit = within;
    this.#prices = prices;
  }

  fold(record: TrajectoryRecord): void {
    const { payload } = record;
    switch (payload.kind) {
      case 'run_started':
        if (this.#view.started === undefined)
          this.#view = new RunView({
            advice: { within: this.#callLimit(payload) },
            ...present({ prices: this.#prices }),
          });
        break;
      case 'pattern_flagged':
        if (!this.#openPatterns.has(payload.pattern.identity))
          this.#openPatterns.set(payload.pattern.identity, payload.pattern);
        this.#stretch = stretchAfter(this.#stretch, 'flagged', payload.pattern);
        break;
      case 'pattern_cleared':
        this.#clearPattern(payload.pattern);
        break;
      case 'feedback_produced':
      case 'guidance_produced':
        this.#addAdvice(payload);
        break;
      default:
        break;
    }
    this.#view.fold(record);
  }

  row(): EffectRow {
    const { advice, lostRecords, outcome, started } = this.#view;
    const counts = new Map<string, { provider: string; delivery: Delivery; count: number }>();
    for (const { providerName: provider, delivery } of advice) {
      const key = `${delivery} ${provider}`;
      const entry = counts.get(key) ?? { provider, delivery, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    }
    return {
      id: this.#id,
      parent: started?.identity.parent_run_id ?? null,
      steering: steeringOf(started),
      within: this.#callLimit(started),
      gap: lostRecords > 0,
      ended: outcome !== undefined,
      success: outcome?.success ?? null,
      pieces: [...counts.values()],
      units: advice.flatMap((piece) => this.#unitOf(piece, started)),
    };
  }

  #callLimit(started: RunStarted | undefined): number {
    return this.#requestedLimit ?? started?.steering?.holdout?.within_calls ?? DECLARED_WITHIN_CALLS;
  }

  #clearPattern({ identity, ...pattern }: TrajectoryPattern): void {
    const openPattern = this.#openPatterns.get(identity);
    this.#openPatterns.delete(identity);
    const stretchBefore = this.#stretch;
    this.#stretch = stretchAfter(stretchBefore, 'cleared', { identity, ...pattern });
    // A stuck period ends with its last pattern. A pattern that is not part of a stuck period ends on its own.
    if (openPattern?.stuck === true && this.#stretch !== undefined) return;
    const draw = {
      providerName: '',
      speaker: 'feedback',
      ...present({ pattern: openPattern, stretch: stretchBefore }),
    } as const;
    const unit = this.#openUnits.get(unitOf(draw));
    if (unit === undefined) return;
    unit.callsToLeave = this.#view.calls - unit.callsBefore;
    this.#openUnits.delete(unit.key);
  }

  #addAdvice(payload: Extract<TrajectoryPayload, { readonly kind: 'feedback_produced' | 'guidance_produced' }>): void {
    const { pattern: reference, speaker } = adviceOf(payload);
    const pattern = reference === undefined ? undefined : this.#openPatterns.get(reference.identity);
    // Uses only patterns flagged before the advice, because later flags depend on the advice.
    if (reference !== undefined && pattern === undefined) return;
    const key = unitOf({
      providerName: payload.provider_name,
      speaker,
      ...present({ pattern, stretch: this.#stretch }),
    });
    if (this.#openUnits.has(key)) return;
    // Guidance without a pattern counts for the current stuck period, if the agent is stuck.
    const unitPattern = key.startsWith('stretch')
      ? (pattern ?? this.#openPatterns.get(this.#stretch?.open[0] ?? ''))
      : pattern;
    const unit = { key, pattern: unitPattern, callsBefore: this.#view.calls };
    this.#openUnits.set(key, unit);
    this.#units.set(payload.advice_id, unit);
  }

  #unitOf(advice: AdviceOutcome, started: RunStarted | undefined): readonly AdvisedUnit[] {
    const unit = this.#units.get(advice.adviceId);
    if (unit === undefined) return [];
    const { callsToLeave, key, pattern } = unit;
    const isWithheld =
      advice.delivery === 'unsettled'
        ? silenceReason('steer', started?.steering?.holdout, { runId: this.#id, unit: key }) !== undefined
        : advice.delivery === 'withheld';
    const { kind = null, stuck = false } = pattern ?? {};
    return [{ kind, stuck, ...present({ callsToLeave }), withheld: isWithheld, advice }];
  }
}

function steeringOf(started: RunStarted | undefined): EffectRow['steering'] {
  if (started?.steering === undefined) return null;
  const { mode, configuration_hash: configuration, holdout = null } = started.steering;
  return { mode, configuration, holdout };
}
