import type { AdviceHandle } from '../../core/run/advice-handle.ts';
import type { CallOutcome, RunEnding } from '../../core/records/trajectory-record.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import type { Run } from '../../core/run/run.ts';
import { erredBy, identityOf, refusedBy, type RefusalOptions } from './adapter-options.ts';
import { statedOutcome } from '../../core/run/refusal.ts';
import { present } from '../../core/base/json.ts';
import { saysThatItFailed } from './content-blocks.ts';
import { AdviceUnderWay, type OutgoingRequest } from './advice-under-way.ts';
import type { CallResult, IssuedCall } from './issued-call.ts';
import { UnansweredCalls, type OpenCall } from './open-calls.ts';
import { abortedBy, endingAfterTrouble, type Trouble } from './run-outcome.ts';

export interface ConversationAnswer {
  readonly message: AgentMessage & { readonly role: 'assistant' };
  readonly calls: readonly IssuedCall[];
}

/** The part of a request that the run does not contain yet. */
export interface RequestNews {
  /** System and user messages that were added since the last request. */
  readonly messages: readonly AgentMessage[];
  /** Tool results in the request. Results that the run already contains are skipped. */
  readonly results: readonly ShownResult[];
}

export interface ShownResult extends Omit<CallResult, 'isError'> {
  /** Empty if the provider gives calls no ids; the call is then the first open one of its tool. */
  readonly id: string;
  /** The tool, for a result without an id. */
  readonly name?: string;
  readonly isError?: boolean;
  /** The outcome of the call if its tool was not run, for an adapter that sees every run of a tool. */
  readonly unrun?: CallOutcome | undefined;
}

export interface SentRequest {
  readonly modelId: string | undefined;
  readonly systemPrompt: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly string[];
  /** True if the model can call only `tools`: the provider adds no tools, and no tools are loaded later. */
  readonly isClosed: boolean;
}

export type ConversationOptions = Pick<RefusalOptions, 'isRefused' | 'isError' | 'maxChars'>;

/**
 * Reports one agent's conversation with a model to a run. Requests, answers and tool calls become events. Advice is added to
 * the next request or to the result of a call. For adapters whose SDK exposes requests and answers.
 *
 * Every method is synchronous. An exception is an internal error of coxswain, so adapters must call the methods within a
 * guard.
 */
export class Conversation {
  readonly run: Run;
  readonly #options: ConversationOptions;
  readonly #advice: AdviceUnderWay;
  readonly #calls: UnansweredCalls = new UnansweredCalls();
  #requests = 0;
  #isAsking = false;
  #modelId: string | undefined;
  #sentRequest: OutgoingRequest | undefined;
  #signal: AbortSignal | undefined;
  /** True after an answer whose calls need another request. */
  #expectsRequest = false;
  /** Names of all tools in the last request, if known. */
  #offeredTools: ReadonlySet<string> | undefined;

  constructor(run: Run, options: ConversationOptions = {}) {
    this.run = run;
    this.#options = options;
    this.#advice = new AdviceUnderWay(options.maxChars);
    run.beforeEnd(() => {
      if (this.#expectsRequest && this.#signal?.aborted === true && this.#advice.trouble === undefined)
        this.troubled(abortedBy(this.#signal));
      this.#closeCalls();
      this.#advice.wait(this.#calls.all().flatMap((call) => call.before));
      this.#advice.close('the run ended before');
      return this.ending;
    });
  }

  /** The ending of the run if no further event occurs. Undefined if no error occurred. */
  get ending(): RunEnding | undefined {
    const { trouble } = this.#advice;
    return trouble === undefined ? undefined : endingAfterTrouble(trouble);
  }

  /** True while a request waits for its answer, or a call of the last answer for its result. */
  get isBusy(): boolean {
    return (this.#isAsking && this.#advice.trouble === undefined) || this.#calls.all().length > 0;
  }

  /** Returns true if one of these calls is open. */
  hasOpen(ids: readonly string[]): boolean {
    return ids.some((id) => this.#calls.get(id) !== undefined);
  }

  /** Returns true if the last answer contains this call, and the call has not started. */
  waitsFor({ id, name, argsText }: IssuedCall): boolean {
    return this.notStarted().some(
      (call) => (id === '' || call.id === id) && call.name === name && call.argsText === argsText,
    );
  }

  /** Returns true once a request was seen. */
  get hasAsked(): boolean {
    return this.#requests > 0;
  }

  /** Prepares a request that is about to be sent. A retry of a failed one has the same `key` for its content. */
  request(key: unknown, news: RequestNews): OutgoingRequest {
    const repeatedText = this.#advice.again(key);
    if (repeatedText !== undefined) return repeatedText;
    const { run } = this;
    for (const message of news.messages) run.emit({ type: 'message_end', message });
    for (const result of news.results) this.#endFromRequest(result);
    for (const call of this.#calls.all()) if (call.returned !== undefined) this.#endLate(call, call.returned);
    const isPrompt = this.#requests === 0 || news.messages.some(({ role }) => role === 'user');
    this.#requests += 1;
    this.#isAsking = true;
    const handles = [...(isPrompt ? run.advise('pre_render') : []), ...run.advise('pre_tool_selection')];
    return this.#advice.send(key, handles);
  }

  /** Takes the signal of a request. If it aborts before the next one, the user stopped the agent between the two. */
  watch(signal: AbortSignal | undefined): void {
    this.#signal = signal;
  }

  /** Records the request that `request` prepared, as it was sent. A request and its retries are recorded once. */
  sent(outgoing: OutgoingRequest, { modelId, systemPrompt, messages, tools, isClosed }: SentRequest): void {
    if (this.#sentRequest === outgoing) return;
    this.#sentRequest = outgoing;
    this.#offeredTools = isClosed ? new Set(tools) : undefined;
    const namedTools = tools.map((name) => ({ name }));
    const request = {
      iteration: this.#requests - 1,
      systemPrompt,
      messages,
      tools: namedTools,
      ...present({ modelId }),
    };
    this.run.emit({ type: 'provider_request_prepared', ...request });
  }

  answered({ message, calls }: ConversationAnswer): void {
    const { run } = this;
    this.#isAsking = false;
    if (message.modelId !== undefined && this.#modelId === undefined) {
      this.#modelId = message.modelId;
      run.emit({ type: 'run_identified', identity: identityOf(run, { modelId: message.modelId }) });
    }
    // These calls never ran, or the adapter did not see them run.
    for (const call of this.#calls.notStarted()) this.#calls.close(call);
    run.emit({ type: 'turn_start' });
    const openCalls = calls.map((call) => this.#calls.add(call));
    run.emit({ type: 'message_end', message: withCallIds(message, openCalls) });
    for (const call of openCalls) {
      if (call.answer === undefined) continue;
      this.started(call);
      this.later(this.ended(call, call.answer));
    }
    this.#expectsRequest = calls.some((call) => call.answer === undefined);
    if (this.#expectsRequest) return;
    for (const handle of run.advise('pre_response')) handle.undelivered('no request follows a final answer');
  }

  /** Adds calls that `answered` did not report; known ones stay unchanged. */
  issued(calls: readonly IssuedCall[]): void {
    for (const call of calls) if (!this.#calls.isKnown(call.id)) this.#calls.add(call);
  }

  /** Calls of the last answer that have not started. */
  notStarted(): readonly OpenCall[] {
    return this.#calls.notStarted();
  }

  /** Returns the call of a tool by id, else by tool and arguments, else by tool. Without a match, a new one is created. */
  callOf(called: IssuedCall): OpenCall {
    return this.#calls.find(called);
  }

  /** Records the start of a tool. Advice requested before the tool runs is added to its result. */
  started(call: OpenCall): void {
    const { callId: toolCallId, name: toolName, args } = call;
    call.isStarted = true;
    call.before = this.run.advise('pre_tool_execution', { pendingToolCalls: [{ toolCallId, toolName, args }] });
    this.run.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
  }

  /** Records the result of a tool. Returns the advice on it, which the caller must pass to `said` or `later`. */
  ended(call: OpenCall, { result, isError: isFlagged, outcome: known }: CallResult): readonly AdviceHandle[] {
    this.#calls.close(call);
    const outcome = known ?? statedOutcome(result) ?? refusedBy(this.#options, result, this.run);
    const isError = isFlagged || saysThatItFailed(result) || erredBy(this.#options, result, call.name, this.run);
    const end = { toolCallId: call.callId, toolName: call.name, result, isError, ...present({ outcome }) };
    this.run.emit({ type: 'tool_execution_end', ...end });
    const handles = [...call.before, ...this.run.advise('post_tool_result')];
    call.before = [];
    return handles;
  }

  /** Joins advice into one text for a tool result. It is delivered with the next request, or at once if no request is seen. */
  said(handles: readonly AdviceHandle[], channel: string): string | undefined {
    return this.#advice.place(handles, channel, this.#requests === 0);
  }

  /** Queues advice for the next request. If the adapter does not see requests, the advice is recorded as undelivered. */
  later(handles: readonly AdviceHandle[]): void {
    if (this.#requests > 0) this.#advice.wait(handles);
    else for (const handle of handles) handle.undelivered('requests to the model are not observed here');
  }

  /** Stores an error, for example a broken answer or an exception of a tool. The error ends the agent unless the agent continues. */
  troubled(trouble: Trouble): void {
    this.#advice.troubled(trouble);
  }

  /** Reports that a tool returned. The next request contains its result, and perhaps more than this outcome. */
  returned(call: OpenCall, outcome: CallResult): void {
    call.returned = outcome;
  }

  /** Takes over advice in tool results from another conversation that has the same history. */
  inherit(previous: Conversation): void {
    this.#advice.inherit(previous.#advice);
  }

  /** Ends a call whose result appears only in the request. */
  #endFromRequest(shown: ShownResult): void {
    const call = shown.id === '' ? this.#calls.firstOf(shown.name) : this.#calls.get(shown.id);
    if (call === undefined || (call.isStarted && call.returned === undefined)) return;
    const isUnknown = this.#isUnknown(call);
    const outcome = shown.outcome ?? (call.isStarted || isUnknown ? undefined : shown.unrun);
    this.#endLate(call, { result: shown.result, isError: shown.isError === true || isUnknown, outcome });
  }

  #endLate(call: OpenCall, outcome: CallResult): void {
    if (!call.isStarted) this.started(call);
    this.#advice.wait(this.ended(call, outcome));
  }

  /** Ends the remaining calls, because no request follows. A call of an unknown tool may have ended the agent. */
  #closeCalls(): void {
    for (const call of this.#calls.all()) {
      if (call.returned !== undefined) this.#endLate(call, call.returned);
      else if (!call.isStarted && this.#isUnknown(call)) {
        const reason = `there is no tool named ${call.name}`;
        this.#endLate(call, { result: reason, isError: true });
        if (this.#advice.trouble === undefined) this.troubled({ outcome: 'error', reason });
      }
    }
  }

  #isUnknown({ name }: OpenCall): boolean {
    return this.#offeredTools !== undefined && !this.#offeredTools.has(name);
  }
}

function withCallIds(
  message: ConversationAnswer['message'],
  calls: readonly OpenCall[],
): ConversationAnswer['message'] {
  if (typeof message.content === 'string') return message;
  const ids = calls.map(({ callId }) => callId);
  const content = message.content.map((block) =>
    block.type === 'tool_call' ? { ...block, id: ids.shift() ?? block.id } : block,
  );
  return { ...message, content };
}
