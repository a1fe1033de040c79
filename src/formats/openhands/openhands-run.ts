import { isJsonObject } from '../../base/json.ts';
import type { ImportItem } from '../import-item.ts';
import { type JsonMembers, membersOf } from '../parts/json-member.ts';
import { sdkCall, sdkResult, streamCall, streamErrorFlag } from './openhands-call.ts';
import { isSdkEvent, isStreamEvent } from './openhands-event.ts';
import { OpenHandsTurns } from './openhands-turns.ts';
import type { RunItems } from '../parts/run-items.ts';
import { asJson, sourceBlocks, sourceContent, sourceResult, textOrUndefined } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { plainText } from '../parts/plain-text.ts';

/** Actions that run nothing: messages, the framework's bookkeeping, and what ends a run. */
const NO_CALLS: ReadonlySet<string> = new Set(
  (
    'message system recall null noop change_agent_state condensation condensation_request start init initialize ' +
    'pause resume stop loop_recall finish reject'
  ).split(' '),
);
/** Observations that answer no call. */
const NO_RESULTS: ReadonlySet<string> = new Set(['agent_state_changed', 'recall', 'null', 'success', 'condense']);

/**
 * Turns the events of one OpenHands run into items, event by event.
 *
 * Counting rule, older stream: every action of the agent is one call, except messages, bookkeeping (`recall`,
 * `change_agent_state`, `condensation`, …) and `finish` / `reject`, which count only where the model issued them
 * as a tool call (`tool_call_metadata`). `think` is a call. Newer SDK: every `ActionEvent` of the agent.
 * Actions of one model answer (`model_response.id`, `llm_response_id`) are one turn.
 *
 * A result belongs to the action that its `cause` / `action_id` / `tool_call_id` names, else to the oldest open
 * one. An error that names no action (the model's call could not be read) becomes a user message, which is how
 * the agent sees it. The flag is a non-zero exit code (−1, a time-out, too), an `error` observation,
 * `AgentErrorEvent`, `is_error`; where there is none the text decides.
 */
export class OpenHandsRun {
  readonly #items: RunItems;
  readonly #turns: OpenHandsTurns;
  /** The last word of the stream on how the run ended, where it has one. */
  endedAs: string | undefined;
  lastMs: number | undefined;

  constructor(items: RunItems) {
    this.#items = items;
    this.#turns = new OpenHandsTurns(items);
  }

  /** Takes the next event, or a pair `[action, observation]`. */
  *event(value: unknown): Generator<ImportItem> {
    for (const event of Array.isArray(value) ? pairOf(value) : [value]) {
      const atMs = sourceTimeMs(membersOf(event).timestamp);
      this.lastMs = atMs ?? this.lastMs;
      if (isSdkEvent(event)) yield* this.#sdkEvent(event, atMs);
      else if (!isStreamEvent(event)) this.#items.lost.add('events that are neither action nor observation');
      else if (typeof event.action === 'string') yield* this.#action(event, event.action, atMs);
      else yield* this.#observation(event, plainText(event.observation), atMs);
    }
  }

  /** No more events will come. */
  end(): readonly ImportItem[] {
    return this.#turns.flush();
  }

  *#action(event: JsonMembers, action: string, atMs: number | undefined): Generator<ImportItem> {
    const args = 'args' in event ? membersOf(event.args) : event;
    const metadata = membersOf(event.tool_call_metadata);
    const toolCallId = textOrUndefined(metadata.tool_call_id);
    if (action === 'finish' || action === 'reject') this.endedAs = action === 'finish' ? 'ended' : 'rejected';
    const isCall = !NO_CALLS.has(action) || ((action === 'finish' || action === 'reject') && toolCallId !== undefined);
    // Early events name no source: every action is the agent's, every message a user's that waits for no answer.
    const isAgents = event.source === 'agent' || (event.source === undefined && action !== 'message');
    if (isCall && isAgents) {
      const text = action === 'think' ? undefined : (textOrUndefined(args.thought) ?? answerText(metadata));
      yield* this.#turns.call({
        call: (sourceId) => streamCall(event, sourceId),
        eventId: eventIdOf(event.id),
        toolCallId,
        responseId: textOrUndefined(membersOf(metadata.model_response).id),
        before: sourceBlocks(text),
        atMs,
      });
    } else if (isCall) {
      this.#items.skipped.add('actions of the user');
    } else if (action === 'message' || action === 'finish' || action === 'reject') {
      const outputs = membersOf(args.outputs);
      const text = [args.content, args.final_thought, outputs.content, args.thought, event.message].find(
        textOrUndefined,
      );
      const fromAgent =
        action !== 'message' || isAgents || (event.source === undefined && args.wait_for_response === true);
      yield* fromAgent
        ? this.#turns.text(sourceBlocks(text), atMs)
        : this.#turns.message('user', sourceContent(text), atMs);
    } else if (action === 'system') {
      yield* this.#turns.message('system', sourceContent(args.content ?? event.message), atMs);
    } else if (action === 'condensation') {
      yield* this.#compaction(atMs);
    } else {
      this.#items.skipped.add(`${action} actions`);
    }
  }

  *#observation(event: JsonMembers, observation: string, atMs: number | undefined): Generator<ImportItem> {
    if (observation === 'agent_state_changed') this.#state(membersOf(event.extras).agent_state);
    if (NO_RESULTS.has(observation)) {
      this.#items.skipped.add(`${observation} observations`);
      return;
    }
    const result = event.content === undefined ? asJson(event.extras ?? '') : sourceResult(event.content);
    const known = this.#turns.result({
      eventId: eventIdOf(event.cause),
      toolCallId: textOrUndefined(membersOf(event.tool_call_metadata).tool_call_id),
      result,
      isError: streamErrorFlag(event),
      atMs,
    });
    if (known) return;
    if (observation === 'error') yield* this.#turns.message('user', sourceContent(event.content), atMs);
    this.#items.skipped.add(
      observation === 'error'
        ? 'pairings of errors without an action, kept as user messages'
        : 'observations without an action',
    );
  }

  *#sdkEvent(event: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const ids = { eventId: eventIdOf(event.action_id), toolCallId: textOrUndefined(event.tool_call_id) };
    switch (event.kind) {
      case 'SystemPromptEvent':
        yield* this.#turns.message('system', sourceContent(membersOf(event.system_prompt).text), atMs);
        break;
      case 'MessageEvent': {
        const { content } = membersOf(event.llm_message);
        if (event.source === 'agent') yield* this.#turns.text(sourceBlocks(content), atMs);
        else yield* this.#turns.message('user', sourceContent(content), atMs);
        break;
      }
      case 'ActionEvent': {
        if (event.tool_name === 'finish') this.endedAs = 'ended';
        const reasoning = textOrUndefined(event.reasoning_content);
        yield* this.#turns.call({
          call: (sourceId) => sdkCall(event, sourceId),
          eventId: eventIdOf(event.id),
          toolCallId: ids.toolCallId,
          responseId: textOrUndefined(event.llm_response_id),
          before: [
            ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
            ...sourceBlocks(event.thought),
          ],
          atMs,
        });
        break;
      }
      case 'ObservationEvent':
        if (!this.#turns.result({ ...ids, ...sdkResult(event), atMs }))
          this.#items.skipped.add('observations without an action');
        break;
      case 'UserRejectObservation':
      case 'AgentErrorEvent': {
        const text = sourceContent(event.error ?? event.rejection_reason);
        const result = sourceResult(event.error ?? event.rejection_reason);
        if (!this.#turns.result({ ...ids, result, isError: true, atMs })) {
          yield* this.#turns.message('user', text, atMs);
          this.#items.skipped.add('pairings of errors without an action, kept as user messages');
        }
        break;
      }
      case 'Condensation':
        yield* this.#compaction(atMs);
        break;
      default:
        if (event.key === 'execution_status') this.#state(event.value);
        this.#items.skipped.add(`${plainText(event.kind)} events`);
    }
  }

  *#compaction(atMs: number | undefined): Generator<ImportItem> {
    yield* this.#turns.flush();
    yield this.#items.record({ kind: 'compaction', trigger: 'auto' }, atMs);
  }

  #state(state: unknown): void {
    if (state === 'finished') this.endedAs = 'ended';
    else if (state === 'error' || state === 'rejected') this.endedAs = state;
    else if (state === 'stuck' || state === 'stopped') this.endedAs = 'aborted';
    else if (state === 'running') this.endedAs = undefined;
  }
}

/** The observation of a pair answers its action, also where it does not name it. */
function pairOf(pair: readonly unknown[]): readonly unknown[] {
  const cause = membersOf(pair[0]).id;
  return pair.map((event, index) =>
    index === 0 || !isJsonObject(event) || 'cause' in event || cause === undefined ? event : { ...event, cause },
  );
}

function eventIdOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOrUndefined(value);
}

/** What the model said beside its call, where the action keeps no thought. */
function answerText(metadata: JsonMembers): string | undefined {
  const choices = membersOf(metadata.model_response).choices;
  const [first] = Array.isArray(choices) ? (choices as readonly unknown[]) : [];
  return textOrUndefined(membersOf(membersOf(first).message).content);
}
