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
  /** True if records are missing. */
  readonly gap: boolean;
  readonly ended: boolean;
  /** Null if the run records no outcome. */
  readonly success: boolean | null;
  /** The amount of advice per provider and delivery. */
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
  /**
   * Number of calls from the advice until the pattern cleared. If the agent was stuck, until every overlapping pattern cleared. Absent if
   * the pattern did not clear.
   */
  readonly callsToLeave?: number;
  /** True if the unit was assigned to the withheld arm, whether or not the advice would have arrived. */
  readonly withheld: boolean;
  readonly advice: AdviceOutcome;
}

/** Options for reading a run. */
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

/** Maximum number of open patterns that are tracked. */
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

  /** Returns the row for the records read until now. */
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
