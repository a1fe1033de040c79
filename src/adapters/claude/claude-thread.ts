import { present } from '../../core/base/json.ts';
import { placeAdvice, type AdviceHandle } from '../../core/run/advice-handle.ts';
import type { EndedCall, HostCall } from '../host/host-event.ts';
import { unrunOutcome } from '../../core/facts/host-refusals.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import type { AgentEnding, AgentEvent } from '../../core/records/agent-event.ts';
import type { Run } from '../../core/run/run.ts';
import type { StreamedPart, ShownResult } from './read-message.ts';
import { answerEvent, callCutOff, callEnded, callStarted } from './to-events.ts';
import type { ContentBlock, Usage } from '../../core/records/agent-message.ts';
import { plainContent } from '../host/content-blocks.ts';
import { textOfBlocks } from './content-blocks.ts';

/** An answer of the model that arrives in parts. It is reported when it is complete, or when one of its calls has a result. */
export class PendingAnswer {
  readonly messageId: string;
  hasTurn = false;
  #blocks: ContentBlock[] = [];
  #modelId: string | undefined;
  #stopReason: string | undefined;
  #errorMessage: string | undefined;
  #usage: Usage = {};
  #reportedUsage: Usage = {};

  constructor(messageId: string) {
    this.messageId = messageId;
  }

  get text(): string {
    return textOfBlocks(this.#blocks);
  }
  get isReported(): boolean {
    return this.#blocks.length === 0;
  }
  /** True if the answer is the text of a failed request. */
  get isFault(): boolean {
    return this.#errorMessage !== undefined;
  }

  add(part: Omit<StreamedPart, 'messageId'>): void {
    this.#blocks.push(...part.blocks);
    this.#modelId = part.modelId ?? this.#modelId;
    this.#stopReason = part.stopReason ?? this.#stopReason;
    this.#errorMessage = part.errorMessage ?? this.#errorMessage;
    this.#usage = { ...this.#usage, ...part.usage };
  }

  tell(): AgentEvent {
    const usage = usageSince(this.#reportedUsage, this.#usage);
    this.#reportedUsage = this.#usage;
    const content = plainContent(this.#blocks);
    this.#blocks = [];
    return {
      type: 'message_end',
      message: {
        role: 'assistant',
        content,
        ...present({ stopReason: this.#stopReason, errorMessage: this.#errorMessage, modelId: this.#modelId, usage }),
      },
    };
  }
}

const TOKENS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'cacheWriteHourTokens'] as const;

/** Returns the increase of each count. Undefined if no count increased. The counts of an answer grow while it streams. */
function usageSince(usageBefore: Usage, now: Usage): Usage | undefined {
  const addedCounts = TOKENS.flatMap((name) => {
    const count = now[name];
    const addedTokens = count === undefined ? 0 : count - (usageBefore[name] ?? 0);
    return count === undefined || (addedTokens <= 0 && usageBefore[name] !== undefined)
      ? []
      : [[name, addedTokens] as const];
  });
  return addedCounts.length === 0 ? undefined : Object.fromEntries(addedCounts);
}

/** Maximum number of remembered calls. Hooks and messages both report a call, and it must be recorded once. */
const REMEMBERED_CALLS = 1_024;

interface KnownCall extends HostCall {
  /** State of the call. `handled`: the call has ended, and advice on its result was requested. */
  readonly state: 'requested' | 'started' | 'ended' | 'handled';
  /** The result that the model was shown before the end of the call was reported. */
  readonly shown?: ShownResult;
}

/** Hooks and messages report the same calls; messages usually come first. The run receives each event once. */
export class ClaudeThread {
  readonly run: Run;
  hasForcedTurn = false;
  readonly #calls = new LruMap<KnownCall>(REMEMBERED_CALLS);
  /** Calls that the SDK reported as denied. */
  readonly #deniedCalls = new LruMap<true>(REMEMBERED_CALLS);
  #answer: PendingAnswer | undefined;
  #isTurnOpen = false;
  /** Id of the answer that the open turn belongs to, if known. */
  #turnOwner: string | undefined;
  #lastText: string | undefined;
  /** Callbacks for advice that was given to the SDK. They are called when it is known whether the model has read the advice. */
  readonly #pendingVerdicts: ((isRead: boolean) => void)[] = [];

  constructor(run: Run) {
    this.run = run;
  }

  /** Text of an answer that was not yet reported to the run. */
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

  /** The advice counts as delivered when the model answers after it. */
  say(advice: readonly AdviceHandle[], channel: string, maxChars: number): string | undefined {
    const placedAdvice = placeAdvice(advice, maxChars);
    if (placedAdvice === undefined) return undefined;
    this.#pendingVerdicts.push((isRead) => {
      if (isRead) placedAdvice.delivered(channel);
      else placedAdvice.undelivered('the model was not asked again');
    });
    return placedAdvice.text;
  }

  /** The first call of a turn opens the turn. Returns false if the call has already run. */
  expectCall(call: HostCall): boolean {
    const knownCall = this.#calls.get(call.id);
    if (knownCall !== undefined) return knownCall.state === 'requested';
    if (!this.#isTurnOpen) this.#openTurn(undefined);
    this.#calls.set(call.id, { ...call, state: 'requested' });
    return true;
  }

  startCall(call: HostCall): void {
    this.expectCall(call);
    if (this.#calls.get(call.id)?.state !== 'requested') return;
    this.#markCall(call, 'started');
    this.emit(callStarted(call));
  }

  /** @returns false if the end was already recorded */
  endCall(call: EndedCall): boolean {
    if (this.#calls.get(call.id)?.state === 'handled') return false;
    this.#endCall(call, callEnded(call));
    this.#markCall(call, 'handled');
    return true;
  }

  /** Calls whose end no hook reported because they were refused, with the result that the model was shown. */
  unreported(calls: readonly EndedCall[]): readonly EndedCall[] {
    return calls.flatMap((call) => {
      const knownCall = this.#calls.get(call.id);
      if (knownCall?.state === 'handled') return [];
      const { result, isError } = knownCall?.shown ?? call;
      // The hook that precedes a run of the call reported it, and no hook reported its end.
      const outcome = knownCall?.state === 'started' ? unrunOutcome(result) : undefined;
      return [{ ...call, result, isError, outcome }];
    });
  }

  deny(callId: string): void {
    this.#deniedCalls.set(callId, true);
  }

  endBatch(): void {
    this.tellAnswer(false);
    this.#isTurnOpen = false;
  }

  /** @param startsCalls true if nothing else reports the start of a call */
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

  finish(messageId: string | undefined, ending: Pick<StreamedPart, 'usage' | 'stopReason'>): void {
    if (messageId === undefined || this.#answer?.messageId === messageId) this.#answer?.add({ blocks: [], ...ending });
  }

  /** @param endsCall true if nothing else reports the end of a call */
  show(shown: ShownResult, endsCall: boolean): void {
    const call = this.#calls.get(shown.callId);
    if (call === undefined || isOver(call)) return;
    if (endsCall) this.#endAsShown(call, shown);
    else this.#calls.set(call.id, { ...call, shown });
  }

  /** @param isWhole true if no further part follows; an answer without a call is then a separate turn */
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

  /** @param comesToo true if the same answer also arrives as a message */
  stop(text: string | undefined, comesToo: boolean): void {
    // An incomplete answer is reported later, when it is complete.
    if (!comesToo || this.#answer?.text === text) this.tellAnswer(true);
    this.#settleAdvice(true);
    if (!comesToo && text !== undefined && text !== this.#lastText) {
      this.#openTurn(undefined);
      this.emit(answerEvent(text));
    }
    this.#lastText = undefined;
    this.closeTurn();
  }

  /** Called when the thread has ended or pauses until the next prompt. */
  pause(): void {
    this.tellAnswer(false);
    this.closeTurn();
  }

  /** Called when no request follows. The model will not read the remaining advice. */
  close(): void {
    this.tellAnswer(true);
    this.pause();
    for (const [, call] of this.#calls.entries()) {
      if (call.state === 'started') this.emit(callCutOff(call));
      this.#markCall(call, 'ended');
    }
    this.#settleAdvice(false);
  }

  end(ending: AgentEnding = {}): void {
    this.close();
    this.emit({ type: 'agent_end', ...ending });
  }

  /** Closes the turn. The next call belongs to another turn. */
  closeTurn(): void {
    this.#endShown();
    this.#isTurnOpen = false;
    this.#turnOwner = undefined;
  }

  /** Ends calls whose result was shown to the model but whose end no hook reported, for example stopped calls. */
  #endShown(): void {
    for (const [, call] of this.#calls.entries()) {
      if (call.shown !== undefined && !isOver(call)) this.#endAsShown(call, call.shown);
    }
  }

  #endAsShown(call: HostCall, shown: ShownResult): void {
    const outcome = this.#deniedCalls.has(call.id) ? 'refused' : undefined;
    this.#endCall(call, callEnded({ ...call, result: shown.result, isError: shown.isError, outcome }));
    this.#markCall(call, 'ended');
  }

  #hearCall(answer: PendingAnswer, call: HostCall): void {
    const isNew = !this.#calls.has(call.id);
    // If the call is already known, a hook reported it first. The turn it opened belongs to this answer.
    if (isNew && this.#turnOwner !== answer.messageId) this.#openTurn(answer.messageId);
    this.#turnOwner = answer.messageId;
    answer.hasTurn = true;
    if (isNew) this.#calls.set(call.id, { ...call, state: 'requested' });
  }

  #openTurn(owner: string | undefined): void {
    this.#settleAdvice(true);
    this.emit({ type: 'turn_start' });
    this.#isTurnOpen = true;
    this.#turnOwner = owner;
  }

  #markCall({ id, name }: HostCall, state: KnownCall['state']): void {
    this.#calls.set(id, { id, name, args: null, state });
  }

  #settleAdvice(isRead: boolean): void {
    for (const verdict of this.#pendingVerdicts.splice(0)) verdict(isRead);
  }

  #endCall(call: HostCall, end: AgentEvent): void {
    this.startCall(call);
    if (this.#calls.get(call.id)?.state !== 'started') return;
    this.tellAnswer(false);
    this.emit(end);
  }
}

function isOver({ state }: KnownCall): boolean {
  return state === 'ended' || state === 'handled';
}
