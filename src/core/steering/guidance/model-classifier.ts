import { membersOf, present } from '../../base/json.ts';
import { DECISION_POINTS, type DecisionPoint } from '../../records/spoken-advice.ts';
import type { RecentCall } from '../../detect/patterns/pattern-detector.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { GuidanceContext, GuidanceProvider } from '../prompt/guidance-provider.ts';
import type { ToolKind } from '../../detect/calls/tool-kind.ts';
import { toolWords } from '../tool-words.ts';
import type { GuidanceBank } from './define-guidance.ts';
import { checkWhole } from '../prompt/define-provider.ts';
import { cutMessage, messageOf } from '../../base/error.ts';
import type { GuidanceFault } from '../advice-engine.ts';

/** Kinds, counts and names known before the run; no arguments, results or messages. Plain JSON. */
export interface ContextDigest {
  readonly decisionPoint: DecisionPoint;
  readonly turnCount: number;
  readonly toolCallCount: number;
  readonly errors: number;
  readonly consecutiveErrors: number;
  /** The newest calls, oldest first, at most 12. */
  readonly recentCalls: readonly DigestCall[];
  /** Open patterns, at most 8. */
  readonly patterns: readonly DigestPattern[];
  /** Tools that are about to run, at most 16. */
  readonly pendingTools: readonly string[];
  /** The instructions from which the classifier chooses. */
  readonly instructions: readonly DigestInstruction[];
}

export interface DigestCall {
  /** A name that was known before the run, or `one tool`. */
  readonly tool: string;
  readonly kind: ToolKind;
  readonly failed: boolean;
  /** `refused` or `cancelled`; absent for any other call. */
  readonly outcome?: RecentCall['outcome'] | undefined;
  /** True if the result was new. */
  readonly novel: boolean;
}

export interface DigestPattern {
  readonly kind: string;
  readonly level: PatternLevel;
  readonly occurrences: number;
}

export interface DigestInstruction {
  readonly id: string;
  readonly category: string;
  readonly content: string;
}

function contextDigest(context: GuidanceContext, bank: GuidanceBank): ContextDigest {
  const { trajectory } = context;
  return {
    decisionPoint: context.decisionPoint,
    turnCount: context.turnCount,
    toolCallCount: context.toolCallCount,
    errors: trajectory.errors,
    consecutiveErrors: trajectory.consecutiveErrors,
    recentCalls: trajectory.recentCalls(12).map(({ tool, kind, failed, novel, outcome }) => {
      return { tool: toolWords(tool, trajectory.tools), kind, failed, novel, outcome };
    }),
    patterns: trajectory
      .openPatterns()
      .slice(-8)
      .map(({ kind, level, occurrences }) => ({ kind, level, occurrences })),
    pendingTools: context.pendingToolCalls.slice(0, 16).map((call) => toolWords(call.toolName, trajectory.tools)),
    instructions: bank.instructions.map(({ key, category, content }) => ({ id: key, category, content })),
  };
}

/** The choice of a classifier. Plain JSON. */
export interface ModelVerdict {
  readonly instructionId: string;
  /** 0 to 1. */
  readonly confidence: number;
}

/** An asynchronous classifier, such as a model. */
export interface ModelClassifier {
  readonly name: string;
  /**
   * Chooses at most one of `digest.instructions`. An exception, a rejection, a timeout or an invalid result is a fault.
   *
   * @param options.signal  aborted after the time limit
   * @returns undefined if no instruction applies
   */
  classify(digest: ContextDigest, options: { readonly signal: AbortSignal }): Promise<ModelVerdict | undefined>;
}

export const MAX_MODEL_TIME_MS = 600_000;

/** The result of a model-backed classifier. Plain JSON. */
export type ModelAnswer =
  | { readonly kind: 'verdict'; readonly classifier: string; readonly verdict: ModelVerdict }
  | { readonly kind: 'none'; readonly classifier: string }
  | { readonly kind: 'fault'; readonly fault: GuidanceFault };

export interface AskModelOptions {
  readonly bank: GuidanceBank;
  /** Milliseconds, 1 to 600,000; default 2,000. */
  readonly timeLimitMs?: number;
  /** Default: the timers of the machine. */
  readonly timers?: TaskTimers;
  /** Removes secrets from fault messages. Must not throw. Default: no change. */
  readonly redact?: (text: string) => string;
}

/**
 * Calls a model-backed classifier. The agent does not wait for the result, which is used at the next decision point
 * (`verdictGuidance`). The promise never rejects, and it settles within the time limit.
 *
 * @throws CoxswainError "invalid-definition" (synchronously) if `timeLimitMs` is out of range
 */
export function askModel(
  classifier: ModelClassifier,
  context: GuidanceContext,
  options: AskModelOptions,
): Promise<ModelAnswer> {
  const { bank, timeLimitMs = 2_000, timers, redact } = options;
  checkWhole('timeLimitMs', timeLimitMs, { max: MAX_MODEL_TIME_MS });
  // The digest is built synchronously, because the context may change later.
  const digest = contextDigest(context, bank);
  return withTimeLimit<unknown>((signal) => classifier.classify(digest, { signal }), {
    timeLimitMs,
    ...present({ timers }),
  }).then((outcome): ModelAnswer => {
    switch (outcome.kind) {
      case 'timed-out':
        return faultOf(classifier, 'model-timed-out', `no answer within ${timeLimitMs} ms`);
      case 'failed':
        return faultOf(classifier, 'model-rejected', cutMessage(messageOf(outcome.thrown), redact));
      case 'done':
        return readAnswer(classifier, options, outcome.value);
      default:
        return outcome;
    }
  });
}

function readAnswer(
  classifier: ModelClassifier,
  { bank, redact }: Pick<AskModelOptions, 'bank' | 'redact'>,
  value: unknown,
): ModelAnswer {
  if (value === undefined || value === null) return { kind: 'none', classifier: classifier.name };
  try {
    const { instructionId, confidence } = membersOf(value);
    if (typeof instructionId !== 'string' || typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) {
      return faultOf(classifier, 'model-junk', 'the answer has no instructionId or no confidence from 0 to 1');
    }
    if (bank.get(instructionId) === undefined) {
      return faultOf(classifier, 'model-unknown-id', 'the answer names no instruction of the bank');
    }
    return { kind: 'verdict', classifier: classifier.name, verdict: { instructionId, confidence } };
  } catch (thrown) {
    return faultOf(classifier, 'model-junk', cutMessage(messageOf(thrown), redact));
  }
}

function faultOf(classifier: ModelClassifier, code: GuidanceFault['code'], message: string): ModelAnswer {
  return { kind: 'fault', fault: { provider: classifier.name, phase: 'model', code, message } };
}

/** A model's choice as a provider for the next evaluation, for the limits of the classifier `name`. Never relevant outside the bank. */
export function verdictGuidance(name: string, bank: GuidanceBank, verdict: ModelVerdict): GuidanceProvider {
  const injection = bank.get(verdict.instructionId);
  const isRelevant = injection !== undefined;
  return {
    name,
    category: injection?.category ?? 'model',
    decisionPoints: DECISION_POINTS,
    classify: () => ({ relevant: isRelevant, confidence: verdict.confidence, reason: `chosen by ${name}` }),
    provide: () => injection,
  };
}

export interface TaskTimers {
  /** Calls `callback` after `delayMs` milliseconds. Returns cancels the timer. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The timers of the machine. They do not keep the process alive. */
export const taskTimers: TaskTimers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export type TimedOutcome<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly thrown: unknown }
  | { readonly kind: 'timed-out' };

export interface TaskLimit {
  readonly timeLimitMs: number;
  /** Default: the timers of the machine. */
  readonly timers?: TaskTimers;
}

/** Never rejects. After the limit, the signal is aborted and a later result ignored. The task may throw or ignore it. */
export function withTimeLimit<Value>(
  task: (signal: AbortSignal) => PromiseLike<Value> | Value,
  limit: TaskLimit,
): Promise<TimedOutcome<Value>> {
  const { timeLimitMs, timers = taskTimers } = limit;
  const controller = new AbortController();
  return new Promise((resolve) => {
    const stop = timers.after(timeLimitMs, () => {
      resolve({ kind: 'timed-out' });
      controller.abort();
    });
    const settleWith = (outcome: TimedOutcome<Value>): void => {
      stop();
      resolve(outcome);
    };
    // The task is called in the executor of a promise, so that a synchronous exception becomes a rejection.
    new Promise<Value>((started) => started(task(controller.signal))).then(
      (value) => settleWith({ kind: 'done', value }),
      (thrown: unknown) => settleWith({ kind: 'failed', thrown }),
    );
  });
}
