import { DECISION_POINTS, type DecisionPoint } from '../../records/guidance.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import type { GuidanceContext, GuidanceProvider } from '../prompt/guidance-provider.ts';
import type { ToolKind } from '../../calls/tool-kind.ts';
import type { GuidanceBank } from './guidance-bank.ts';
import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { checkWhole } from './check-options.ts';
import { type GuidanceFault, thrownText } from './guidance-fault.ts';

/** What a model-backed classifier is told: names, kinds and counts, no arguments, results or messages. Plain JSON. */
export interface ContextDigest {
  readonly decisionPoint: DecisionPoint;
  readonly turnCount: number;
  readonly toolCallCount: number;
  readonly errors: number;
  readonly consecutiveErrors: number;
  /** The newest calls, oldest first, 12 at most. */
  readonly recentCalls: readonly DigestCall[];
  /** Patterns the agent is in, 8 at most. */
  readonly patterns: readonly DigestPattern[];
  /** Tools about to run, 16 at most. */
  readonly pendingTools: readonly string[];
  /** What it may choose from. */
  readonly instructions: readonly DigestInstruction[];
}

interface DigestCall {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly failed: boolean;
  /** It brought something not seen before. */
  readonly novel: boolean;
}

interface DigestPattern {
  readonly kind: string;
  readonly level: PatternLevel;
  readonly occurrences: number;
}

interface DigestInstruction {
  readonly id: string;
  readonly category: string;
  readonly content: string;
}

/** The digest of a context. Cost: a few small copies. */
export function contextDigest(context: GuidanceContext, bank: GuidanceBank): ContextDigest {
  const { trajectory } = context;
  return {
    decisionPoint: context.decisionPoint,
    turnCount: context.turnCount,
    toolCallCount: context.toolCallCount,
    errors: trajectory.errors,
    consecutiveErrors: trajectory.consecutiveErrors,
    recentCalls: trajectory.recentCalls(12).map(({ tool, kind, failed, novel }) => ({ tool, kind, failed, novel })),
    patterns: trajectory
      .openPatterns()
      .slice(-8)
      .map(({ kind, level, occurrences }) => ({ kind, level, occurrences })),
    pendingTools: context.pendingToolCalls.slice(0, 16).map((call) => call.toolName),
    instructions: bank.instructions.map(({ key, category, content }) => ({ id: key, category, content })),
  };
}

/** A classifier's choice. Plain JSON. */
export interface ModelVerdict {
  /** An id of the bank. */
  readonly instructionId: string;
  /** 0 to 1. */
  readonly confidence: number;
}

/** A classifier backed by a model, or anything else that takes time. */
export interface ModelClassifier {
  readonly name: string;
  /**
   * Chooses at most one instruction of `digest.instructions`. It may throw, reject, hang or answer nonsense: that is
   * a fault, and nothing is said.
   *
   * @param options.signal aborted when the time limit is over
   * @returns undefined when none applies
   */
  classify(digest: ContextDigest, options: { readonly signal: AbortSignal }): Promise<ModelVerdict | undefined>;
}

/** What came of asking a model. Plain JSON. */
export type ModelAnswer =
  | { readonly kind: 'verdict'; readonly classifier: string; readonly verdict: ModelVerdict }
  | { readonly kind: 'none'; readonly classifier: string }
  | { readonly kind: 'fault'; readonly fault: GuidanceFault };

/** What a model may choose from, and how long it may take. */
export interface AskModelOptions {
  readonly bank: GuidanceBank;
  /** Milliseconds, 1 to 600,000; default 2,000. */
  readonly timeLimitMs?: number;
  /** Default: the machine's. */
  readonly timers?: TaskTimers;
  /** Takes secrets out of what the classifier throws, before it is cut. It must not throw. Default: they stay. */
  readonly redact?: (text: string) => string;
}

/**
 * Asks a model-backed classifier. Nobody has to wait for the answer: it is an input for the next decision point
 * (`verdictGuidance`). The promise never rejects and settles within the time limit.
 *
 * @throws CoxswainError "invalid-definition" (at once, not as a rejection) when `timeLimitMs` is outside its range
 */
export function askModel(
  classifier: ModelClassifier,
  context: GuidanceContext,
  options: AskModelOptions,
): Promise<ModelAnswer> {
  const { bank, timeLimitMs = 2_000, timers, redact } = options;
  checkWhole('timeLimitMs', timeLimitMs, { max: 600_000 });
  // Made now: the context may have moved on when the classifier looks.
  const digest = contextDigest(context, bank);
  return withTimeLimit<unknown>((signal) => classifier.classify(digest, { signal }), {
    timeLimitMs,
    ...present({ timers }),
  }).then((outcome): ModelAnswer => {
    switch (outcome.kind) {
      case 'timed-out':
        return faultOf(classifier, 'model-timed-out', `no answer within ${timeLimitMs} ms`);
      case 'failed':
        return faultOf(classifier, 'model-rejected', thrownText(outcome.thrown, redact));
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
    const { instructionId, confidence } = isJsonObject(value) ? value : {};
    if (typeof instructionId !== 'string' || typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) {
      return faultOf(classifier, 'model-junk', 'the answer has no instructionId or no confidence from 0 to 1');
    }
    if (bank.get(instructionId) === undefined) {
      return faultOf(classifier, 'model-unknown-id', 'the answer names no instruction of the bank');
    }
    return { kind: 'verdict', classifier: classifier.name, verdict: { instructionId, confidence } };
  } catch (thrown) {
    return faultOf(classifier, 'model-junk', thrownText(thrown, redact));
  }
}

function faultOf(classifier: ModelClassifier, code: GuidanceFault['code'], message: string): ModelAnswer {
  return { kind: 'fault', fault: { provider: classifier.name, phase: 'model', code, message } };
}

/**
 * A provider that says what a model chose, for the next evaluation: it is sorted and capped like any other. Says
 * nothing when the bank does not know the id.
 *
 * @param name the classifier's name, under which caps count
 */
export function verdictGuidance(name: string, bank: GuidanceBank, verdict: ModelVerdict): GuidanceProvider {
  const injection = bank.get(verdict.instructionId);
  const relevant = injection !== undefined;
  return {
    name,
    category: injection?.category ?? 'model',
    decisionPoints: DECISION_POINTS,
    classify: () => ({ relevant, confidence: verdict.confidence, reason: `chosen by ${name}` }),
    provide: () => injection,
  };
}

/** Where delays come from, so that a test needs no real time. */
export interface TaskTimers {
  /** Calls `callback` once after `delayMs` milliseconds. @returns stops it, if it has not run yet */
  after(delayMs: number, callback: () => void): () => void;
}

/** The machine's timers. One that waits does not keep the process alive. */
export const taskTimers: TaskTimers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** How a task with a time limit ended. */
export type TimedOutcome<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly thrown: unknown }
  | { readonly kind: 'timed-out' };

/** How long a task may take. */
export interface TaskLimit {
  readonly timeLimitMs: number;
  /** Default: the machine's. */
  readonly timers?: TaskTimers;
}

/**
 * Runs a task that may take `timeLimitMs`. The promise never rejects and settles when the task or the time is over,
 * whichever comes first; then the task's signal is aborted if it still runs, and what it does later is ignored.
 *
 * @param task may throw at once, reject, or ignore its signal
 */
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
    const settle = (outcome: TimedOutcome<Value>): void => {
      stop();
      resolve(outcome);
    };
    // Inside the executor of a promise, so that a task that throws at once is treated as one that rejects.
    new Promise<Value>((started) => started(task(controller.signal))).then(
      (value) => settle({ kind: 'done', value }),
      (thrown: unknown) => settle({ kind: 'failed', thrown }),
    );
  });
}
