import {
  type JsonMembers,
  listOf,
  membersOf,
  numberOrUndefined,
  textOrUndefined,
  isJsonObject,
  type Json,
} from '../../core/base/json.ts';
import type { ImportItem } from '../importer.ts';
import type { RunItems, AnswerPart, ToolAnswerShape } from '../parts/run-items.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';
import { plainText } from '../parts/object-lines.ts';
import { type Totals, totalsOf, totalUsage } from './openhands-usage.ts';
import {
  asJson,
  sourceBlocks,
  sourceContent,
  sourceResult,
  sourceTimeMs,
  callArguments,
} from '../parts/source-content.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { StoredContent, StoredContentBlock } from '../../core/records/agent-message.ts';

interface ActionShape {
  /** Creates the call with the id by which its result is found. */
  readonly call: (sourceId: string) => CallShape;
  readonly eventId: string | undefined;
  readonly toolCallId: string | undefined;
  readonly responseId: string | undefined;
  readonly before: readonly StoredContentBlock[];
  readonly atMs: number | undefined;
}

interface ObservationShape extends Pick<ToolAnswerShape, 'result' | 'isError' | 'exitCode' | 'outcome'> {
  readonly eventId: string | undefined;
  readonly toolCallId: string | undefined;
  readonly atMs: number | undefined;
}

interface WaitingCall {
  readonly sourceId: string;
  answered: boolean;
}

type AnswerFacts = Pick<Parameters<RunItems['answer']>[0], 'modelId' | 'usage'>;

/** Buffers one model answer: calls that were issued together stand one after the other in the stream. */
class OpenHandsTurns {
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
  #modelId: string | undefined;
  #facts: AnswerFacts = {};
  #totals: Totals = {};
  #countedTotals: Totals = {};

  constructor(items: RunItems) {
    this.#items = items;
  }

  /** @param totals  usage of all answers, stated before the next one, which they include; empty if unknown */
  note(modelId: string | undefined, totals: Totals): void {
    this.#modelId = modelId ?? this.#modelId;
    this.#totals = { ...this.#totals, ...totals };
  }

  #factsOfNext(): AnswerFacts {
    const growth = Object.entries(this.#totals).map(
      ([name, count]) => [name, Math.max(0, count - (this.#countedTotals[name] ?? 0))] as const,
    );
    this.#countedTotals = this.#totals;
    const hasGrown = growth.some(([, count]) => count > 0);
    return { modelId: this.#modelId, usage: hasGrown ? Object.fromEntries(growth) : undefined };
  }

  call(action: ActionShape): readonly ImportItem[] {
    const isSameResponse =
      this.#parts.length > 0 && action.responseId !== undefined && action.responseId === this.#responseId;
    const flushed = isSameResponse ? [] : this.flush();
    if (!isSameResponse) {
      this.#atMs = action.atMs;
      this.#facts = this.#factsOfNext();
    }
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

  *text(blocks: readonly StoredContentBlock[], atMs: number | undefined): Generator<ImportItem> {
    yield* this.flush();
    yield* this.#items.answer({ ...this.#factsOfNext(), parts: blocks }, atMs);
  }

  *message(role: 'system' | 'user', content: StoredContent, atMs: number | undefined): Generator<ImportItem> {
    yield* this.flush();
    yield this.#items.message(role, content, atMs);
  }

  flush(): readonly ImportItem[] {
    if (this.#parts.length === 0) return [];
    const items = [...this.#items.answer({ ...this.#facts, parts: this.#parts }, this.#atMs)];
    for (const { sourceId, observation } of this.#results) {
      const { atMs, ...result } = observation;
      for (const item of this.#items.result({ ...result, sourceId }, atMs)) items.push(item);
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

const SOURCES: ReadonlySet<unknown> = new Set(['agent', 'user', 'environment', 'hook']);
const SDK_KIND = /^(?:[A-Z]\w*Event|UserRejectObservation|Condensation\w*)$/;
const LOOKED_AT = 16;
const EARLY_NAMES: ReadonlySet<string> = new Set(
  (
    'message run run_ipython read write edit browse browse_interactive delegate think recall finish reject null ' +
    'error system agent_state_changed change_agent_state add_task modify_task kill chat user_rejected'
  ).split(' '),
);

/** Returns true for an event of the newer SDK, which has its class in `kind`. */
export function isSdkEvent(value: unknown): value is JsonMembers {
  return (
    isJsonObject(value) && typeof value.kind === 'string' && SDK_KIND.test(value.kind) && SOURCES.has(value.source)
  );
}

/** It has an `action` or an `observation`, no chat role and no `response`, unlike SWE-agent's history and steps. */
export function isStreamEvent(value: unknown): value is JsonMembers {
  if (!isJsonObject(value) || 'role' in value || 'response' in value) return false;
  return (typeof value.action === 'string') !== (typeof value.observation === 'string');
}

/** Examines the first 16 entries. Early events have neither source nor id: they count only if a record has the list. */
export function eventsLikeness(list: readonly unknown[], inRecord: boolean): number {
  const firstEntries = list
    .slice(0, LOOKED_AT)
    .flatMap((entry): readonly unknown[] => (Array.isArray(entry) ? (entry as readonly unknown[]) : [entry]));
  if (firstEntries.length === 0) return 0;
  const sureEvents = firstEntries.filter((entry) => isSureEvent(entry));
  if (sureEvents.length === firstEntries.length) return 0.97;
  const possibleEvents = firstEntries.filter((entry) => isSureEvent(entry) || isEarlyEvent(entry));
  if (inRecord) return (possibleEvents.length / firstEntries.length) * 0.95;
  return (sureEvents.length / firstEntries.length) * 0.9;
}

function isSureEvent(value: unknown): boolean {
  return isSdkEvent(value) || (isStreamEvent(value) && SOURCES.has(value.source));
}

function isEarlyEvent(value: unknown): boolean {
  return isStreamEvent(value) && EARLY_NAMES.has(plainText(value.action ?? value.observation));
}

const NO_CALLS: ReadonlySet<string> = new Set(
  (
    'message system recall null noop change_agent_state condensation condensation_request start init initialize ' +
    'pause resume stop loop_recall finish reject'
  ).split(' '),
);
const NO_RESULTS: ReadonlySet<string> = new Set(['agent_state_changed', 'recall', 'null', 'success', 'condense']);

/**
 * Older stream: every action of the agent is a call, except messages and bookkeeping (`recall`, `condensation`, …);
 * `finish` and `reject` only if the model issued them as a tool call. Newer SDK: every `ActionEvent`. Actions of one
 * model answer are one turn. A result belongs to the action that it names, else to the oldest open one. An error
 * without an action is a call that could not be parsed: a user message, as the agent sees it. The error flag is a
 * non-zero exit code (also −1, a timeout), an `error` observation, `AgentErrorEvent` or `is_error`; else the text
 * decides.
 */
export class OpenHandsRun {
  readonly #items: RunItems;
  readonly #turns: OpenHandsTurns;
  /** The last statement of the stream about the end of the run. */
  endedAs: string | undefined;
  lastMs: number | undefined;
  /** Totals that the last event with metrics states. */
  usage: RunEnded['usage'];

  constructor(items: RunItems) {
    this.#items = items;
    this.#turns = new OpenHandsTurns(items);
  }

  *event(value: unknown): Generator<ImportItem> {
    for (const event of Array.isArray(value) ? pairOf(value) : [value]) {
      const atMs = sourceTimeMs(membersOf(event).timestamp);
      this.lastMs = atMs ?? this.lastMs;
      this.usage = totalsOf(membersOf(event).llm_metrics) ?? this.usage;
      if (isSdkEvent(event)) yield* this.#sdkEvent(event, atMs);
      else if (!isStreamEvent(event)) this.#items.lost.add('events that are neither action nor observation');
      else if (typeof event.action === 'string') yield* this.#actionItems(event, event.action, atMs);
      else yield* this.#observationItems(event, plainText(event.observation), atMs);
    }
  }

  end(): readonly ImportItem[] {
    return this.#turns.flush();
  }

  *#actionItems(event: JsonMembers, action: string, atMs: number | undefined): Generator<ImportItem> {
    const args = 'args' in event ? membersOf(event.args) : event;
    const metadata = membersOf(event.tool_call_metadata);
    const toolCallId = textOrUndefined(metadata.tool_call_id);
    if (action === 'finish' || action === 'reject') this.endedAs = action === 'finish' ? 'ended' : 'rejected';
    const isCall = !NO_CALLS.has(action) || ((action === 'finish' || action === 'reject') && toolCallId !== undefined);
    // Early events have no source. Every action counts as the agent's. Every message that waits for no answer counts as a
    // user's.
    const isAgents = event.source === 'agent' || (event.source === undefined && action !== 'message');
    if (isCall && isAgents) {
      const thought = textOrUndefined(args.thought) ?? textOrUndefined(args.final_thought);
      const text = action === 'think' ? undefined : (thought ?? answerText(metadata));
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
      yield* this.#compactionItems(atMs);
    } else {
      this.#items.skipped.add(`${action} actions`);
    }
  }

  *#observationItems(event: JsonMembers, observation: string, atMs: number | undefined): Generator<ImportItem> {
    if (observation === 'agent_state_changed') this.#readState(membersOf(event.extras).agent_state);
    if (NO_RESULTS.has(observation)) {
      this.#items.skipped.add(`${observation} observations`);
      return;
    }
    const result = event.content === undefined ? asJson(event.extras ?? '') : sourceResult(event.content);
    const waitingCall = this.#turns.result({
      eventId: eventIdOf(event.cause),
      toolCallId: textOrUndefined(membersOf(event.tool_call_metadata).tool_call_id),
      result,
      isError: streamErrorFlag(event),
      exitCode: streamExitCode(event),
      outcome: observation === 'user_rejected' ? 'refused' : undefined,
      atMs,
    });
    if (waitingCall) return;
    if (observation === 'error') yield* this.#turns.message('user', sourceContent(event.content), atMs);
    this.#items.skipped.add(
      observation === 'error' ? 'errors without an action, kept as user messages' : 'observations without an action',
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
        const outcome = event.kind === 'UserRejectObservation' ? 'refused' : undefined;
        if (!this.#turns.result({ ...ids, result, isError: true, outcome, atMs })) {
          yield* this.#turns.message('user', text, atMs);
          this.#items.skipped.add('errors without an action, kept as user messages');
        }
        break;
      }
      case 'Condensation':
        yield* this.#compactionItems(atMs);
        break;
      case 'ConversationStateUpdateEvent':
        this.#noteState(event.key === 'full_state' ? membersOf(event.value) : { [plainText(event.key)]: event.value });
        break;
      default:
        this.#items.skipped.add(`${plainText(event.kind)} events`);
    }
  }

  #noteState({ agent, execution_status: status, stats }: JsonMembers): void {
    this.#readState(status);
    const metrics = Object.values(membersOf(membersOf(stats).usage_to_metrics)).map(membersOf);
    const modelId = textOrUndefined(membersOf(membersOf(agent).llm).model) ?? textOrUndefined(metrics[0]?.model_name);
    this.#turns.note(modelId, metrics.length === 0 ? {} : totalUsage(metrics));
  }

  *#compactionItems(atMs: number | undefined): Generator<ImportItem> {
    yield* this.#turns.flush();
    yield this.#items.record({ kind: 'compaction', trigger: 'auto' }, atMs);
  }

  #readState(state: unknown): void {
    if (state === 'finished') this.endedAs = 'ended';
    else if (state === 'error' || state === 'rejected') this.endedAs = state;
    else if (state === 'stuck' || state === 'stopped') this.endedAs = 'aborted';
    else if (state === 'running') this.endedAs = undefined;
  }
}

/** Links the events of a pair. The observation answers the action, even if it does not name the action. */
function pairOf(pair: readonly unknown[]): readonly unknown[] {
  const cause = membersOf(pair[0]).id;
  return pair.map((event, index) =>
    index === 0 || !isJsonObject(event) || 'cause' in event || cause === undefined ? event : { ...event, cause },
  );
}

function eventIdOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOrUndefined(value);
}

/** Returns the model's text next to its call. Used if the action has no thought. */
function answerText(metadata: JsonMembers): string | undefined {
  const choices = membersOf(metadata.model_response).choices;
  const [first] = Array.isArray(choices) ? (choices as readonly unknown[]) : [];
  return textOrUndefined(membersOf(membersOf(first).message).content);
}

/** Arguments of an action that the framework adds. They vary between otherwise equal calls. */
const BOOKKEEPING: readonly string[] = (
  'thought confirmation_state is_confirmed security_risk action_risk blocking hidden is_static keep_prompt ' +
  'kernel_init_code'
).split(' ');
/** Fields of early events, which store the arguments at top level. */
const EVENT_MEMBERS: readonly string[] = 'action id source message timestamp llm_metrics tool_call_metadata'.split(' ');

/** As the model wrote it, if the event has its answer; else the action, without the framework's fields. */
function streamCall(event: JsonMembers, sourceId: string): CallShape {
  const metadata = membersOf(event.tool_call_metadata);
  const [choice] = listOf(membersOf(metadata.model_response).choices);
  const writtenCalls = listOf(membersOf(membersOf(choice).message).tool_calls)
    .map((call) => membersOf(call))
    .find((call) => call.id === metadata.tool_call_id);
  const name = textOrUndefined(membersOf(writtenCalls?.function).name) ?? textOrUndefined(metadata.function_name);
  const args = callArguments(membersOf(writtenCalls?.function).arguments);
  // If the arguments are not a JSON object, the fields of the action are used below.
  if (writtenCalls !== undefined && name !== undefined && typeof args === 'object') {
    return { sourceId, name, args: withoutRisk(args) };
  }
  const action = textOrUndefined(event.action) ?? 'unknown';
  // Without the model's arguments, its function name is not used, because it does not match the arguments of the action: one
  // editor function covers several actions.
  const bookkeeping = action === 'think' ? BOOKKEEPING.filter((key) => key !== 'thought') : BOOKKEEPING;
  return 'args' in event
    ? { sourceId, name: action, args: membersWithout(membersOf(event.args), bookkeeping) }
    : { sourceId, name: action, args: membersWithout(event, [...bookkeeping, ...EVENT_MEMBERS]) };
}

/** Reads the call of an SDK action event: its `tool_name` and `action`. If `action` is null, the arguments are the model's text. */
function sdkCall(event: JsonMembers, sourceId: string): CallShape {
  const writtenCall = membersOf(event.tool_call);
  const name = textOrUndefined(event.tool_name) ?? textOrUndefined(writtenCall.name) ?? 'unknown';
  const action = membersOf(event.action);
  if (Object.keys(action).length > 0) {
    return { sourceId, name, args: membersWithout(action, ['kind']) };
  }
  const args = callArguments(writtenCall.arguments ?? membersOf(writtenCall.function).arguments);
  return { sourceId, name, args: withoutRisk(args) };
}

/** Returns the error flag of an older observation. Undefined if the observation has no flag; the text then decides. */
function streamErrorFlag(event: JsonMembers): boolean | undefined {
  if (event.observation === 'error' || event.observation === 'user_rejected') return true;
  const extras = membersOf(event.extras);
  const code = streamExitCode(event);
  if (code !== undefined) return code !== 0;
  if (typeof event.success === 'boolean') return !event.success;
  return typeof extras.error === 'boolean' ? extras.error : undefined;
}

function streamExitCode(event: JsonMembers): number | undefined {
  const extras = membersOf(event.extras);
  return exitCode(membersOf(extras.metadata)) ?? exitCode(extras) ?? exitCode(event);
}

/** Returns the text and error flag of an SDK observation. The flag is also set by a non-zero exit code or a timeout. */
function sdkResult(event: JsonMembers): Pick<ObservationShape, 'result' | 'isError' | 'exitCode'> {
  const observation = membersOf(event.observation);
  const content = observation.content ?? observation.output ?? observation.text ?? observation.message;
  const result = content === undefined ? asJson(event.observation) : sourceResult(content);
  const code = exitCode(observation) ?? exitCode(membersOf(observation.metadata));
  if (observation.is_error === true || observation.timeout === true) return { result, isError: true };
  if (typeof observation.error === 'string' && observation.error !== '') return { result, isError: true };
  if (code !== undefined) return { result, isError: code !== 0, exitCode: code };
  return { result, isError: typeof observation.is_error === 'boolean' ? observation.is_error : undefined };
}

function exitCode(value: JsonMembers): number | undefined {
  return numberOrUndefined(value.exit_code);
}

function withoutRisk(args: Json): Json {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  // The value is neither an array nor null, so its fields are JSON.
  return membersWithout(args as JsonMembers, ['security_risk', 'summary']);
}

function membersWithout(members: JsonMembers, left: readonly string[]): Json {
  const ownMembers = Object.entries(members).filter(
    ([key, value]) => !left.includes(key) && value !== null && value !== undefined,
  );
  return Object.fromEntries(ownMembers.map(([key, value]) => [key, asJson(value)]));
}
