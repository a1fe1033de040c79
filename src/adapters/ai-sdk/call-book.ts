import { erredBy, refusedBy, type RefusalOptions } from '../host/adapter-options.ts';
import { statedOutcome } from '../../core/run/refusal.ts';
import { messageOf } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import { placeAdvice, type AdviceHandle } from '../../core/run/advice-handle.ts';
import type { CallOutcome } from '../../core/records/trajectory-record.ts';
import { CallIds } from '../host/open-calls.ts';
import { saysThatItFailed } from '../host/content-blocks.ts';
import type { Run } from '../../core/run/run.ts';
import { aiSdkCapabilities } from '../capabilities.ts';
import type { AnsweredCall } from './read-answer.ts';
import type { PromptMessage } from './sdk-shapes.ts';
import { readOutput, resultsIn } from './to-events.ts';
import { withResults, withText, type ToolOutput } from './to-output.ts';

/** Returns the replacement for a result, in the SDK's format. Undefined keeps the result. */
type OutputChange = (output: unknown) => ToolOutput | undefined;

interface BookedCall {
  readonly name: string;
  readonly args: unknown;
  /** Id in the records. It is the SDK's id, with a number if the model reuses the id. */
  readonly recordedId: string;
  state: 'requested' | 'running' | 'ended';
  /** Advice for the result that has not been added to it yet. */
  waiting: readonly AdviceHandle[];
  /** Text of the advice that was added to the result. Every later request repeats it. */
  text?: string;
  /** True if the SDK's history contains the text because `toModelOutput` added it. */
  isInHistory: boolean;
}

const { channel = '' } = aiSdkCapabilities.post_tool_result;

export interface CallBookOptions extends Pick<RefusalOptions, 'isRefused' | 'isError'> {
  readonly maxChars: number;
}

/** Shared by the model, the tools and the next request. Only the calls of the last turn and calls with advice are kept. */
export class CallBook {
  readonly #run: Run;
  readonly #options: CallBookOptions;
  readonly #calls = new Map<string, BookedCall>();
  readonly #ids = new CallIds();

  constructor(run: Run, options: CallBookOptions) {
    this.#run = run;
    this.#options = options;
  }

  ask(calls: readonly AnsweredCall[]): void {
    for (const { id, name, args } of calls) this.#openCall(id, name, args);
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  recordedId(id: string): string {
    return this.#calls.get(id)?.recordedId ?? id;
  }

  begin(id: string, name: string, args: unknown): void {
    const bookedCall = this.#calls.get(id);
    const call =
      bookedCall === undefined || bookedCall.state !== 'requested' ? this.#openCall(id, name, args) : bookedCall;
    this.#startCall(call, args);
  }

  update(id: string, partial: unknown): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#run.emit({ type: 'tool_execution_update', toolCallId: call.recordedId, toolName: call.name, partial });
  }

  /** Ends a call whose tool threw. The recorded result is the error as a text. `isAborted`: the user stopped it. */
  failed(id: string, error: unknown, isAborted = false): void {
    const stated = statedOutcome(error) ?? (isAborted ? 'cancelled' : undefined);
    const outcome = stated ?? refusedBy(this.#options, messageOf(error), this.#run);
    this.end(id, errorText(error), true, outcome);
  }

  end(id: string, result: unknown, isError: boolean, known?: CallOutcome): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.state === 'ended') return;
    if (call.state === 'requested') this.#startCall(call, call.args);
    call.state = 'ended';
    const hasFailed = isError || saysThatItFailed(result) || erredBy(this.#options, result, call.name, this.#run);
    const outcome = known ?? statedOutcome(result) ?? refusedBy(this.#options, result, this.#run);
    const endedCall = {
      toolCallId: call.recordedId,
      toolName: call.name,
      result,
      isError: hasFailed,
      ...present({ outcome }),
    };
    this.#run.emit({ type: 'tool_execution_end', ...endedCall });
    call.waiting = this.#run.advise('post_tool_result');
  }

  /** Removes and returns the advice for a call to whose result no text can be added, for example a call that the provider ran. */
  takeAdvice(id: string): readonly AdviceHandle[] {
    const call = this.#calls.get(id);
    const waitingAdvice = call?.waiting ?? [];
    if (call !== undefined) call.waiting = [];
    return waitingAdvice;
  }

  /** Returns the result as the model should see it. Advice follows the result. */
  inHistory(id: string, output: ToolOutput): ToolOutput {
    const call = this.#calls.get(id);
    if (call === undefined) return output;
    call.isInHistory = true;
    return this.#outputChange(call)(output) ?? output;
  }

  /** Calls that our tools did not run but whose results are in a request: refused, denied, or run by the host. */
  endAnswered(prompt: readonly PromptMessage[]): void {
    for (const { id, output } of resultsIn(prompt)) {
      if (this.#calls.get(id)?.state !== 'requested') continue;
      const { result, isError, outcome } = readOutput(output);
      this.end(id, result, isError, outcome);
    }
  }

  /** Adds advice that the SDK's history lacks to a request. Each text follows the result of its call. */
  inRequest(prompt: readonly PromptMessage[]): readonly PromptMessage[] {
    const placedPrompt = withResults(prompt, (id, output) => {
      const call = this.#calls.get(id);
      return call === undefined || call.isInHistory ? undefined : this.#outputChange(call)(output);
    });
    this.#forgetEnded();
    return placedPrompt;
  }

  /** Called when no request follows. Advice that was not added to a result is recorded as undelivered. */
  close(): void {
    for (const call of this.#calls.values()) {
      for (const handle of call.waiting) handle.undelivered('no request followed');
      call.waiting = [];
    }
  }

  #openCall(id: string, name: string, args: unknown): BookedCall {
    for (const handle of this.takeAdvice(id)) handle.undelivered('the model used the id of the call again');
    const recordedId = this.#ids.next(id);
    const call: BookedCall = { name, args, recordedId, state: 'requested', waiting: [], isInHistory: false };
    this.#calls.set(id, call);
    return call;
  }

  #startCall(call: BookedCall, args: unknown): void {
    call.state = 'running';
    this.#run.emit({ type: 'tool_execution_start', toolCallId: call.recordedId, toolName: call.name, args });
  }

  #outputChange(call: BookedCall): OutputChange {
    return (output) => {
      if (call.text !== undefined) return withText(output, call.text);
      const advice = placeAdvice(call.waiting, this.#options.maxChars);
      call.waiting = [];
      if (advice === undefined) return undefined;
      const changedOutput = withText(output, advice.text);
      if (changedOutput === undefined) {
        advice.undelivered('a result of this shape takes no text');
        return undefined;
      }
      call.text = advice.text;
      advice.delivered(channel);
      return changedOutput;
    };
  }

  #forgetEnded(): void {
    for (const [id, { state, waiting, text }] of this.#calls) {
      if (state === 'ended' && waiting.length === 0 && text === undefined) this.#calls.delete(id);
    }
  }
}

function errorText(error: unknown): string {
  try {
    return error instanceof Error ? String(error) : (JSON.stringify(error) ?? 'unknown error');
  } catch {
    return messageOf(error);
  }
}
