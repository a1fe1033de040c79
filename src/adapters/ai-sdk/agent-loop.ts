import { messageOf } from '../../core/base/error.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { identityOf } from '../host/adapter-options.ts';
import { abortedBy, endingAfterTrouble, troubleOf, type Trouble } from '../host/run-outcome.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import type { Guard } from '../host/guarded.ts';
import type { Run } from '../../core/run/run.ts';
import { CallBook, type CallBookOptions } from './call-book.ts';
import type { GeneratedAnswer } from './read-answer.ts';
import type { AdviceHandle } from '../../core/run/advice-handle.ts';
import { AdviceUnderWay, type OutgoingRequest } from '../host/advice-under-way.ts';
import { abortSignalOf, isAbort, modelRequestOf, type ModelRequest, type PromptMessage } from './sdk-shapes.ts';
import { assistantMessage, brokenMessage, requestPrepared, systemTextOf, unansweredMessages } from './to-events.ts';
import { withMessage } from './to-output.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import { aiSdkCapabilities } from '../capabilities.ts';

const { channel = '' } = aiSdkCapabilities.pre_tool_selection;

interface News {
  readonly messages: readonly AgentMessage[];
  readonly isTask: boolean;
}

/** Each request repeats the whole conversation, so the last one's instructions and messages are kept for comparison. */
export class PromptNews {
  #system = '';
  #unansweredText = '';

  /** After the final answer (`isFresh`), any user message is new, even with the same text. */
  take(prompt: readonly PromptMessage[], isFresh: boolean): News {
    const system = systemTextOf(prompt);
    const users = unansweredMessages(prompt);
    const unansweredText = users.map(({ content }) => JSON.stringify(content)).join('\n');
    // A retry contains nothing new. The same applies to a host that repeats the same message at the end of every request.
    const isTask = users.length > 0 && (isFresh || unansweredText !== this.#unansweredText);
    const isNewSystem = system !== '' && system !== this.#system;
    this.#system = system;
    this.#unansweredText = unansweredText;
    return {
      messages: [...(isNewSystem ? [{ role: 'system', content: system } as const] : []), ...(isTask ? users : [])],
      isTask,
    };
  }
}

export interface PreparedRequest {
  readonly request: ModelRequest;
  readonly plain: ModelRequest;
  /** Absent if the request could not be read. */
  readonly advice: OutgoingRequest | undefined;
  readonly modelId: string;
}

type Phase = 'idle' | 'waiting' | 'answered' | 'failed' | 'aborted';

/** Reports requests, answers and results to the run, and adds advice to the next request. One request at a time. */
export class AgentLoop {
  readonly run: Run;
  readonly calls: CallBook;
  readonly #guard: Guard;
  readonly #advice: AdviceUnderWay;
  readonly #promptNews = new PromptNews();
  readonly #unrecognisedTypes = new Set<string>();
  #phase: Phase = 'idle';
  /** The same for each attempt of a request. */
  #requestKey = {};
  #refusesMessages = false;
  #iteration = -1;
  #promptLength = 0;
  #trouble: Trouble | undefined;
  #signal: { readonly aborted: boolean; readonly reason?: unknown } | undefined;
  #isTask = false;
  #asksForTools = false;

  constructor(run: Run, guard: Guard, options: CallBookOptions) {
    this.run = run;
    this.#guard = guard;
    this.#advice = new AdviceUnderWay(options.maxChars);
    this.calls = new CallBook(run, options);
  }

  prepare(options: unknown, modelId: string): PreparedRequest | undefined {
    const request = modelRequestOf(options);
    if (request === undefined) {
      this.unrecognised('request', typeof options);
      return undefined;
    }
    // The SDK retries with the same request object.
    const isRetry = this.#phase === 'failed' && request.prompt.length === this.#promptLength;
    this.#promptLength = request.prompt.length;
    this.#guard('reading a request', () => this.#beginTurn(request, modelId, isRetry));
    const asItIs: PreparedRequest = { request, plain: request, advice: undefined, modelId };
    return this.#guard('preparing a request', () => this.#completeRequest(asItIs, isRetry), asItIs);
  }

  opened({ advice }: PreparedRequest): void {
    if (!this.#refusesMessages) advice?.accepted(channel);
  }

  heardDelta(delta: string): void {
    this.run.emit({ type: 'message_update', delta });
  }

  answered({ modelId }: PreparedRequest, answer: GeneratedAnswer): void {
    this.#phase = 'answered';
    this.calls.ask([...answer.providerCalls, ...answer.calls]);
    const message = assistantMessage(answer, modelId, (id) => this.calls.recordedId(id));
    this.run.emit({ type: 'message_end', message });
    for (const type of answer.unknownTypes) this.unrecognised('answer part', type);
    // The provider ran these calls, so no text can be added to their results.
    for (const { id, result, isError } of answer.providerResults) {
      this.calls.end(id, result, isError);
      this.#wait(this.calls.takeAdvice(id));
    }
    this.#asksForTools = answer.calls.length > 0;
    if (!this.#asksForTools) {
      const handles = answer.finishReason === 'stop' ? this.run.advise('pre_response') : [];
      for (const handle of handles) handle.undelivered('no request follows a final answer');
      return;
    }
    const pendingToolCalls = answer.calls.map(({ id, name, args }) => ({
      toolCallId: this.calls.recordedId(id),
      toolName: name,
      args,
    }));
    this.#wait(this.run.advise('pre_tool_execution', { pendingToolCalls }));
  }

  /** @param answer the part that arrived */
  failed(prepared: PreparedRequest, error: unknown, answer?: GeneratedAnswer): void {
    const isAborted = this.isAborted(error);
    this.#phase = isAborted ? 'aborted' : 'failed';
    this.#trouble = isAborted && !isAbort(error) ? abortedBy(this.#signal) : troubleOf(error);
    prepared.advice?.failed(this.#trouble);
    // It is not tried again.
    if (isAborted) this.#advice.again(undefined);
    const stopReason = isAborted ? 'aborted' : 'error';
    const brokenAnswer = { stopReason, errorMessage: messageOf(error), modelId: prepared.modelId } as const;
    this.run.emit({ type: 'message_end', message: brokenMessage(answer, brokenAnswer) });
  }

  isAborted(error: unknown): boolean {
    return isAbort(error) || this.#signal?.aborted === true;
  }

  refusesGuidance({ advice }: PreparedRequest, error: unknown): void {
    this.#refusesMessages = true;
    advice?.failed({ outcome: 'error', reason: 'the API refused a message after the last one' });
    this.#advice.again(undefined);
    this.run.reportFault('a message with guidance', error);
  }

  unrecognised(subject: string, type: string): void {
    const key = `${subject} ${type}`;
    if (this.#unrecognisedTypes.has(key)) return;
    this.#unrecognisedTypes.add(key);
    const original: JsonObject = { kind: 'ai_sdk_unrecognised', what: subject, type };
    this.run.emit({ type: 'unrecognised', original });
  }

  /** @returns how the run ended, if known */
  closing(): RunEnding | undefined {
    const phase = this.#phase;
    const isCutOff = phase === 'waiting' || (phase === 'answered' && this.#asksForTools);
    const hasEnded = phase === 'aborted' || phase === 'failed';
    this.#advice.close('no request followed');
    this.calls.close();
    this.#phase = 'idle';
    const trouble = isCutOff && this.#signal?.aborted === true ? abortedBy(this.#signal) : undefined;
    const ending = hasEnded ? this.#trouble : trouble;
    return ending && endingAfterTrouble(ending);
  }

  #beginTurn(original: ModelRequest, modelId: string, isRetry: boolean): void {
    const run = this.run;
    this.#signal = abortSignalOf(original);
    const isFresh = this.#phase === 'answered' && !this.#asksForTools;
    this.#phase = 'waiting';
    if (this.#iteration < 0) run.emit({ type: 'run_identified', identity: identityOf(run, { modelId }) });
    this.calls.endAnswered(original.prompt);
    const { messages, isTask } = this.#promptNews.take(original.prompt, isFresh);
    for (const message of messages) run.emit({ type: 'message_end', message });
    this.#isTask = isTask;
    if (!isRetry) this.#iteration += 1;
  }

  #completeRequest(prepared: PreparedRequest, isRetry: boolean): PreparedRequest {
    const { modelId } = prepared;
    const plainRequest = { ...prepared.plain, prompt: this.calls.inRequest(prepared.plain.prompt) };
    if (!isRetry) this.#requestKey = {};
    const advice = this.#advice.again(this.#requestKey) ?? this.#send(isRetry);
    // Guidance for a turn is requested before the turn starts, as in every other host.
    if (!isRetry) this.run.emit({ type: 'turn_start' });
    const { text } = advice;
    const request =
      text === undefined ? plainRequest : { ...plainRequest, prompt: withMessage(plainRequest.prompt, text) };
    this.run.emit(requestPrepared(request, this.#iteration, modelId));
    return { ...prepared, request, plain: plainRequest, advice };
  }

  #send(isRetry: boolean): OutgoingRequest {
    if (this.#isTask) this.#wait(this.run.advise('pre_render'));
    if (!isRetry) this.#wait(this.run.advise('pre_tool_selection'));
    return this.#advice.send(this.#requestKey, []);
  }

  #wait(handles: readonly AdviceHandle[]): void {
    if (!this.#refusesMessages) this.#advice.wait(handles);
    else for (const handle of handles) handle.undelivered('the API takes no message after the last one');
  }
}
