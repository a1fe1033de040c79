import { CoxswainError, invalidArgument } from '../../../base/error.ts';
import { present } from '../../../base/present.ts';
import { defaultDetectors } from '../../../patterns/detectors/default-detectors.ts';
import type { PatternDetector, StepContext } from '../../../patterns/pattern-detector.ts';
import type { Step } from '../../../patterns/step.ts';
import { Structure } from '../../../patterns/structure.ts';
import type { TrajectoryPattern } from '../../../records/trajectory-pattern.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import type { RunCall } from '../../../run-view/run-call.ts';
import { RunView } from '../../../run-view/run-view.ts';
import { printableCut } from '../../terminal/printable.ts';
import { stuckChance, featureShares, type FeatureShare } from '../../../patterns/detectors/repetition-chance.ts';
import { explainReading, type CallReading } from './explain-reading.ts';

/** A pattern that includes the call, in its state at the end of the run. Call numbers start at 1. */
export interface ExplainedPattern extends Pick<TrajectoryPattern, 'kind' | 'stuck' | 'level' | 'occurrences'> {
  readonly firstCall: number;
  /** Null for a hint, which is not flagged. */
  readonly flaggedAtCall: number | null;
  readonly leftAtCall?: number;
  /** Call numbers of the evidence, at most the last 32. */
  readonly evidenceCalls: readonly number[];
}

/** The score of the `repetition` detector at a call. */
export interface ExplainedScore {
  /** The estimated probability, from 0 to 1. */
  readonly chance: number;
  /** The probability if every feature were 0. */
  readonly chanceWithoutFeatures: number;
  readonly shares: readonly FeatureShare[];
}

/**
 * How a call was classified, and why. Call numbers start at 1. Contains untrusted text: pass it through `printable` before showing
 * it.
 */
export interface CallExplanation extends CallReading {
  readonly run: string;
  readonly call: number;
  readonly calls: number;
  /** Number of successful changes and user messages before the call. Calls are only compared within the same epoch. */
  readonly epoch: number;
  /** True if this call started the epoch. */
  readonly beganEpoch: boolean;
  readonly novel: boolean;
  /** Numbers of earlier calls of the epoch with the same arguments and result, only the same arguments, or only the same result. */
  readonly sameCalls: readonly number[];
  readonly sameArguments: readonly number[];
  readonly sameResults: readonly number[];
  readonly patterns: readonly ExplainedPattern[];
  /** Present if `repetition` is one of the patterns. */
  readonly repetition?: ExplainedScore;
}

interface ComparedCall {
  readonly number: number;
  readonly argsKey: string;
  readonly resultKey: string;
}

interface SeenStep {
  readonly step: Step;
  readonly context: StepContext;
  readonly features: readonly number[] | undefined;
}

type Read = Omit<CallExplanation, 'run' | 'call' | 'calls' | 'patterns' | 'repetition'>;

/**
 * Folds a run with the default detectors and explains one of its calls. Reads the run to its end, because a pattern may be flagged
 * after the call.
 *
 * Cost: like `RunView` with detectors. Memory: two keys per call of the epoch.
 */
export class ExplainFold {
  readonly #runId: string;
  readonly #number: number;
  readonly #view: RunView;
  #seen: SeenStep | undefined;
  #epoch = -1;
  #compared: ComparedCall[] = [];
  #read: Read | undefined;
  #features: readonly number[] | undefined;

  /** @param number  number of the call, from 1 */
  constructor(runId: string, number: number) {
    this.#runId = runId;
    this.#number = number;
    const witness = witnessDetector((seen) => (this.#seen = seen));
    this.#view = new RunView({ detectors: [...defaultDetectors(), witness], recompute: true });
  }

  fold(record: TrajectoryRecord): void {
    this.#seen = undefined;
    const call = this.#view.fold(record);
    if (call !== undefined && this.#seen !== undefined && this.#read === undefined)
      this.#takeCall(call, this.#seen, record);
  }

  /**
   * @throws CoxswainError `invalid-argument` if the run does not contain the call
   * @throws CoxswainError `input-io` if the call has no result and was not classified
   */
  explanation(): CallExplanation {
    const { calls } = this.#view;
    const id = printableCut(this.#runId, 80);
    if (this.#number > calls) {
      const choice = calls === 0 ? 'no calls' : `${calls} calls; give a number from 1 to ${calls}`;
      throw invalidArgument(`--call ${this.#number}: run ${id} has ${choice}`);
    }
    if (this.#read === undefined) {
      throw new CoxswainError('input-io', `call ${this.#number} of run ${id} has no recorded result to explain`);
    }
    const index = this.#number - 1;
    const patterns = this.#view.patterns.patterns.map(({ pattern }) => pattern).filter((one) => coversCall(one, index));
    const features = patterns.some(({ kind }) => kind === 'repetition') ? this.#features : undefined;
    const score = features && {
      chance: stuckChance(features),
      chanceWithoutFeatures: stuckChance([]),
      shares: featureShares(features),
    };
    return {
      run: this.#runId,
      call: this.#number,
      calls,
      ...this.#read,
      patterns: patterns.map(explainPattern),
      ...present({ repetition: score }),
    };
  }

  #takeCall(call: RunCall, { step, context, features }: SeenStep, { payload }: TrajectoryRecord): void {
    const { argsKey, resultKey } = step;
    if (context.epoch !== this.#epoch) this.#compared = [];
    this.#epoch = context.epoch;
    if (call.number === this.#number && payload.kind === 'tool_ended') {
      const callNumbers = (matches: (other: ComparedCall) => boolean): readonly number[] =>
        this.#compared.filter(matches).map(({ number }) => number);
      this.#features = features;
      this.#read = {
        ...explainReading(call, payload, step),
        epoch: context.epoch,
        beganEpoch: context.advanced,
        novel: context.novel,
        sameCalls: callNumbers((other) => other.argsKey === argsKey && other.resultKey === resultKey),
        sameArguments: callNumbers((other) => other.argsKey === argsKey && other.resultKey !== resultKey),
        sameResults: callNumbers((other) => other.argsKey !== argsKey && other.resultKey === resultKey),
      };
    }
    this.#compared.push({ number: call.number, argsKey, resultKey });
  }
}

/** Creates a detector that finds no pattern. It passes each step to `onSeen`, in the same form as for the other detectors. */
function witnessDetector(onSeen: (seen: SeenStep) => void): PatternDetector {
  return {
    name: 'explain',
    start() {
      const structure = new Structure();
      return {
        observe(step, context) {
          const isScored = !step.transparent && !step.resultMissing;
          if (isScored) structure.observe(step, context);
          onSeen({ step, context, features: isScored ? structure.features() : undefined });
          return undefined;
        },
        snapshot: () => null,
      };
    },
  };
}

/** Returns true if the call is between the first and the last call of the pattern. */
function coversCall({ evidence, firstSeen, flaggedAt }: TrajectoryPattern, index: number): boolean {
  const last = Math.max(firstSeen, flaggedAt ?? 0, evidence.at(-1) ?? 0);
  return index >= firstSeen && index <= last;
}

function explainPattern(pattern: TrajectoryPattern): ExplainedPattern {
  const { kind, stuck, level, occurrences, firstSeen, flaggedAt, clearedAt, evidence } = pattern;
  return {
    kind,
    stuck,
    level,
    occurrences,
    firstCall: firstSeen + 1,
    flaggedAtCall: flaggedAt === null ? null : flaggedAt + 1,
    ...present({ leftAtCall: clearedAt === undefined ? undefined : clearedAt + 1 }),
    evidenceCalls: evidence.map((index) => index + 1),
  };
}
