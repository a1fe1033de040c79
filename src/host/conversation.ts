import type { AdviceHandle } from '../run/advice-handle.ts';
import type { AgentMessage } from '../records/agent-message.ts';
import type { Run } from '../run/run.ts';
import { identityOf } from './adapter-options.ts';
import { present } from '../base/present.ts';
import { AdviceUnderWay, type OutgoingRequest } from './advice-under-way.ts';
import type { CallOutcome, IssuedCall } from './issued-call.ts';
import { UnansweredCalls, type OpenCall } from './open-calls.ts';
import type { RunEnding } from '../records/trajectory-record.ts';
import { endingAfterTrouble, type Trouble } from './run-outcome.ts';

/** A model's whole answer. */
export interface ConversationAnswer {
  readonly message: AgentMessage & { readonly role: 'assistant' };
  readonly calls: readonly IssuedCall[];
}

/** The part of a request that the run has not seen. */
export interface RequestNews {
  /** Messages of the system or the user since the last request. */
  readonly messages: readonly AgentMessage[];
  /** Tool results in the request. Those that the run already has are skipped. */
  readonly results: readonly { readonly id: string; readonly result: unknown; readonly isError?: boolean }[];
}

/** A request as sent, for its record. */
export interface SentRequest {
  readonly modelId: string | undefined;
  readonly systemPrompt: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly string[];
  /** The model can call only `tools`: the provider has none, and none are loaded later. */
  readonly isClosed: boolean;
}

/** Options of `Conversation`. */
export interface ConversationOptions {
  /** Most characters of advice in one text; default 9,000. */
  readonly maxChars?: number;
  /** Why advice cannot be delivered before the final answer. */
  readonly noWayBeforeAnswer: string;
}

/**
 * One agent's conversation with a model, reported to a run: requests, answers and tool calls become events, and advice goes
 * into the next request or a call's result. For adapters whose SDK exposes requests and answers.
 *
 * Every method is synchronous; an error is a fault in coxswain, so call it within a guard.
 */
export class Conversation {
  readonly run: Run;
  readonly #options: ConversationOptions;
  readonly #advice: AdviceUnderWay;
  /** Calls of the last answer, and those still running. */
  readonly #calls: UnansweredCalls = new UnansweredCalls();
  #requests = 0;
  #modelId: string | undefined;
  #sent: OutgoingRequest | undefined;
  /** Names of all tools in the last request, if known. */
  #offered: ReadonlySet<string> | undefined;

  constructor(run: Run, options: ConversationOptions) {
    this.run = run;
    this.#options = options;
    this.#advice = new AdviceUnderWay(options.maxChars);
    run.beforeEnd(() => {
      this.#closeCalls();
      this.#advice.wait(this.#calls.all().flatMap((call) => call.before));
      this.#advice.close('the run ended before');
      return this.ending;
    });
  }

  /** The ending of the run if nothing more happens; undefined without an error. */
  get ending(): RunEnding | undefined {
    const { trouble } = this.#advice;
    return trouble === undefined ? undefined : endingAfterTrouble(trouble);
  }

  /** Returns true once a request was seen. */
  get hasAsked(): boolean {
    return this.#requests > 0;
  }

  /**
   * A request is about to be sent.
   *
   * @param key  identifies its content: a failed request is retried under the same key
   */
  request(key: unknown, news: RequestNews): OutgoingRequest {
    const again = this.#advice.again(key);
    if (again !== undefined) return again;
    const { run } = this;
    for (const message of news.messages) run.emit({ type: 'message_end', message });
    for (const result of news.results) this.#endFromRequest(result);
    for (const call of this.#calls.all()) if (call.returned !== undefined) this.#endLate(call, call.returned);
    const isPrompt = this.#requests === 0 || news.messages.some(({ role }) => role === 'user');
    this.#requests += 1;
    const handles = [...(isPrompt ? run.advise('pre_render') : []), ...run.advise('pre_tool_selection')];
    return this.#advice.send(key, handles);
  }

  /** Records the request that `request` prepared, as sent. A retry is recorded once. */
  sent(outgoing: OutgoingRequest, { modelId, systemPrompt, messages, tools, isClosed }: SentRequest): void {
    if (this.#sent === outgoing) return;
    this.#sent = outgoing;
    this.#offered = isClosed ? new Set(tools) : undefined;
    const named = tools.map((name) => ({ name }));
    const request = { iteration: this.#requests - 1, systemPrompt, messages, tools: named, ...present({ modelId }) };
    this.run.emit({ type: 'provider_request_prepared', ...request });
  }

  /** The model answered. */
  answered({ message, calls }: ConversationAnswer): void {
    const { run } = this;
    if (message.modelId !== undefined && this.#modelId === undefined) {
      this.#modelId = message.modelId;
      run.emit({ type: 'run_identified', identity: identityOf(run, { modelId: message.modelId }) });
    }
    // These calls never ran, or ran unseen.
    for (const call of this.#calls.notStarted()) this.#calls.close(call);
    run.emit({ type: 'turn_start' });
    const opened = calls.map((call) => this.#calls.add(call));
    run.emit({ type: 'message_end', message: withCallIds(message, opened) });
    for (const call of opened) {
      if (call.answer === undefined) continue;
      this.started(call);
      this.later(this.ended(call, call.answer));
    }
    if (calls.some((call) => call.answer === undefined)) return;
    for (const handle of run.advise('pre_response')) handle.undelivered(this.#options.noWayBeforeAnswer);
  }

  /** Adds calls that `answered` did not report; known ones stay unchanged. */
  issued(calls: readonly IssuedCall[]): void {
    for (const call of calls) if (!this.#calls.isKnown(call.id)) this.#calls.add(call);
  }

  /** Calls of the last answer that have not started. */
  notStarted(): readonly OpenCall[] {
    return this.#calls.notStarted();
  }

  /** The call that a tool is about to run: by id; without one by tool and arguments, else by tool; else a new one. */
  callOf(called: IssuedCall): OpenCall {
    return this.#calls.find(called);
  }

  /** A tool starts. Advice before it runs goes with its result. */
  started(call: OpenCall): void {
    const { callId: toolCallId, name: toolName, args } = call;
    call.isStarted = true;
    call.before = this.run.advise('pre_tool_execution', { pendingToolCalls: [{ toolCallId, toolName, args }] });
    this.run.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
  }

  /** A tool returned. @returns the advice on it: settle it with `said` or `later` */
  ended(call: OpenCall, { result, isError }: CallOutcome): readonly AdviceHandle[] {
    this.#calls.close(call);
    this.run.emit({ type: 'tool_execution_end', toolCallId: call.callId, toolName: call.name, result, isError });
    const handles = [...call.before, ...this.run.advise('post_tool_result')];
    call.before = [];
    return handles;
  }

  /**
   * The advice as one text, which the host adds to a result. It counts as delivered with the next request; if no requests
   * are visible, at once.
   */
  said(handles: readonly AdviceHandle[], channel: string): string | undefined {
    return this.#advice.place(handles, channel, this.#requests === 0);
  }

  /** Queues advice for the next request; if no requests are visible, it is undelivered. */
  later(handles: readonly AdviceHandle[]): void {
    if (this.#requests > 0) this.#advice.wait(handles);
    else for (const handle of handles) handle.undelivered('the requests to the model do not pass through here');
  }

  /** Notes an error that ends the agent unless it goes on: an answer broke off, a tool threw. */
  troubled(trouble: Trouble): void {
    this.#advice.troubled(trouble);
  }

  /** A tool returned, and the next request shows its result. @param outcome  the outcome known until then */
  returned(call: OpenCall, outcome: CallOutcome): void {
    call.returned = outcome;
  }

  /** Takes over the advice in results of another conversation with the same history. */
  inherit(before: Conversation): void {
    this.#advice.inherit(before.#advice);
  }

  /** Ends a call whose result only the request shows. */
  #endFromRequest(shown: RequestNews['results'][number]): void {
    const call = this.#calls.get(shown.id);
    if (call === undefined || (call.isStarted && call.returned === undefined)) return;
    const isError = shown.isError === true || this.#isUnknown(call);
    this.#endLate(call, { result: shown.result, isError });
  }

  #endLate(call: OpenCall, outcome: CallOutcome): void {
    if (!call.isStarted) this.started(call);
    this.#advice.wait(this.ended(call, outcome));
  }

  /** Ends the remaining calls: there is no further request. A call of an unknown tool may have ended the agent. */
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
    return this.#offered !== undefined && !this.#offered.has(name);
  }
}

/** The message with the recorded ids of its calls. */
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
