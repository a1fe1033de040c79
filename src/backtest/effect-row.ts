import {
  passOver,
  type AskedKind,
  type CallKind,
  type DeliveredKind,
  type FaultKind,
  type HostKind,
  type LifeKind,
  type RequestKind,
  type TalkKind,
  type UnreadKind,
} from '../records/pass-over.ts';
import type { RunStarted, TrajectoryRecord } from '../records/trajectory-record.ts';
import type { HoldoutArm } from '../steering/holdout.ts';
import type { AdviceArm, AdviceOutcome } from '../run-view/advice-outcome.ts';
import { RunView } from '../run-view/run-view.ts';

/** What of a run says whether advice helps. Plain JSON, small, because all runs are kept. */
export interface EffectRow {
  readonly id: string;
  readonly parent: string | null;
  /** Null where coxswain did not steer the run. */
  readonly steering: {
    readonly mode: 'steer' | 'shadow';
    readonly configuration: string;
    readonly holdout: HoldoutArm | null;
  } | null;
  /** Something of the run is lost. */
  readonly gap: boolean;
  readonly ended: boolean;
  /** How many pieces, by provider and by what became of them. */
  readonly pieces: readonly { readonly provider: string; readonly arm: AdviceArm; readonly count: number }[];
  /** The first moment at which anything was said or withheld: all that came up there. Absent where nothing ever did. */
  readonly first?: FirstAdvice;
  /** Providers that spoke of a flagged pattern only later than that. */
  readonly later: readonly string[];
}

/** What came up at the first decision point of a run at which there was advice. */
export interface FirstAdvice {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** Of each provider the first piece that rests on a pattern flagged by then. */
  readonly pieces: readonly AdviceOutcome[];
}

/** Patterns that are known as flagged, at most. */
const MAX_FLAGGED = 256;

/** Folds the records of one run into its row. Records in `seq` order, from the first. */
export class EffectRowFold {
  readonly #id: string;
  readonly #view: RunView;
  readonly #flagged = new Set<string>();
  /** Ids of the pieces of the first evaluation that rest on a flagged pattern. */
  readonly #first = new Set<string>();
  readonly #later = new Set<string>();
  #firstCause: { readonly seq: number; readonly atMs: number } | undefined;

  /** @param within  calls over which a pattern may clear */
  constructor(id: string, within: number) {
    this.#id = id;
    this.#view = new RunView({ advice: { within } });
  }

  /** Takes the next record. */
  fold(record: TrajectoryRecord): void {
    const { payload } = record;
    switch (payload.kind) {
      case 'pattern_flagged':
        this.#flag(payload.pattern.identity);
        break;
      case 'pattern_cleared':
        this.#flagged.delete(payload.pattern.identity);
        break;
      case 'feedback_produced':
        this.#produced(record, payload, payload.feedback.pattern?.identity);
        break;
      case 'guidance_produced':
        this.#produced(record, payload, payload.classification.pattern?.identity);
        break;
      default:
        passOver<
          LifeKind | TalkKind | CallKind | RequestKind | HostKind | DeliveredKind | AskedKind | FaultKind | UnreadKind
        >(payload);
    }
    this.#view.fold(record);
  }

  /** What came of the run so far. */
  row(): EffectRow {
    const { advice: outcomes, lostRecords, outcome, started } = this.#view;
    const counts = new Map<string, { provider: string; arm: AdviceArm; count: number }>();
    for (const { providerName: provider, arm } of outcomes) {
      const key = `${arm} ${provider}`;
      const known = counts.get(key) ?? { provider, arm, count: 0 };
      known.count += 1;
      counts.set(key, known);
    }
    const seen = new Set<string>();
    const pieces = outcomes.filter(({ adviceId, providerName }) => {
      if (!this.#first.has(adviceId) || seen.has(providerName)) return false;
      seen.add(providerName);
      return true;
    });
    return {
      id: this.#id,
      parent: started?.identity.parent_run_id ?? null,
      steering: steeringOf(started),
      gap: lostRecords > 0,
      ended: outcome !== undefined,
      pieces: [...counts.values()],
      ...(this.#firstCause === undefined ? {} : { first: { atMs: this.#firstCause.atMs, pieces } }),
      later: [...this.#later].filter((provider) => !seen.has(provider)),
    };
  }

  #flag(identity: string): void {
    this.#flagged.delete(identity);
    this.#flagged.add(identity);
    const [oldest] = this.#flagged;
    if (this.#flagged.size > MAX_FLAGGED && oldest !== undefined) this.#flagged.delete(oldest);
  }

  #produced(
    { recorded_at_unix_ms: atMs }: TrajectoryRecord,
    piece: { readonly cause_seq: number; readonly advice_id: string; readonly provider_name: string },
    pattern: string | undefined,
  ): void {
    this.#firstCause ??= { seq: piece.cause_seq, atMs };
    // Only what was flagged by then: whether it is flagged afterwards depends on what the agent was told.
    if (pattern === undefined || !this.#flagged.has(pattern)) return;
    if (piece.cause_seq === this.#firstCause.seq) this.#first.add(piece.advice_id);
    else this.#later.add(piece.provider_name);
  }
}

function steeringOf(started: RunStarted | undefined): EffectRow['steering'] {
  if (started?.steering === undefined) return null;
  const { mode, configuration_hash: configuration, holdout = null } = started.steering;
  return { mode, configuration, holdout };
}
