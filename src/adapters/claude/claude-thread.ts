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

/** Most calls remembered to record each only once, although hooks and messages both report it. */
const REMEMBERED_CALLS = 1_024;

/** A reported call. */
interface KnownCall extends HostCall {
  /** `asked`: the model requested it. `heard`: it has ended, and advice was requested after its result. */
  readonly state: 'requested' | 'started' | 'ended' | 'handled';
  /** The result shown to the model before the call has ended. */
  readonly shown?: ShownResult;
}

/**
 * State of the main thread or a subagent. Hooks report calls as they happen; messages report the same
 * calls and the answers that request them, usually a little earlier, sometimes later. The run gets each event once.
 */
export class ClaudeThread {
  readonly run: Run;
  /** A turn was forced at its end. */
  hasForcedTurn = false;
  readonly #calls = new LruMap<KnownCall>(REMEMBERED_CALLS);
  #answer: PendingAnswer | undefined;
  #isTurnOpen = false;
  /** The answer of the open turn, if known. */
  #turnOwner: string | undefined;
  /** The last answer without calls. */
  #lastText: string | undefined;
  /** Handed-over advice, until it is clear whether the model reads it. */
  readonly #unread: ((isRead: boolean) => void)[] = [];

  constructor(run: Run) {
    this.run = run;
  }

  /** Text of an answer not yet reported to the run. */
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
   * The advice as one text for the SDK. It counts as delivered when the model answers after it.
   *
   * @returns undefined if there is nothing to say
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

  /** A hook reports that a call is about to run; the first call of a turn opens the turn. @returns false if it ran before */
  expectCall(call: HostCall): boolean {
    const known = this.#calls.get(call.id);
    if (known !== undefined) return known.state === 'requested';
    if (!this.#isTurnOpen) this.#openTurn(undefined);
    this.#calls.set(call.id, { ...call, state: 'requested' });
    return true;
  }

  /** A call starts. */
  startCall(call: HostCall): void {
    this.expectCall(call);
    if (this.#calls.get(call.id)?.state !== 'requested') return;
    this.#mark(call, 'started');
    this.emit(callStarted(call));
  }

  /** A hook reports the end of a call: handles its result. @returns false if that happened before */
  endCall(call: EndedCall): boolean {
    if (this.#calls.get(call.id)?.state === 'handled') return false;
    this.#end(call, callEnded(call));
    this.#mark(call, 'handled');
    return true;
  }

  /** Calls whose end no hook reported, because they were refused; with the result shown to the model, if any. */
  unreported(calls: readonly EndedCall[]): readonly EndedCall[] {
    return calls.flatMap((call) => {
      const known = this.#calls.get(call.id);
      if (known?.state === 'handled') return [];
      const { result, isError } = known?.shown ?? call;
      return [{ ...call, result, isError }];
    });
  }

  /** All calls of an answer are done. */
  endBatch(): void {
    this.tellAnswer(false);
    this.#isTurnOpen = false;
  }

  /**
   * A part of an answer arrived.
   *
   * @param startsCalls nothing else reports the start of a call
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

  /** The answer is complete; its usage is final. */
  finish(messageId: string | undefined, rest: Pick<StreamedPart, 'usage' | 'stopReason'>): void {
    if (messageId === undefined || this.#answer?.messageId === messageId) this.#answer?.add({ blocks: [], ...rest });
  }

  /**
   * The model is shown a result.
   *
   * @param endsCall nothing else reports the end of a call
   */
  show(shown: ShownResult, endsCall: boolean): void {
    const call = this.#calls.get(shown.callId);
    if (call === undefined || isOver(call)) return;
    if (endsCall) this.#endAsShown(call, shown);
    else this.#calls.set(call.id, { ...call, shown });
  }

  /**
   * Reports the available part of the answer.
   *
   * @param isWhole no part is still coming: an answer without a call is then a separate turn
   */
  tellAnswer(isWhole: boolean): void {
    const answer = this.#answer;
    if (answer === undefined || answer.isReported || !(answer.hasTurn || isWhole)) return;
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
   * @param comesToo the same answer arrives as a message
   */
  stop(text: string | undefined, comesToo: boolean): void {
    // An incomplete answer is reported once it is complete.
    if (!comesToo || this.#answer?.text === text) this.tellAnswer(true);
    this.#settle(true);
    if (!comesToo && text !== undefined && text !== this.#lastText) {
      this.#openTurn(undefined);
      this.emit(answerEvent(text));
    }
    this.#lastText = undefined;
    this.closeTurn();
  }

  /** The thread has ended, or paused until the next prompt. */
  pause(): void {
    this.tellAnswer(false);
    this.closeTurn();
  }

  /** Nothing follows: the model will not read advice that it has not read yet. */
  close(): void {
    this.tellAnswer(true);
    this.pause();
    for (const [, call] of this.#calls.entries()) {
      if (call.state === 'started') this.emit(callCutOff(call));
      this.#mark(call, 'ended');
    }
    this.#settle(false);
  }

  /** The subagent of this thread has finished. */
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

  /** Calls with a shown result and no end from a hook, such as stopped ones. */
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
    // A known call was reported by a faster hook: its turn is this answer's.
    if (isNew && this.#turnOwner !== answer.messageId) this.#openTurn(answer.messageId);
    this.#turnOwner = answer.messageId;
    answer.hasTurn = true;
    if (isNew) this.#calls.set(call.id, { ...call, state: 'requested' });
  }

  #openTurn(owner: string | undefined): void {
    this.#settle(true);
    this.emit({ type: 'turn_start' });
    this.#isTurnOpen = true;
    this.#turnOwner = owner;
  }

  /** Drops arguments and result: both may be large. */
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
  return state === 'ended' || state === 'handled';
}
