import { type Json, present } from '../../core/base/json.ts';
import { resultText } from '../../core/detect/calls/answer-reading.ts';
import { printedText, shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import { inferIsError } from '../../core/detect/calls/answer-rules.ts';
import { isAnswerCode } from '../../core/detect/calls/tool-semantics.ts';
import { withHostOutcome } from '../../core/facts/host-refusals.ts';
import type { CallOutcome, ToolEnded, ToolStarted } from '../../core/records/trajectory-record.ts';
import { UniqueNames } from './skip-counts.ts';

export interface CallShape {
  readonly sourceId?: string | undefined;
  readonly name: string;
  readonly args: Json;
}

export interface ResultShape {
  readonly sourceId?: string | undefined;
  readonly result: Json;
  readonly isError: boolean;
  /** Default: the code in the text of the result. */
  readonly exitCode?: number | undefined;
  /** The outcome that the source states; default: from `isError` and the texts of known hosts. */
  readonly outcome?: CallOutcome | undefined;
  /** True if `isError` was inferred from the text because the source has no flag. */
  readonly inferred?: boolean;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

/** `head` is the first call that may be open: removing the first element of an array would copy it. */
interface CallQueue {
  calls: OpenCall[];
  head: number;
}

const NO_ID = '';

/**
 * Use one instance per run: every `tool_started` gets exactly one `tool_ended`. A result belongs to the oldest open
 * call with its id; without a known id, to the oldest open call without an id, else to the oldest open call. A second
 * result for an id is unmatched. Cost: O(1) amortised; keeps one id per call.
 */
export class SourceCallIds {
  readonly #names = new UniqueNames();
  readonly #open = new Map<string, OpenCall>();
  readonly #inOrder: CallQueue = { calls: [], head: 0 };
  readonly #bySourceId = new Map<string, CallQueue>();
  readonly #knownSourceIds = new Set<string>();

  get openCount(): number {
    return this.#open.size;
  }

  isOpen(sourceId: string): boolean {
    return this.#oldestOf(this.#bySourceId.get(sourceId)) !== undefined;
  }

  start(call: CallShape): ToolStarted {
    const sourceId = call.sourceId ?? NO_ID;
    const id = this.#names.take(sourceId === NO_ID ? 'call' : sourceId);
    const openedCall = { id, name: call.name, args: call.args };
    this.#open.set(id, openedCall);
    this.#knownSourceIds.add(sourceId);
    this.#inOrder.calls.push(openedCall);
    const queue = this.#bySourceId.get(sourceId);
    if (queue === undefined) this.#bySourceId.set(sourceId, { calls: [openedCall], head: 0 });
    else queue.calls.push(openedCall);
    return { kind: 'tool_started', tool_call_id: id, tool_name: call.name, args: call.args };
  }

  /** Closes the call of this result. Undefined for an unmatched result, which callers must report. */
  end(result: ResultShape): ToolEnded | undefined {
    const call = this.#callFor(result.sourceId ?? NO_ID);
    if (call === undefined) return undefined;
    this.#open.delete(call.id);
    if (this.#open.size === 0) this.#forgetQueues();
    const isError = result.isError && !answersNo(call, result);
    return withHostOutcome({
      kind: 'tool_ended',
      tool_call_id: call.id,
      tool_name: call.name,
      result: result.result,
      is_error: isError,
      ...present({ outcome: result.outcome }),
      ...(result.inferred === true && isError ? { error_inferred: true } : {}),
    });
  }

  endMissing(): readonly ToolEnded[] {
    const missingEnds: ToolEnded[] = [];
    for (const { id, name } of this.#open.values()) {
      missingEnds.push({
        kind: 'tool_ended',
        tool_call_id: id,
        tool_name: name,
        result: null,
        is_error: false,
        result_missing: true,
      });
    }
    this.#open.clear();
    this.#forgetQueues();
    return missingEnds;
  }

  #callFor(sourceId: string): OpenCall | undefined {
    const sameId = this.#oldestOf(this.#bySourceId.get(sourceId));
    if (sameId !== undefined) return sameId;
    if (sourceId !== NO_ID && this.#knownSourceIds.has(sourceId)) return undefined;
    return this.#oldestOf(this.#bySourceId.get(NO_ID)) ?? this.#oldestOf(this.#inOrder);
  }

  /** Moves the head of the queue past closed calls. */
  #oldestOf(queue: CallQueue | undefined): OpenCall | undefined {
    if (queue === undefined) return undefined;
    for (; queue.head < queue.calls.length; queue.head += 1) {
      const call = queue.calls[queue.head];
      if (call !== undefined && this.#open.has(call.id)) return call;
    }
    return undefined;
  }

  #forgetQueues(): void {
    this.#inOrder.calls = [];
    this.#inOrder.head = 0;
    this.#bySourceId.clear();
  }
}

/** Returns true for a command that says "no" by its exit code and prints no failure: a search that found nothing is no error. */
function answersNo({ args, name }: OpenCall, { exitCode, result }: ResultShape): boolean {
  const printed = exitCode === undefined ? shellAnswer(result) : { text: printedText(resultText(result)), exitCode };
  if (printed === undefined || printed.exitCode === undefined || printed.exitCode <= 0) return false;
  return isAnswerCode(name, args, printed.exitCode) && !inferIsError(printed.text);
}
