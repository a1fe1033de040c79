import { type DerivedPayload, isDerived } from '../records/derived-payload.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { resolveSteering } from '../steering/resolve-steering.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { readResult } from '../steering/read-result.ts';
import { createRedactor, NO_REDACTION, type RedactionOptions } from '../redact/redactor.ts';
import { RunFold } from '../run/run-fold.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';

export interface ReplayOptions {
  /** Default: the standard set. To reproduce the recorded advice, pass the run's own steering. */
  readonly steering?: SteeringOptions;
  /** The prompts of the run. The first one was active at the start. */
  readonly prompts?: readonly PromptTemplate[];
  /** Redaction of provider texts, as in the run. Default: secrets are redacted by the built-in rules. */
  readonly redaction?: RedactionOptions | false;
}

/**
 * Replays a recorded run with the timestamps of its records. With the run's own steering it reproduces the derived records of the
 * recording. With another steering it returns the patterns and advice of that steering. Runs with missing records give different results.
 */
export class Replay {
  readonly #fold: RunFold;
  readonly #redact: (payload: DerivedPayload) => DerivedPayload;

  /**
   * @throws CoxswainError "invalid-definition" if two providers have the same name, or for an invalid redaction rule
   * @throws CoxswainError "invalid-argument" for invalid redaction options
   */
  constructor(options: ReplayOptions = {}) {
    const { prompts = [] } = options;
    const steering = resolveSteering(options.steering ?? {}, prompts[0]);
    const { redaction } = options;
    const redactor = redaction === false ? NO_REDACTION : createRedactor(redaction, { readResult });
    this.#fold = new RunFold({ steering, prompts, redactor });
    this.#redact = (payload) => {
      const redacted = redactor.redact(payload);
      return isDerived(redacted) ? redacted : payload;
    };
  }

  get analysis(): TrajectoryAnalysis {
    return this.#fold.analysis;
  }

  /** Processes the next record. Returns the payloads derived from it; none for a derived record. */
  take(record: TrajectoryRecord): readonly DerivedPayload[] {
    return isDerived(record.payload) ? [] : this.#fold.fold(record).map(this.#redact);
  }
}
