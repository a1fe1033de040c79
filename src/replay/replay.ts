import { isDerived } from '../records/is-derived.ts';
import type { DerivedPayload } from '../records/derived-draft.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { resolveSteering } from '../steering/resolve-steering.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { readResult } from '../steering/read-result.ts';
import { createRedactor, type RedactionOptions } from '../redaction/redactor.ts';
import { RunFold } from '../run/run-fold.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';

/** How a recorded run is replayed. */
export interface ReplayOptions {
  /** Who speaks; default: the standard set. Give what the run was steered by to get what it said. */
  readonly steering?: SteeringOptions;
  /** The prompts the run used; the first was in force at the start. */
  readonly prompts?: readonly PromptTemplate[];
  /** What is taken out of what providers say, as in the run; default: secrets, by the built-in rules. */
  readonly redaction?: RedactionOptions | false;
}

/**
 * A recorded run, folded again record by record with the time of the records. With the steering the run had, what it
 * gives equals the derived records of the recording; with another, it shows what that would have noticed and said. Runs
 * with a gap are exempt: what was lost is not there to fold.
 */
export class Replay {
  readonly #fold: RunFold;
  readonly #redact: (payload: DerivedPayload) => DerivedPayload;

  /**
   * @throws CoxswainError "invalid-definition" when two providers share a name, or for a redaction rule that is not one
   * @throws CoxswainError "invalid-argument" for redaction that cannot be
   */
  constructor(options: ReplayOptions = {}) {
    const { prompts = [] } = options;
    const steering = resolveSteering(options.steering ?? {}, prompts[0]);
    const { redaction } = options;
    const redactor = redaction === false ? undefined : createRedactor(redaction, { readResult });
    const redact = (payload: TrajectoryPayload): TrajectoryPayload => redactor?.redact(payload) ?? payload;
    this.#fold = new RunFold({ steering, prompts, redact });
    this.#redact = (payload) => {
      const redacted = redact(payload);
      return isDerived(redacted) ? redacted : payload;
    };
  }

  get analysis(): TrajectoryAnalysis {
    return this.#fold.analysis;
  }

  /** Takes the next record. @returns what follows from it; nothing for a derived record */
  take(record: TrajectoryRecord): readonly DerivedPayload[] {
    return isDerived(record.payload) ? [] : this.#fold.fold(record).map(this.#redact);
  }
}
