import { present } from '../../base/present.ts';
import type { AdviceHandle } from '../../run/advice-handle.ts';
import { joinAdvice } from '../../steering/advice/join-advice.ts';
import type { EndedCall, HostCall } from '../../host/host-event.ts';
import { LruMap } from '../../base/lru-map.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import type { Run } from '../../run/run.ts';
import { PendingAnswer } from './pending-answer.ts';
import type { StreamedPart, ShownResult } from './read-message.ts';
import { answerEvent, callCutOff, callEnded, callStarted } from './to-events.ts';

/** Calls that are remembered, so that what hooks and messages both tell of is recorded once. */
const REMEMBERED_CALLS = 1_024;

/** A call of which something was told. */
interface KnownCall extends HostCall {
  /** `asked`: the model asked for it. `heard`: it is over, and advice was asked for after its result. */
  readonly state: 'asked' | 'started' | 'ended' | 'heard';
  /** What the model is shown as its result, while it is not over. */
  readonly shown?: ShownResult;
}

/**
 * What the main thread or a subagent has told so far. Hooks tell of calls as they happen; messages tell of the same
 * calls and of the answers that ask for them, mostly a little earlier, sometimes later. Each thing reaches the run once.
 */
export class ClaudeThread {
  readonly run: Run;
  /** A turn was forced at its end. */
  hasForcedTurn = false;
  readonly #calls = new LruMap<KnownCall>(REMEMBERED_CALLS);
  #answer: PendingAnswer | undefined;
  #isTurnOpen = false;
  /** The answer that the open turn belongs to, where that is known. */
  #turnOwner: string | undefined;
  /** The last answer without calls. */
  #lastText: string | undefined;
  /** Verdicts on advice that was handed over, for the moment at which it is clear whether the model reads it. */
  readonly #unread: ((isRead: boolean) => void)[] = [];

  constructor(run: Run) {
    this.run = run;
  }

  /** Text of an answer that the run does not know of yet. */
  get pendingText(): string | undefined {
    const text = this.#answer?.text ?? '';
    return text === '' ? undefined : text;
  }

  knowsCall(callId: string): boolean {
    return this.#calls.has(callId);
  }

  emit(event: AgentEvent): void {
    this.run.emit(event);
  }

  /**
   * The advice as one text, to be handed to the SDK. It counts as delivered when the model answers after it.
   *
   * @returns undefined when there is nothing to say
   */
  say(advice: readonly AdviceHandle[], channel: string, maxChars: number): string | undefined {
    if (advice.length === 0) return undefined;
    const { text, included, omitted } = joinAdvice(advice, { maxChars });
    this.#unread.push((isRead) => {
      for (const piece of included) {
        if (isRead) piece.delivered(channel);
        else piece.undelivered('the model was not asked again');
      }
      for (const piece of omitted) piece.undelivered(`no room in ${maxChars} characters`);
    });
    return text === '' ? undefined : text;
  }

  /** A hook says that a call is about to run; the first call of a turn opens it. @returns false if it ran before */
  expectCall(call: HostCall): boolean {
    const known = this.#calls.get(call.id);
    if (known !== undefined) return known.state === 'asked';
    if (!this.#isTurnOpen) this.#openTurn(undefined);
    this.#calls.set(call.id, { ...call, state: 'asked' });
    return true;
  }

  /** A call begins to run. */
  startCall(call: HostCall): void {
    this.expectCall(call);
    if (this.#calls.get(call.id)?.state !== 'asked') return;
    this.#mark(call, 'started');
    this.emit(callStarted(call));
  }

  /** A hook says that a call is over: now its result is heard. @returns false if it was heard before */
  endCall(call: EndedCall): boolean {
    if (this.#calls.get(call.id)?.state === 'heard') return false;
    this.#end(call, callEnded(call));
    this.#mark(call, 'heard');
    return true;
  }

  /** Calls whose end no hook reported, because they were refused; with the result that the model was shown, if there is one. */
  unreported(calls: readonly EndedCall[]): readonly EndedCall[] {
    return calls.flatMap((call) => {
      const known = this.#calls.get(call.id);
      if (known?.state === 'heard') return [];
      const { result, isError } = known?.shown ?? call;
      return [{ ...call, result, isError }];
    });
  }

  /** All calls of an answer are through. */
  endBatch(): void {
    this.tellAnswer(false);
    this.#isTurnOpen = false;
  }

  /**
   * A part of an answer arrived.
   *
   * @param startsCalls nobody else tells when a call begins
   */
  hear(part: StreamedPart, startsCalls: boolean): void {
    const { messageId } = part;
    if (this.#answer?.messageId !== messageId) {
      this.tellAnswer(true);
      this.#answer = new PendingAnswer(messageId);
    }
    const answer = this.#answer;
    answer.add(part);
    for (const block of part.blocks) {
      if (block.type !== 'tool_call') continue;
      const call = { id: block.id, name: block.name, args: block.args };
      this.#hearCall(answer, call);
      if (startsCalls) this.startCall(call);
    }
  }

  /** The answer is through; its use is final. */
  finish(messageId: string | undefined, rest: Pick<StreamedPart, 'usage' | 'stopReason'>): void {
    if (messageId === undefined || this.#answer?.messageId === messageId) this.#answer?.add({ blocks: [], ...rest });
  }

  /**
   * The model is shown a result.
   *
   * @param endsCall nobody else tells when a call ends
   */
  show(shown: ShownResult, endsCall: boolean): void {
    const call = this.#calls.get(shown.callId);
    if (call === undefined || isOver(call)) return;
    if (endsCall) this.#endAsShown(call, shown);
    else this.#calls.set(call.id, { ...call, shown });
  }

  /**
   * Tells of the answer, as far as it has arrived.
   *
   * @param isWhole no part of it is still coming: without a call by now it has none, and is a turn of its own
   */
  tellAnswer(isWhole: boolean): void {
    const answer = this.#answer;
    if (answer === undefined || answer.isTold || !(answer.hasTurn || isWhole)) return;
    if (!answer.hasTurn) {
      this.#lastText = answer.text;
      if (!answer.isFault) this.#openTurn(answer.messageId);
      answer.hasTurn = true;
    }
    this.emit(answer.tell());
  }

  /**
   * The agent wants to stop.
   *
   * @param text its last answer
   * @param comesToo the same answer comes as a message, or has come
   */
  stop(text: string | undefined, comesToo: boolean): void {
    // An answer that is not all there yet is told of when it is.
    if (!comesToo || this.#answer?.text === text) this.tellAnswer(true);
    this.#settle(true);
    if (!comesToo && text !== undefined && text !== this.#lastText) {
      this.#openTurn(undefined);
      this.emit(answerEvent(text));
    }
    this.#lastText = undefined;
    this.closeTurn();
  }

  /** The thread is over, or paused until the next prompt. */
  pause(): void {
    this.tellAnswer(false);
    this.closeTurn();
  }

  /** Nothing more is coming: what the model has not read by now it does not read. */
  close(): void {
    this.tellAnswer(true);
    this.pause();
    for (const [, call] of this.#calls.entries()) {
      if (call.state === 'started') this.emit(callCutOff(call));
      this.#mark(call, 'ended');
    }
    this.#settle(false);
  }

  /** The subagent of this thread is through. */
  end(outcome: string | undefined): void {
    this.close();
    this.emit({ type: 'agent_end', ...present({ outcome }) });
  }

  /** The next call belongs to another turn. */
  closeTurn(): void {
    this.#endShown();
    this.#isTurnOpen = false;
    this.#turnOwner = undefined;
  }

  /** Calls whose result was shown and that no hook ended, such as one that was stopped. */
  #endShown(): void {
    for (const [, call] of this.#calls.entries()) {
      if (call.shown !== undefined && !isOver(call)) this.#endAsShown(call, call.shown);
    }
  }

  #endAsShown(call: HostCall, shown: ShownResult): void {
    this.#end(call, callEnded({ ...call, result: shown.result, isError: shown.isError }));
    this.#mark(call, 'ended');
  }

  #hearCall(answer: PendingAnswer, call: HostCall): void {
    const isNew = !this.#calls.has(call.id);
    // A call that is known was told of by a hook that was faster: its turn is this answer's.
    if (isNew && this.#turnOwner !== answer.messageId) this.#openTurn(answer.messageId);
    this.#turnOwner = answer.messageId;
    answer.hasTurn = true;
    if (isNew) this.#calls.set(call.id, { ...call, state: 'asked' });
  }

  #openTurn(owner: string | undefined): void {
    this.#settle(true);
    this.emit({ type: 'turn_start' });
    this.#isTurnOpen = true;
    this.#turnOwner = owner;
  }

  /** What it was called with and what it answered are not kept: both may be large. */
  #mark({ id, name }: HostCall, state: KnownCall['state']): void {
    this.#calls.set(id, { id, name, args: null, state });
  }

  #settle(isRead: boolean): void {
    for (const verdict of this.#unread.splice(0)) verdict(isRead);
  }

  #end(call: HostCall, end: AgentEvent): void {
    this.startCall(call);
    if (this.#calls.get(call.id)?.state !== 'started') return;
    this.tellAnswer(false);
    this.emit(end);
  }
}

function isOver({ state }: KnownCall): boolean {
  return state === 'ended' || state === 'heard';
}
