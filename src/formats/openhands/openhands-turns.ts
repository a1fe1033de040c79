import type { Json } from '../../core/base/json.ts';
import type { CallOutcome } from '../../core/records/trajectory-record.ts';
import type { StoredContent, StoredContentBlock } from '../../core/records/agent-message.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { ImportItem } from '../import-item.ts';
import type { AnswerPart, RunItems } from '../parts/run-items.ts';

interface ActionShape {
  /** Creates the call with the id by which its result is found. */
  readonly call: (sourceId: string) => CallShape;
  readonly eventId: string | undefined;
  readonly toolCallId: string | undefined;
  /** Id of the model answer that contains the action. Actions of one answer are one turn. */
  readonly responseId: string | undefined;
  readonly before: readonly StoredContentBlock[];
  readonly atMs: number | undefined;
}

interface ObservationShape {
  readonly eventId: string | undefined;
  readonly toolCallId: string | undefined;
  readonly result: Json;
  readonly isError: boolean | undefined;
  readonly outcome?: CallOutcome | undefined;
  readonly atMs: number | undefined;
}

interface WaitingCall {
  readonly sourceId: string;
  answered: boolean;
}

/**
 * Buffers the actions and observations of one model answer until the next answer begins. Calls that were issued
 * together appear in the stream one after the other; buffering keeps them in one turn.
 *
 * Memory: one turn.
 */
export class OpenHandsTurns {
  readonly #items: RunItems;
  #parts: AnswerPart[] = [];
  /** Texts of the answer. Used to skip actions that repeat a text. */
  readonly #texts = new Set<string>();
  readonly #byEventId = new Map<string, WaitingCall>();
  /** Calls by tool call id, oldest first. Ids may repeat. Calls without an id have the key ''. */
  readonly #byToolCallId = new Map<string, WaitingCall[]>();
  /** Results in order of arrival. */
  #results: { readonly sourceId: string; readonly observation: ObservationShape }[] = [];
  #responseId: string | undefined;
  #atMs: number | undefined;

  constructor(items: RunItems) {
    this.#items = items;
  }

  call(action: ActionShape): readonly ImportItem[] {
    const isSameResponse =
      this.#parts.length > 0 && action.responseId !== undefined && action.responseId === this.#responseId;
    const flushed = isSameResponse ? [] : this.flush();
    if (!isSameResponse) this.#atMs = action.atMs;
    this.#responseId = action.responseId;
    for (const block of action.before) {
      if ('text' in block && this.#texts.has(block.text)) continue;
      if ('text' in block) this.#texts.add(block.text);
      this.#parts.push(block);
    }
    const sourceId = action.toolCallId ?? (action.eventId === undefined ? '' : `event-${action.eventId}`);
    this.#parts.push({ type: 'call', call: action.call(sourceId) });
    const waitingCall: WaitingCall = { sourceId, answered: false };
    if (action.eventId !== undefined) this.#byEventId.set(action.eventId, waitingCall);
    const key = action.toolCallId ?? (action.eventId === undefined ? '' : undefined);
    if (key === undefined) return flushed;
    const queue = this.#byToolCallId.get(key);
    if (queue === undefined) this.#byToolCallId.set(key, [waitingCall]);
    else queue.push(waitingCall);
    return flushed;
  }

  /** Adds a result. Returns false if it answers no action of this turn. */
  result(observation: ObservationShape): boolean {
    const { eventId, toolCallId } = observation;
    const byEvent = eventId === undefined ? undefined : this.#byEventId.get(eventId);
    // Early streams have no ids, so an observation answers the oldest action.
    const foundCall =
      byEvent?.answered === false
        ? byEvent
        : this.#oldestWaiting(toolCallId ?? (eventId === undefined ? '' : undefined));
    if (foundCall === undefined) return false;
    foundCall.answered = true;
    this.#results.push({ sourceId: foundCall.sourceId, observation });
    return true;
  }

  #oldestWaiting(key: string | undefined): WaitingCall | undefined {
    const queue = key === undefined ? undefined : this.#byToolCallId.get(key);
    if (queue === undefined) return undefined;
    while (queue[0]?.answered === true) queue.shift();
    return queue[0];
  }

  /** Handles an answer without a call. */
  *text(blocks: readonly StoredContentBlock[], atMs: number | undefined): Generator<ImportItem> {
    yield* this.flush();
    yield* this.#items.answer({ parts: blocks }, atMs);
  }

  *message(role: 'system' | 'user', content: StoredContent, atMs: number | undefined): Generator<ImportItem> {
    yield* this.flush();
    yield this.#items.message(role, content, atMs);
  }

  /** Emits the buffered turn. */
  flush(): readonly ImportItem[] {
    if (this.#parts.length === 0) return [];
    const items = [...this.#items.answer({ parts: this.#parts }, this.#atMs)];
    for (const { sourceId, observation } of this.#results) {
      const { result, isError, outcome, atMs } = observation;
      for (const item of this.#items.result({ sourceId, result, isError, outcome }, atMs)) items.push(item);
    }
    this.#parts = [];
    this.#results = [];
    this.#texts.clear();
    this.#byEventId.clear();
    this.#byToolCallId.clear();
    this.#responseId = undefined;
    return items;
  }
}
