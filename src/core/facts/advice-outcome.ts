import { adviceOf } from '../records/derived-payload.ts';
import { present } from '../base/json.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { outcomeOf, type TrajectoryPayload, type TrajectoryRecord } from '../records/trajectory-record.ts';
import type { PayloadOf } from '../records/shapes.ts';
import type { PatternReference } from '../records/spoken-advice.ts';
import type { StoredMessage } from '../records/agent-message.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../records/words.ts';
import { errorLineOf, type RunCall } from './run-call.ts';

/** How an advice text was delivered. */
export type Delivery =
  /** The advice reached the agent. */
  | 'delivered'
  /** An experiment withheld the advice. */
  | 'withheld'
  /** The run is in shadow mode, so no advice is delivered. */
  | 'shadowed'
  /** The delivery failed. */
  | 'undelivered'
  /** There is no record of a delivery. */
  | 'unsettled';

/** The first call that started after the advice was delivered, or produced if it was not delivered, compared with the last call that had ended before the advice. */
export type NextCall =
  /** A call of the same tool with the same arguments. */
  | 'repeated'
  /** Another call, which failed with the same error line. */
  | 'same-failure'
  /** Another call, which failed. Its error line differs, or the earlier call had not failed. */
  | 'other-failure'
  /** Another call, which a person or a policy refused. */
  | 'refused'
  /** Another call, which did not fail. */
  | 'succeeded'
  /** The call has no recorded result. */
  | 'open'
  /** No call followed. */
  | 'none';

/** Default number of calls within which a pattern should clear. Following events are also counted over this number of calls. */
export const DEFAULT_WITHIN_CALLS = 10;

/** An advice text and the events after it. Plain JSON. The counts state no cause. */
export interface AdviceOutcome {
  readonly adviceId: string;
  readonly providerName: string;
  readonly speaker: 'feedback' | 'guidance';
  readonly text: string;
  /** The severity of feedback: `info`, `caution`, `warning`. */
  readonly severity?: string;
  /** `seq` of the advice record. */
  readonly seq: number;
  /** Unix milliseconds; 0 if unknown. */
  readonly atMs: number;
  readonly callsBefore: number;
  readonly delivery: Delivery;
  /** The reason why the advice was not delivered. */
  readonly reason?: string;
  readonly pattern?: PatternReference;
  /**
   * True if the pattern cleared within `within` calls. Null if unknown: the advice has no pattern, no record flagged the
   * pattern, or fewer than `within` calls followed. If the run ended before `within` calls, the value is always null,
   * because counting only the patterns that cleared would overstate the effect of advice.
   */
  readonly cleared: boolean | null;
  /** Number of calls until the pattern cleared, without an upper limit. Absent if it did not clear. */
  readonly callsToClear?: number;
  readonly nextCall: NextCall;
  /** For advice without a pattern, in an ended run with a deadline: true if the run ended before the deadline. */
  readonly inTime?: boolean;
  /** The agent's first acknowledgement. */
  readonly response?: PayloadOf<'advice_acknowledged'>['response'];
  /** Number of calls that started after the advice, at most `within`. */
  readonly followingCalls: number;
  /** Number of failures among the results that arrived during those calls. */
  readonly followingErrors: number;
  /** Tokens and cost of the model's responses during those calls. Absent if not recorded. */
  readonly followingTokens?: number;
  readonly followingCostUsd?: number;
  /** Number of calls between the advice and the end of the run. */
  readonly callsLeft: number;
}

export interface AdviceOutcomeOptions {
  /** Number of calls; default 10. */
  readonly within?: number;
  /** Maximum number of advice texts that are kept, starting with the first. Later ones are only counted. Default 1,000. */
  readonly maxPieces?: number;
}

const MAX_FLAGGED = 256;
const DEFAULT_MAX_PIECES = 1_000;

interface FoldedRecord {
  readonly calls: number;
  readonly call: RunCall | undefined;
  readonly costUsd: number | undefined;
}

interface EndedCall {
  readonly call: RunCall;
  readonly record: TrajectoryRecord;
}

type Draft = {
  -readonly [Field in keyof Omit<AdviceOutcome, 'callsLeft' | 'cleared' | 'inTime'>]: AdviceOutcome[Field];
} & {
  before: EndedCall | undefined;
  wasFlagged: boolean;
};

/** Advice that a limit held back. Plain JSON. */
export interface HeldAdvice {
  readonly providerName: string;
  /** A key of `WORDS.held`. */
  readonly reason: string;
  readonly callsBefore: number;
}

const MAX_HELD_SHOWN = 20;

/** Records in `seq` order, from the first. Cost: O(advice whose calls are still counted), which are few. Memory: `maxPieces` texts. */
export class AdviceOutcomeFold {
  readonly #callLimit: number;
  readonly #maxPieces: number;
  readonly #pieces = new Map<string, Draft>();
  #counting: Draft[] = [];
  readonly #openByPattern = new Map<string, Draft[]>();
  readonly #flaggedPatterns = new Set<string>();
  #beforeNext: Draft[] = [];
  /** Advice texts whose next call is still open, by the number of that call. */
  readonly #nextOpen = new Map<number, readonly Draft[]>();
  #lastEnded: EndedCall | undefined;
  #deadlineMs: number | undefined;
  #endedAtMs: number | undefined;
  #calls = 0;
  #leftOut = 0;
  #heldCount = 0;
  readonly #held: HeldAdvice[] = [];

  constructor({ maxPieces = DEFAULT_MAX_PIECES, within = DEFAULT_WITHIN_CALLS }: AdviceOutcomeOptions = {}) {
    this.#callLimit = within;
    this.#maxPieces = maxPieces;
  }

  /** The advice that limits held back: the first 20, and how many there were. */
  get held(): { readonly first: readonly HeldAdvice[]; readonly count: number } {
    return { first: this.#held, count: this.#heldCount };
  }

  /** Number of advice texts beyond `maxPieces`. */
  get leftOut(): number {
    return this.#leftOut;
  }

  fold(record: TrajectoryRecord, { call, calls, costUsd }: FoldedRecord): void {
    const { payload, recorded_at_unix_ms: atMs } = record;
    while (this.#calls < calls) this.#countCall();
    switch (payload.kind) {
      case 'run_started':
        this.#deadlineMs = payload.steering?.deadline_at_unix_ms;
        return;
      case 'deadline_set':
        this.#deadlineMs = payload.deadline_at_unix_ms;
        return;
      case 'run_ended':
        this.#endedAtMs = atMs;
        return;
      case 'run_resumed':
        this.#endedAtMs = undefined;
        return;
      case 'tool_started':
        this.#callStarted(call);
        return;
      case 'tool_ended':
        if (outcomeOf(payload) === 'failed') for (const piece of this.#counting) piece.followingErrors += 1;
        if (call !== undefined) this.#callEnded({ call, record });
        return;
      case 'message_appended':
        this.#addUsage(payload.message, costUsd);
        return;
      case 'pattern_flagged':
        this.#flagPattern(payload.pattern.identity);
        return;
      case 'pattern_cleared':
        this.#clearPattern(payload.pattern.identity);
        return;
      case 'feedback_produced':
      case 'guidance_produced':
        this.#adviceProduced(record, payload);
        return;
      case 'advice_held':
        this.#heldCount += 1;
        if (this.#held.length < MAX_HELD_SHOWN)
          this.#held.push({ providerName: payload.provider_name, reason: payload.reason, callsBefore: this.#calls });
        return;
      case 'feedback_delivered':
        this.#adviceSettled(payload.advice_id, payload);
        return;
      case 'guidance_delivered':
        this.#adviceSettled(payload.advice_id, payload.guidance);
        return;
      case 'advice_acknowledged':
        this.#adviceAcknowledged(payload);
        return;
      default:
        break;
    }
  }

  outcomes(): readonly AdviceOutcome[] {
    return [...this.#pieces.values()].map((piece) => this.#outcomeOf(piece));
  }

  #outcomeOf(piece: Draft): AdviceOutcome {
    const { before: _before, wasFlagged: _wasFlagged, ...outcome } = piece;
    const callsLeft = this.#calls - piece.callsBefore;
    const [deadlineMs, endedAtMs] = [this.#deadlineMs, this.#endedAtMs];
    const canTell = piece.pattern === undefined && deadlineMs !== undefined && endedAtMs !== undefined;
    return {
      ...outcome,
      cleared: this.#isCleared(piece, callsLeft),
      callsLeft,
      ...(canTell ? { inTime: endedAtMs <= deadlineMs } : {}),
    };
  }

  #isCleared({ callsToClear, pattern, wasFlagged }: Draft, callsLeft: number): boolean | null {
    if (pattern === undefined || callsLeft < this.#callLimit) return null;
    if (callsToClear !== undefined) return callsToClear <= this.#callLimit;
    return wasFlagged ? false : null;
  }

  #callStarted(call: RunCall | undefined): void {
    if (call === undefined || this.#beforeNext.length === 0) return;
    for (const piece of this.#beforeNext) piece.nextCall = 'open';
    this.#nextOpen.set(call.number, this.#beforeNext);
    this.#beforeNext = [];
  }

  #callEnded(ended: EndedCall): void {
    for (const piece of this.#nextOpen.get(ended.call.number) ?? []) piece.nextCall = nextCallOf(piece.before, ended);
    this.#nextOpen.delete(ended.call.number);
    this.#lastEnded = ended;
  }

  #countCall(): void {
    this.#calls += 1;
    let isOver = false;
    for (const piece of this.#counting) {
      // Events after the last counted call are attributed to that call until the next call starts.
      if (piece.followingCalls === this.#callLimit) isOver = true;
      else piece.followingCalls += 1;
    }
    if (isOver) this.#counting = this.#counting.filter((piece) => this.#calls - piece.callsBefore <= this.#callLimit);
  }

  #addUsage(message: StoredMessage, costUsd: number | undefined): void {
    if (message.role !== 'assistant' || message.usage === undefined) return;
    const { input_tokens: input, output_tokens: output } = message.usage;
    for (const piece of this.#counting) {
      if (input !== undefined || output !== undefined) {
        piece.followingTokens = (piece.followingTokens ?? 0) + (input ?? 0) + (output ?? 0);
      }
      if (costUsd !== undefined) piece.followingCostUsd = (piece.followingCostUsd ?? 0) + costUsd;
    }
  }

  #flagPattern(identity: string): void {
    this.#flaggedPatterns.delete(identity);
    this.#flaggedPatterns.add(identity);
    const [oldest] = this.#flaggedPatterns;
    if (this.#flaggedPatterns.size > MAX_FLAGGED && oldest !== undefined) this.#flaggedPatterns.delete(oldest);
    for (const piece of this.#openByPattern.get(identity) ?? []) {
      if (this.#calls - piece.callsBefore <= this.#callLimit) piece.wasFlagged = true;
    }
  }

  #clearPattern(identity: string): void {
    this.#flaggedPatterns.delete(identity);
    for (const piece of this.#openByPattern.get(identity) ?? []) {
      piece.callsToClear = this.#calls - piece.callsBefore;
    }
    this.#openByPattern.delete(identity);
  }

  #adviceProduced(
    { recorded_at_unix_ms: atMs, seq }: TrajectoryRecord,
    payload: Extract<TrajectoryPayload, { readonly kind: 'feedback_produced' | 'guidance_produced' }>,
  ): void {
    if (this.#pieces.has(payload.advice_id)) return;
    if (this.#pieces.size >= this.#maxPieces) {
      this.#leftOut += 1;
      return;
    }
    const { pattern, severity, speaker, text } = adviceOf(payload);
    const piece: Draft = {
      adviceId: payload.advice_id,
      providerName: payload.provider_name,
      speaker,
      text,
      seq,
      atMs,
      callsBefore: this.#calls,
      delivery: 'unsettled',
      ...present({ severity, pattern }),
      nextCall: 'none',
      followingCalls: 0,
      followingErrors: 0,
      before: this.#lastEnded,
      wasFlagged: pattern !== undefined && this.#flaggedPatterns.has(pattern.identity),
    };
    this.#pieces.set(piece.adviceId, piece);
    this.#counting.push(piece);
    this.#beforeNext.push(piece);
    if (pattern === undefined) return;
    const openPieces = this.#openByPattern.get(pattern.identity) ?? [];
    openPieces.push(piece);
    this.#openByPattern.set(pattern.identity, openPieces);
  }

  #adviceSettled(
    adviceId: string,
    { delivered, reason }: { readonly delivered: boolean; readonly reason?: string },
  ): void {
    const piece = this.#pieces.get(adviceId);
    if (piece === undefined) return;
    if (delivered && piece.delivery === 'unsettled') this.#countAnew(piece);
    piece.delivery = delivered ? 'delivered' : deliveryOf(reason);
    if (!delivered && reason !== undefined) piece.reason = reason;
  }

  /** What came before the delivery does not follow from the advice. */
  #countAnew(piece: Draft): void {
    for (const [number, pieces] of this.#nextOpen)
      this.#nextOpen.set(
        number,
        pieces.filter((one) => one !== piece),
      );
    if (!this.#beforeNext.includes(piece)) this.#beforeNext.push(piece);
    if (!this.#counting.includes(piece)) this.#counting.push(piece);
    Object.assign(piece, { callsBefore: this.#calls, before: this.#lastEnded, nextCall: 'none' });
    Object.assign(piece, { followingCalls: 0, followingErrors: 0 });
    if (piece.callsToClear !== undefined) piece.callsToClear = 0;
    delete piece.followingTokens;
    delete piece.followingCostUsd;
  }

  #adviceAcknowledged({
    advice_id: adviceId,
    provider_name: provider,
    response,
  }: PayloadOf<'advice_acknowledged'>): void {
    const pieces = [...this.#pieces.values()];
    const piece =
      adviceId === undefined
        ? pieces.findLast(({ delivery, providerName }) => delivery === 'delivered' && providerName === provider)
        : this.#pieces.get(adviceId);
    if (piece !== undefined) piece.response ??= response;
  }
}

function nextCallOf(previousCall: EndedCall | undefined, next: EndedCall): NextCall {
  const { args = null, tool } = previousCall?.call ?? {};
  if (tool === next.call.tool && canonicalJson(args) === canonicalJson(next.call.args)) return 'repeated';
  if (next.call.outcome !== undefined) return next.call.outcome === 'refused' ? 'refused' : 'open';
  if (!next.call.failed) return 'succeeded';
  const line = previousCall?.call.failed === true ? errorLineOf(previousCall.call, previousCall.record) : undefined;
  return line !== undefined && line === errorLineOf(next.call, next.record) ? 'same-failure' : 'other-failure';
}

function deliveryOf(reason: string | undefined): Delivery {
  if (reason === WITHHELD_REASON) return 'withheld';
  return reason === SHADOW_REASON ? 'shadowed' : 'undelivered';
}
