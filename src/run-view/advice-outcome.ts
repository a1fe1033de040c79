import {
  passOver,
  type FaultKind,
  type HostKind,
  type LifeKind,
  type RequestKind,
  type UnreadKind,
} from '../records/pass-over.ts';
import type { PatternReference } from '../records/guidance.ts';
import type { StoredMessage } from '../records/stored-message.ts';
import type { AdviceAcknowledged, TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../records/delivery-reason.ts';

/** What became of a piece of advice, as its delivery record says. */
export type AdviceArm =
  /** It reached the agent. */
  | 'delivered'
  /** An experiment kept it back. */
  | 'withheld'
  /** The run only watches: nothing is said. */
  | 'shadowed'
  /** It should have reached the agent and did not. */
  | 'undelivered'
  /** There is no delivery record. */
  | 'unsettled';

/** Calls within which a pattern should clear, and over which what follows is counted, where nothing else is said. */
export const DEFAULT_WITHIN_CALLS = 10;

/**
 * A piece of advice and what followed. Plain JSON. What followed is what followed: no count here says that the advice was
 * the reason.
 */
export interface AdviceOutcome {
  readonly adviceId: string;
  readonly providerName: string;
  readonly speaker: 'feedback' | 'guidance';
  /** Of feedback: `info`, `caution`, `warning`. */
  readonly severity?: string;
  /** Its record. */
  readonly seq: number;
  /** Unix milliseconds; 0 where the record has no time. */
  readonly atMs: number;
  /** Calls of the run that had begun when it was produced. */
  readonly callsBefore: number;
  readonly arm: AdviceArm;
  /** Why it was not delivered. */
  readonly reason?: string;
  /** The pattern that it rests on. */
  readonly pattern?: PatternReference;
  /**
   * Whether that pattern was left within the calls asked for; null where that cannot be said: there is no pattern, it is not on
   * record as flagged, or the run went on for too few calls without leaving it.
   */
  readonly cleared: boolean | null;
  /** Calls until it was left, however many; absent while it was not. */
  readonly callsToClear?: number;
  /** The agent's first answer to it. */
  readonly acknowledged?: AdviceAcknowledged['response'];
  /** Of the calls asked for, those that began after it; fewer where the run ended earlier. */
  readonly followingCalls: number;
  /** Of results that came while those calls were made, failures. */
  readonly followingErrors: number;
  /** Tokens and cost of the model's answers meanwhile; absent where none says so. */
  readonly followingTokens?: number;
  readonly followingCostUsd?: number;
  /** Calls that the run went on for after it. */
  readonly callsLeft: number;
}

/** What outcomes are folded with. */
export interface AdviceOutcomeOptions {
  /** Calls; default 10. */
  readonly within?: number;
  /** Pieces that are kept, from the first on; later ones are only counted. Default 1,000. */
  readonly maxPieces?: number;
}

/** Patterns of a run that are known as flagged, at most; beyond it the oldest is forgotten. */
const MAX_FLAGGED = 256;
const DEFAULT_MAX_PIECES = 1_000;

type Draft = { -readonly [Field in keyof Omit<AdviceOutcome, 'callsLeft' | 'cleared'>]: AdviceOutcome[Field] } & {
  /** The pattern was on record as flagged, then or within the calls asked for. */
  wasFlagged: boolean;
};

/**
 * Folds the records of one run into what came of each piece of advice. Pure; records in `seq` order, from the first.
 *
 * Cost: O(pieces whose calls are still being counted) a record, which cadence keeps few; memory for `maxPieces` pieces.
 */
export class AdviceOutcomeFold {
  readonly #within: number;
  readonly #maxPieces: number;
  readonly #pieces = new Map<string, Draft>();
  /** Pieces that something may still be added to by calls, errors and usage. */
  #counting: Draft[] = [];
  /** Pieces whose pattern has not been left, by its identity. */
  readonly #waiting = new Map<string, Draft[]>();
  readonly #flagged = new Set<string>();
  #calls = 0;
  #leftOut = 0;

  constructor({ maxPieces = DEFAULT_MAX_PIECES, within = DEFAULT_WITHIN_CALLS }: AdviceOutcomeOptions = {}) {
    this.#within = within;
    this.#maxPieces = maxPieces;
  }

  /** Pieces that came when `maxPieces` were kept. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /**
   * Takes the next record.
   *
   * @param calls  of the run so far, with this record
   */
  fold(record: TrajectoryRecord, calls: number): void {
    const { payload } = record;
    while (this.#calls < calls) this.#called();
    switch (payload.kind) {
      case 'tool_ended':
        if (payload.is_error) for (const piece of this.#counting) piece.followingErrors += 1;
        return;
      case 'message_appended':
        this.#used(payload.message);
        return;
      case 'pattern_flagged':
        this.#flag(payload.pattern.identity);
        return;
      case 'pattern_cleared':
        this.#clear(payload.pattern.identity);
        return;
      case 'feedback_produced':
      case 'guidance_produced':
        this.#produced(record, payload);
        return;
      case 'feedback_delivered':
        this.#settled(payload.advice_id, payload);
        return;
      case 'guidance_delivered':
        this.#settled(payload.advice_id, payload.guidance);
        return;
      case 'advice_acknowledged':
        this.#acknowledged(payload);
        return;
      default:
        passOver<
          | LifeKind
          | 'turn_started'
          | 'turn_ended'
          | 'compaction'
          | 'tool_started'
          | RequestKind
          | HostKind
          | 'evaluation'
          | 'model_answered'
          | FaultKind
          | UnreadKind
        >(payload);
    }
  }

  /** What came of each piece so far, in the order in which they were produced. */
  outcomes(): readonly AdviceOutcome[] {
    return [...this.#pieces.values()].map((piece) => this.#outcomeOf(piece));
  }

  #outcomeOf(piece: Draft): AdviceOutcome {
    const { wasFlagged: _wasFlagged, ...told } = piece;
    const callsLeft = this.#calls - piece.callsBefore;
    return { ...told, cleared: this.#isCleared(piece, callsLeft), callsLeft };
  }

  #isCleared({ callsToClear, pattern, wasFlagged }: Draft, callsLeft: number): boolean | null {
    if (callsToClear !== undefined) return callsToClear <= this.#within;
    return pattern === undefined || !wasFlagged || callsLeft < this.#within ? null : false;
  }

  #called(): void {
    this.#calls += 1;
    let isOver = false;
    for (const piece of this.#counting) {
      // What follows the last of its calls is counted until the next one begins.
      if (piece.followingCalls === this.#within) isOver = true;
      else piece.followingCalls += 1;
    }
    if (isOver) this.#counting = this.#counting.filter((piece) => this.#calls - piece.callsBefore <= this.#within);
  }

  #used(message: StoredMessage): void {
    if (message.role !== 'assistant' || message.usage === undefined) return;
    const { cost_usd: costUsd, input_tokens: input, output_tokens: output } = message.usage;
    for (const piece of this.#counting) {
      if (input !== undefined || output !== undefined) {
        piece.followingTokens = (piece.followingTokens ?? 0) + (input ?? 0) + (output ?? 0);
      }
      if (costUsd !== undefined) piece.followingCostUsd = (piece.followingCostUsd ?? 0) + costUsd;
    }
  }

  #flag(identity: string): void {
    this.#flagged.delete(identity);
    this.#flagged.add(identity);
    const [oldest] = this.#flagged;
    if (this.#flagged.size > MAX_FLAGGED && oldest !== undefined) this.#flagged.delete(oldest);
    for (const piece of this.#waiting.get(identity) ?? []) {
      if (this.#calls - piece.callsBefore <= this.#within) piece.wasFlagged = true;
    }
  }

  #clear(identity: string): void {
    this.#flagged.delete(identity);
    for (const piece of this.#waiting.get(identity) ?? []) piece.callsToClear = this.#calls - piece.callsBefore;
    this.#waiting.delete(identity);
  }

  #produced(
    { recorded_at_unix_ms: atMs, seq }: TrajectoryRecord,
    payload: Extract<TrajectoryPayload, { readonly kind: 'feedback_produced' | 'guidance_produced' }>,
  ): void {
    if (this.#pieces.has(payload.advice_id)) return;
    if (this.#pieces.size >= this.#maxPieces) {
      this.#leftOut += 1;
      return;
    }
    const isFeedback = payload.kind === 'feedback_produced';
    const pattern = isFeedback ? payload.feedback.pattern : payload.classification.pattern;
    const piece: Draft = {
      adviceId: payload.advice_id,
      providerName: payload.provider_name,
      speaker: isFeedback ? 'feedback' : 'guidance',
      ...(isFeedback ? { severity: payload.feedback.severity } : {}),
      seq,
      atMs,
      callsBefore: this.#calls,
      arm: 'unsettled',
      ...(pattern === undefined ? {} : { pattern }),
      followingCalls: 0,
      followingErrors: 0,
      wasFlagged: pattern !== undefined && this.#flagged.has(pattern.identity),
    };
    this.#pieces.set(piece.adviceId, piece);
    this.#counting.push(piece);
    if (pattern === undefined) return;
    const waiting = this.#waiting.get(pattern.identity) ?? [];
    waiting.push(piece);
    this.#waiting.set(pattern.identity, waiting);
  }

  #settled(adviceId: string, { delivered, reason }: { readonly delivered: boolean; readonly reason?: string }): void {
    const piece = this.#pieces.get(adviceId);
    if (piece === undefined) return;
    piece.arm = delivered ? 'delivered' : armOf(reason);
    if (!delivered && reason !== undefined) piece.reason = reason;
  }

  #acknowledged({ advice_id: adviceId, provider_name: provider, response }: AdviceAcknowledged): void {
    const pieces = [...this.#pieces.values()];
    const piece =
      adviceId === undefined
        ? pieces.findLast(({ arm, providerName }) => arm === 'delivered' && providerName === provider)
        : this.#pieces.get(adviceId);
    if (piece !== undefined) piece.acknowledged ??= response;
  }
}

function armOf(reason: string | undefined): AdviceArm {
  if (reason === WITHHELD_REASON) return 'withheld';
  return reason === SHADOW_REASON ? 'shadowed' : 'undelivered';
}
