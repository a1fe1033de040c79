import { adviceOf } from '../records/advice-of.ts';
import { present } from '../base/present.ts';
import type { DerivedPayload } from '../records/derived-payload.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import type { RunLog } from '../recorder/run-log.ts';
import { askModel, type ModelAnswer } from '../steering/guidance/model-classifier.ts';
import { silenceReason, unitOf } from '../steering/holdout.ts';
import { Filesystem } from '../steering/prompt/prompt-resources.ts';
import type { ModelGuidanceConfig } from '../steering/steering-options.ts';
import { adviceHandleOf, type AdviceHandle } from './advice-handle.ts';
import { evaluationPayload, type AdviseContext } from './evaluation-payload.ts';
import type { RunFamily } from './run-family.ts';
import type { RunFold } from './run-fold.ts';
import type { RunPath } from './run-path.ts';

interface AdvicePointsParts {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly path: RunPath;
  readonly family: RunFamily;
  readonly mode: 'steer' | 'shadow';
  readonly models: readonly ModelGuidanceConfig[];
  readonly providerTimeLimitMs: number;
  readonly isEnded: () => boolean;
}

/** The decision points of a run: records an evaluation, returns its advice, and asks model-backed classifiers. */
export class AdvicePoints {
  readonly #parts: AdvicePointsParts;
  readonly #overruns: { readonly provider: string; readonly durationMs: number }[] = [];

  constructor(parts: AdvicePointsParts) {
    this.#parts = parts;
    parts.fold.onOverrun = (provider, durationMs) => this.#overruns.push({ provider, durationMs });
  }

  /** @throws the errors of a fold */
  advise(point: DecisionPoint, context: AdviseContext): readonly AdviceHandle[] {
    const handles = this.#evaluatePoint(point, context);
    this.#askModels(point);
    return handles;
  }

  #evaluatePoint(point: DecisionPoint, context: AdviseContext): readonly AdviceHandle[] {
    const { family, fold, log, mode, path, providerTimeLimitMs: limit_ms } = this.#parts;
    const payload = evaluationPayload(point, context, { files: this.#filesCreated(), shared: family.shared });
    const derivedPayloads: DerivedPayload[] = [];
    const record = log.stamp(payload);
    path.process(record, derivedPayloads);
    for (const { provider, durationMs } of this.#overruns.splice(0)) {
      path.take({ kind: 'provider_overran', provider_name: provider, duration_ms: durationMs, limit_ms });
    }
    // Deliveries are recorded even after the end, because the last advice of a run may be delivered late.
    const takeDelivery = (delivery: TrajectoryPayload): void => void path.take(delivery);
    return derivedPayloads.flatMap((item) => {
      const handle = adviceHandleOf(item, { point, atMs: record.recorded_at_unix_ms, take: takeDelivery });
      if (handle === undefined) return [];
      const draw = { runId: log.identity.runId, unit: drawnUnit(item, fold) };
      const reason = silenceReason(mode, fold.situation.holdout, draw);
      if (reason !== undefined) handle.undelivered(reason);
      return reason === undefined ? [handle] : [];
    });
  }

  /** Returns the watched files that exist. They are read outside the folds, because a replay cannot read them. */
  #filesCreated(): readonly string[] {
    const { fold } = this.#parts;
    const filesystem = fold.prompt.resources.getOptional(Filesystem);
    return filesystem === undefined ? [] : fold.watchedFiles.filter((path) => filesystem.exists(path));
  }

  #askModels(point: DecisionPoint): void {
    const { fold, models } = this.#parts;
    for (const { bank, classifier, decisionPoints, timeLimitMs } of models) {
      if (!decisionPoints.includes(point)) continue;
      const limits = { bank, redact: fold.redactWords, ...present({ timeLimitMs }) };
      void askModel(classifier, fold.guidanceContext(point), limits).then((answer) =>
        this.#takeModelAnswer(classifier.name, answer),
      );
    }
  }

  #takeModelAnswer(classifier_name: string, answer: ModelAnswer): void {
    if (this.#parts.isEnded() || answer.kind === 'none') return;
    const result =
      answer.kind === 'verdict'
        ? { instruction_id: answer.verdict.instructionId, confidence: answer.verdict.confidence }
        : { fault_code: answer.fault.code, fault_message: answer.fault.message };
    this.#parts.path.take({ kind: 'model_answered', classifier_name, ...result });
  }
}

/** Returns the unit of the experiment that this advice belongs to. */
function drawnUnit(item: DerivedPayload, { analysis, situation: { stretch } }: RunFold): string {
  const advice = adviceOf(item);
  const identity = advice?.pattern?.identity;
  // The most recent occurrence is the last one.
  const pattern = identity === undefined ? undefined : analysis.patterns().findLast((one) => one.identity === identity);
  const providerName = 'provider_name' in item ? item.provider_name : '';
  const speaker = advice?.speaker ?? 'guidance';
  return unitOf({ providerName, speaker, ...present({ pattern, stretch }) });
}
