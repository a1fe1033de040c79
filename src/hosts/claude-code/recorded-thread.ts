import { callCutOff, callEnded, callStarted, answerEvent } from '../../adapters/claude/to-events.ts';
import { channelOf } from '../../adapters/claude/to-output.ts';
import type { TimeSpan } from '../../base/deadline.ts';
import type { EndedCall, HostCall, PromptEvent, TranscriptCall } from '../../host/host-event.ts';
import type { RunEnding } from '../../records/trajectory-record.ts';
import { answerAcknowledgement } from '../../host/answer-acknowledgement.ts';
import { settle, type HostThread } from '../../host/interpret-event.ts';
import { deliverAdvice, type AdviceHandle } from '../../run/advice-handle.ts';
import type { Run } from '../../run/run.ts';
import type { ClaudeState } from './claude-state.ts';

/** What a thread is taken up with. */
export interface RecordedThreadOptions {
  readonly run: Run;
  /** As the run's records tell it now. */
  readonly state: () => ClaudeState;
  /** From the prompt on; undefined: none is set. */
  readonly deadline: TimeSpan | undefined;
  readonly deadlineFrom: 'session' | 'prompt';
  /** A call's id as it is stored. */
  readonly storedId: (id: string) => string;
  /** How the ids of calls of this tool and these arguments begin, for a host that has none. */
  readonly pairKey: (call: HostCall) => string;
  /** Why nothing can reach the agent, such as an event that is taken late; undefined: it can. */
  readonly undeliverable?: string | undefined;
}

/** The tool of `coxswain mcp`, as hosts name it. The server itself cannot know whose call it is. */
const ACKNOWLEDGES = /(?:^|[^a-z])coxswain[^a-z]+acknowledge_advice$/;

/** A session or a subagent whose state follows from its records, because each event may be a process of its own. */
export class RecordedThread implements HostThread {
  readonly run: Run;
  readonly known = {};
  readonly #options: RecordedThreadOptions;

  constructor(options: RecordedThreadOptions) {
    this.run = options.run;
    this.#options = options;
  }

  get hasForcedTurn(): boolean {
    return this.#state.forcedTurn;
  }

  get isForcing(): boolean {
    return this.#state.isForcing === true;
  }

  get isTurnOpen(): boolean {
    return this.#state.turnOpen;
  }

  get hasUnheardCall(): boolean {
    return this.#state.hasUnheardCall === true;
  }

  hasUnfinished(batch: 'open-calls' | readonly string[]): boolean {
    const { closedCalls, openCalls } = this.#state;
    if (batch === 'open-calls') return openCalls.length > 0;
    return batch.some((id) => !closedCalls.includes(this.#options.storedId(id)));
  }

  /** What follows the last call that events have told of, and what of those before it is still open. */
  missed(answers: readonly (readonly TranscriptCall[])[]): readonly (readonly EndedCall[])[] {
    const calls = answers.flat();
    const found = new Map(calls.map((call) => [call, this.#lookUp(call)]));
    const { lastClosedCall } = this.#state;
    const lastKnown = calls.findLastIndex(
      (call) => found.get(call) !== 'new' || this.#options.storedId(call.id) === lastClosedCall,
    );
    const isMissed = (call: TranscriptCall): boolean =>
      found.get(call) === 'open' || (found.get(call) === 'new' && calls.indexOf(call) > lastKnown);
    return answers
      .map((answer) => answer.flatMap((call) => (call.ended !== undefined && isMissed(call) ? [call.ended] : [])))
      .filter((ended) => ended.length > 0);
  }

  beginPrompt({ isTask }: PromptEvent): void {
    const { deadline, deadlineFrom } = this.#options;
    if (deadline === undefined || !isTask) return;
    if (deadlineFrom === 'prompt' || !this.#state.deadlineSet) this.run.setDeadline(deadline);
  }

  compact(trigger: string): void {
    this.run.emit({ type: 'compaction', trigger });
  }

  expectCall(issued: HostCall): boolean {
    const call = this.#identified(issued);
    if (this.#lookUp(call) !== 'new') return false;
    if (!this.#state.turnOpen) this.run.emit({ type: 'turn_start' });
    return true;
  }

  startCall(call: HostCall): void {
    this.run.emit(callStarted(this.#identified(call)));
  }

  endCall(ended: EndedCall): boolean {
    const call = this.#paired(ended);
    if (this.#lookUp(call) === 'closed') return false;
    if (this.expectCall(call)) this.startCall(call);
    const begun = this.#state.openCalls.find(([id]) => id === this.#options.storedId(call.id));
    // A transcript may have another name for the tool.
    const name = begun?.[1] ?? call.name;
    this.run.emit(callEnded({ ...call, name }));
    if (ACKNOWLEDGES.test(name) && !call.isError) answerAcknowledgement(this.run, call.args);
    return true;
  }

  unreported(calls: readonly EndedCall[]): readonly EndedCall[] {
    return calls.filter((call) => this.#lookUp(call) !== 'closed');
  }

  endBatch(): void {
    this.#cutOffOpenCalls();
  }

  stop(text: string | undefined): void {
    this.#cutOffOpenCalls();
    if (text === undefined) return;
    this.run.emit({ type: 'turn_start' });
    this.run.emit(answerEvent(text));
  }

  /** The delivery of the advice that forced it is on the record. */
  forced(): void {}

  end(ending: RunEnding = { outcome: 'ended' }): void {
    this.#cutOffOpenCalls();
    this.run.emit({ type: 'agent_end', ...ending });
  }

  say(advice: readonly AdviceHandle[], name: string): string | undefined {
    const { undeliverable } = this.#options;
    if (undeliverable === undefined) return deliverAdvice(advice, { channel: channelOf(name) });
    settle(advice, undeliverable);
    return undefined;
  }

  get #state(): ClaudeState {
    return this.#options.state();
  }

  /** A call with an id of ours where the host has none. Its end finds it by how the id begins. */
  #identified<Call extends HostCall>(call: Call): Call {
    if (call.isPairedByArguments !== true) return call;
    const { isPairedByArguments: _none, ...identified } = { ...call, id: `${this.#options.pairKey(call)}${call.id}` };
    // What is left out is optional.
    return identified as Call;
  }

  /** Else it belongs to a call that was over before: the hook may be configured twice. */
  #paired(call: EndedCall): EndedCall {
    if (call.isPairedByArguments !== true) return call;
    const { openCalls, closedCalls } = this.#state;
    const key = this.#options.pairKey(call);
    const id = [...openCalls.map(([open]) => open), ...closedCalls].find((one) => one.startsWith(key));
    const identified = this.#identified(call);
    return id === undefined ? identified : { ...identified, id };
  }

  #lookUp({ id }: HostCall): 'new' | 'open' | 'closed' {
    const stored = this.#options.storedId(id);
    const { openCalls, closedCalls } = this.#state;
    if (openCalls.some(([open]) => open === stored)) return 'open';
    return closedCalls.includes(stored) ? 'closed' : 'new';
  }

  /** Calls without a result, such as one that the user interrupted. */
  #cutOffOpenCalls(): void {
    for (const [id, name] of this.#state.openCalls) this.run.emit(callCutOff({ id, name }));
  }
}
