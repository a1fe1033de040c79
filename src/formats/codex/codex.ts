import { wordSet } from '../../core/base/word-set.ts';
import { confidence, plainText } from '../parts/object-lines.ts';
import {
  isJsonObject,
  type JsonMembers,
  membersOf,
  textOrUndefined,
  listOf,
  numberOrUndefined,
  present,
} from '../../core/base/json.ts';
import type { LineImporter, ImportItem } from '../importer.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { ToolAnswerShape, AnswerPart } from '../parts/run-items.ts';
import { SessionItems, SessionLines, COPIED } from '../parts/session-items.ts';
import {
  asJson,
  namedCall,
  reasoningBlocks,
  sourceResult,
  sourceUsage,
  callArguments,
  sourceBlocks,
  sourceTimeMs,
} from '../parts/source-content.ts';
import { type StoredContentBlock, textOfContent } from '../../core/records/agent-message.ts';
import { LimitSteps } from '../../core/facts/limit-used.ts';
import { LIMIT_USED, TURN_WORKED } from '../../core/records/words.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import { statedFailure } from '../claude-code/claude-ending.ts';
import { callOfScript } from './code-mode.ts';
import { CodexCallFacts, codexResult } from './codex-result.ts';

const REPEATED_EVENTS: ReadonlySet<unknown> = wordSet(
  'agent_message agent_reasoning agent_reasoning_raw_content context_compacted user_message web_search_end',
);
/** Matches the beginning of user messages that Codex, a hook or another agent wrote. Newer rollouts mark such messages. */
const HOST_MESSAGE_START =
  /^\s*(?:# AGENTS\.md instructions|<(?:environment_context|user_instructions|permissions|skills?|skills_instructions|hook_prompt|turn_aborted|subagent_notification|user_shell_command|user_action|recommended_plugins|collaboration_mode|context_window\w*|codex_delegation|realtime_\w+)[\s>])/;
const INSTRUCTIONS_START = '# AGENTS.md instructions';
const MAX_INSTRUCTIONS = 100_000;
const LEAST_REPEATED = 40;
const CONTEXT_ITEMS: ReadonlySet<unknown> = new Set([
  'compaction',
  'compaction_summary',
  'context_compaction',
  'ghost_snapshot',
]);

class CodexRollout extends SessionLines {
  readonly #facts = new CodexCallFacts();
  #hasMeta = false;
  #id: string | undefined;
  /** True in the history that a fork, or a subagent with its parent's history, copies before its own first turn. */
  #isCopy = false;
  #hasOwnTurn = false;
  /** How the run ends if the turn ends without an answer. */
  #failure: RunEnding | undefined;
  #modelId: string | undefined;
  #instructions = '';
  /** Time of the header without a frame, whose items have none. */
  #headerAtMs: number | undefined;
  #previousTotal: JsonMembers = {};
  /** The total before the count fell. */
  #totalBefore: JsonMembers = {};
  readonly #limits = new LimitSteps();

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    const { payload, timestamp, type } = isJsonObject(value.payload) ? value : ofOldLine(value);
    if (!isJsonObject(payload)) {
      this.lost.add('lines without a payload', lineNumber);
      return;
    }
    const atMs = sourceTimeMs(timestamp) ?? this.#headerAtMs;
    if (payload === value && type === 'session_meta') this.#headerAtMs = atMs;
    if (this.#isCopied(type, payload)) return;
    switch (type) {
      case 'session_meta':
        this.#readMeta(payload);
        break;
      case 'turn_context':
        this.#modelId = textOrUndefined(payload.model) ?? this.#modelId;
        if (this.#modelId !== undefined) this.session.identify({ modelId: this.#modelId });
        break;
      case 'response_item':
        yield* this.#readItem(payload, atMs);
        break;
      case 'event_msg':
        yield* this.#readEvent(payload, atMs);
        break;
      case 'token_usage_record':
        this.session.usage(sourceUsage(payload.usage));
        this.session.closeAnswer();
        break;
      case 'compacted':
        yield* this.session.compaction('unspecified', atMs);
        break;
      default:
        this.skipped.add(plainText(type));
    }
  }

  /** A fork begins with its own such line. A copy of the original rollout follows, with the original line. */
  #readMeta(payload: JsonMembers): void {
    const { id: metaId, forked_from_id: origin } = payload;
    if (this.#hasMeta) return;
    this.#hasMeta = true;
    this.#id = textOrUndefined(metaId);
    this.#isCopy = textOrUndefined(origin) !== undefined && this.#hasTimedId;
    const spawn = membersOf(membersOf(membersOf(payload.source).subagent).thread_spawn);
    const parentId = textOrUndefined(spawn.parent_thread_id) ?? textOrUndefined(payload.parent_thread_id);
    const agentName = textOrUndefined(spawn.agent_role) ?? textOrUndefined(spawn.agent_nickname);
    const id = textOrUndefined(payload.id);
    const conversationId = textOrUndefined(payload.session_id) ?? id;
    this.session.identify(present({ id, parentId, agentName, conversationId }));
  }

  /** A copied entry has the time of the fork. Own turns begin with the first id (a UUID with a time) not older than the fork. */
  #isCopied(type: unknown, payload: JsonMembers): boolean {
    const isOtherMeta = type === 'session_meta' && this.#hasMeta && payload.id !== this.#id && !this.#hasOwnTurn;
    if (isOtherMeta && this.#hasTimedId) this.#isCopy = true;
    const turnId = textOrUndefined(payload.turn_id);
    const begins = type === 'turn_context' || payload.type === 'task_started' || payload.type === 'turn_started';
    if (begins && turnId !== undefined && this.#id !== undefined && uuidTime(turnId) >= uuidTime(this.#id)) {
      this.#isCopy = false;
      this.#hasOwnTurn = true;
    }
    if (!this.#isCopy) return false;
    if (type === 'turn_context') this.#modelId = textOrUndefined(payload.model) ?? this.#modelId;
    if (payload.type === 'token_count') this.#previousTotal = membersOf(membersOf(payload.info).total_token_usage);
    this.skipped.add(COPIED);
    return true;
  }

  get #hasTimedId(): boolean {
    return UUID_OF_TIME.test(this.#id ?? '');
  }

  *#readItem(item: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const { type } = item;
    if (type === 'message') {
      yield* this.#readMessage(item, atMs);
    } else if (type === 'reasoning') {
      yield* this.#addAnswer([...reasoningBlocks(item.summary), ...reasoningBlocks(item.content)], atMs);
    } else if (typeof type !== 'string' || CONTEXT_ITEMS.has(type)) {
      this.skipped.add(plainText(type));
    } else if (type.endsWith('_output')) {
      const sourceId = textOrUndefined(item.call_id);
      yield* this.session.result({ sourceId, ...codexResult(item, this.#facts.take(sourceId)), atMs });
    } else if (type.endsWith('_call')) {
      yield* this.#addAnswer([{ type: 'call', call: codexCall(item, type) }], atMs);
    } else {
      this.skipped.add(type);
    }
  }

  *#readMessage(item: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const blocks = sourceBlocks(item.content);
    if (item.role === 'assistant') {
      yield* this.#addAnswer(blocks, atMs);
      // Codex writes the end of the turn later, after its hooks.
      if (item.phase === 'final_answer') this.session.outcome('ended', atMs);
      return;
    }
    if (item.role !== 'user') {
      yield* this.session.system(blocks, atMs);
      return;
    }
    const metadata = listOf(membersOf(item.internal_chat_message_metadata_passthrough).content_item_metadata);
    const isHostBlock = (block: StoredContentBlock, index: number): boolean => {
      const { type } = membersOf(membersOf(metadata[index]).provenance);
      const text = textOfContent([block]);
      if (text.startsWith(INSTRUCTIONS_START)) this.#instructions = text.slice(0, MAX_INSTRUCTIONS);
      // An editor may put the instructions before the request once more.
      const isRepeated = blocks.length > 1 && text.length > LEAST_REPEATED && this.#instructions.includes(text.trim());
      return type === undefined ? HOST_MESSAGE_START.test(text) || isRepeated : type !== 'user';
    };
    yield* this.session.system(
      blocks.filter((block, index) => isHostBlock(block, index)),
      atMs,
    );
    const userBlocks = blocks.filter((block, index) => !isHostBlock(block, index));
    if (userBlocks.length > 0) yield* this.session.user(userBlocks, atMs, textOfContent(userBlocks));
  }

  *#addAnswer(parts: readonly AnswerPart[], atMs: number | undefined): Generator<ImportItem> {
    this.session.outcome(undefined, atMs);
    yield* this.session.answer({ joins: true, parts, modelId: this.#modelId }, atMs);
  }

  *#readEvent(event: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    if (this.#facts.note(event) || REPEATED_EVENTS.has(event.type)) return;
    switch (event.type) {
      case 'token_count':
        this.#readTokenCount(membersOf(event.info));
        this.#failure ??= spentLimit(membersOf(event.rate_limits));
        if (isJsonObject(event.info)) yield* this.#readLimits(membersOf(event.rate_limits), atMs);
        break;
      case 'task_started':
      case 'turn_started':
        this.#failure = undefined;
        this.session.outcome(undefined, atMs);
        break;
      case 'task_complete':
      case 'turn_complete':
        yield* this.#endTurn(event, atMs);
        break;
      case 'turn_aborted':
        this.session.outcome(
          event.reason === 'interrupted' ? { outcome: 'aborted', reason: 'interrupted' } : 'aborted',
          atMs,
        );
        break;
      case 'error':
      case 'stream_error':
        yield* this.#addFailure(event, atMs);
        break;
      default:
        this.skipped.add(`event ${plainText(event.type)}`);
    }
  }

  *#readLimits({ primary, secondary }: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    for (const limit of [membersOf(primary), membersOf(secondary)]) {
      const usedPercent = numberOrUndefined(limit.used_percent) ?? 0;
      const windowMinutes = numberOrUndefined(limit.window_minutes) ?? 0;
      const inS = numberOrUndefined(limit.resets_in_seconds);
      const resetsAtMs =
        sourceTimeMs(limit.resets_at) ?? (inS === undefined || atMs === undefined ? undefined : atMs + inS * 1_000);
      const data = this.#limits.take({ usedPercent, windowMinutes, ...present({ resetsAtMs }) });
      if (data !== undefined) yield* this.session.event(LIMIT_USED, data, atMs);
    }
  }

  *#endTurn(event: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const error = membersOf(event.error);
    if (error.message !== undefined) yield* this.#addFailure(error, atMs);
    const duration_ms = numberOrUndefined(event.duration_ms);
    if (this.session.hasBegun) yield* this.session.event(TURN_WORKED, present({ duration_ms }), atMs);
    // Older versions write the error only before the end of the turn.
    const hasFailed = error.message !== undefined || typeof event.last_agent_message !== 'string';
    this.session.outcome(hasFailed ? (this.#failure ?? 'ended') : 'ended', atMs);
  }

  *#addFailure(error: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    this.#failure = codexFailure(error);
    yield* this.session.failure(plainText(error.message), atMs);
  }

  /** Reads the token count that follows each answer. The count is repeated if only the rate limits changed. */
  #readTokenCount(info: JsonMembers): void {
    const total = membersOf(info.total_token_usage);
    const last = membersOf(info.last_token_usage);
    // A review counts for itself; after it, the total from before it comes once more.
    if (Number(total.total_tokens) < Number(this.#previousTotal.total_tokens)) this.#totalBefore = this.#previousTotal;
    const isKnown = [this.#previousTotal, this.#totalBefore].some(
      ({ total_tokens: known }) => known === total.total_tokens,
    );
    if (!isKnown) {
      const growth = countGrowth(this.#previousTotal, total);
      // A count of an earlier answer is missing. The answer gets both, so that the run has the total of the host.
      const isMissing = Number(growth.total_tokens) > Number(last.total_tokens);
      const usage = sourceUsage(isMissing ? growth : last);
      const window = numberOrUndefined(info.model_context_window);
      this.session.usage(usage && { ...usage, ...present({ context_window_tokens: window }) });
    }
    this.#previousTotal = total;
    this.session.closeAnswer();
  }
}

const UUID_OF_TIME = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/i;

/** The time in a UUID of version 7, as text of equal length. */
function uuidTime(id: string): string {
  return id.replaceAll('-', '').slice(0, 12).toLowerCase();
}

/** Returns the ending after a failed request. Codex states the HTTP status in its error info, or only in the message. */
function codexFailure({ codex_error_info: info, message }: JsonMembers): RunEnding {
  const [details] = Object.values(membersOf(info));
  return statedFailure(plainText(message), info, membersOf(details).http_status_code);
}

/** Codex writes no error for a turn that a used-up limit refused, but limits without a window, and no credits. */
function spentLimit({
  credits,
  primary,
  secondary,
  rate_limit_reached_type: limit,
}: JsonMembers): RunEnding | undefined {
  const isSpent = membersOf(credits).has_credits === false && !isJsonObject(primary) && !isJsonObject(secondary);
  if (!isSpent) return undefined;
  const error = textOrUndefined(limit)?.replaceAll('_', ' ');
  return {
    outcome: 'error',
    reason: error === undefined ? 'credit' : 'rate_limit',
    ...(error && { labels: { error } }),
  };
}

/** Returns by how much each count has grown. Empty for the first total, which may include an earlier session. */
function countGrowth(previousTotal: JsonMembers, total: JsonMembers): JsonMembers {
  const counts = Object.entries(total).flatMap(([name, count]) => {
    const previousCount = previousTotal[name];
    return typeof count === 'number' && typeof previousCount === 'number'
      ? [[name, count - previousCount] as const]
      : [];
  });
  return Object.fromEntries(counts);
}

function codexCall(item: JsonMembers, type: string): CallShape {
  const name = textOrUndefined(item.name) ?? type.replace(/_call$/, '');
  const namespace = textOrUndefined(item.namespace);
  const isJoined = name.startsWith('_') || namespace?.endsWith('_') === true;
  const sourceId = textOrUndefined(item.call_id) ?? textOrUndefined(item.id);
  const call = type === 'custom_tool_call' && name === 'exec' ? callOfScript(item.input) : undefined;
  if (call !== undefined) return { sourceId, ...call };
  return {
    sourceId,
    name: namespace === undefined ? name : `${namespace}${isJoined ? '' : '__'}${name}`,
    args: callArguments(item.arguments ?? item.input ?? item.action),
  };
}

class CodexExec extends SessionLines {
  readonly #open = new Set<string>();
  #lastFailure: string | undefined;
  #thread: string | undefined;

  *entry(value: JsonMembers): Generator<ImportItem> {
    switch (value.type) {
      case 'thread.started': {
        const id = textOrUndefined(value.thread_id);
        if (id === undefined) break;
        if (this.#thread !== undefined && this.#thread !== id) yield* this.#beginThread(id);
        this.#thread = id;
        this.session.identify({ id, conversationId: id });
        break;
      }
      case 'turn.started':
        this.session.outcome(undefined, undefined);
        break;
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        yield* this.#itemItems(membersOf(value.item), value.type === 'item.completed');
        break;
      case 'turn.completed':
        this.session.usage(sourceUsage(value.usage));
        this.session.outcome('ended', undefined);
        break;
      case 'turn.failed':
        yield* this.#failureItems(membersOf(value.error).message);
        this.session.outcome(codexFailure(membersOf(value.error)), undefined);
        break;
      case 'error':
        yield* this.#failureItems(value.message);
        break;
      default:
        this.skipped.add(plainText(value.type));
    }
  }

  /** Several runs may be appended to one file. */
  *#beginThread(id: string): Generator<ImportItem> {
    yield* this.session.finish();
    this.session = new SessionItems({ id, format: 'codex' });
    this.#open.clear();
    this.#lastFailure = undefined;
  }

  *#itemItems(item: JsonMembers, isCompleted: boolean): Generator<ImportItem> {
    const { type } = item;
    if (type === 'error') {
      // The error is a warning of Codex itself, which the model does not see.
      if (isCompleted) this.skipped.add('error items');
    } else if (type === 'agent_message' || type === 'reasoning') {
      const text = textOrUndefined(item.text);
      if (!isCompleted || text === undefined) return;
      const part = { type: type === 'reasoning' ? ('reasoning' as const) : ('text' as const), text };
      yield* this.session.answer({ joins: true, parts: [part] }, undefined);
    } else {
      yield* this.#callItems(item, isCompleted);
    }
  }

  *#callItems(item: JsonMembers, isCompleted: boolean): Generator<ImportItem> {
    const call = callOf(item);
    const sourceId = call.sourceId ?? '';
    // An item may complete without a start event. It may be updated before it completes.
    if (!this.#open.has(sourceId)) {
      yield* this.session.answer({ joins: true, parts: [{ type: 'call', call }] }, undefined);
      this.#open.add(sourceId);
    }
    if (!isCompleted) return;
    this.#open.delete(sourceId);
    yield* this.session.result({ sourceId: call.sourceId, ...resultOf(item), atMs: undefined });
  }

  *#failureItems(message: unknown): Generator<ImportItem> {
    const text = plainText(message);
    // The error of a failed turn repeats the previous error.
    if (text === this.#lastFailure) return;
    this.#lastFailure = text;
    yield* this.session.failure(text, undefined);
  }
}

function callOf(item: JsonMembers): CallShape {
  const { arguments: args, changes, command, id, items, query, server, tool, type } = item;
  switch (type) {
    case 'command_execution':
      return namedCall(id, 'exec_command', { cmd: asJson(command) });
    case 'file_change':
      return namedCall(id, 'apply_patch', { changes: asJson(changes) });
    case 'mcp_tool_call':
      return namedCall(id, `mcp__${plainText(server)}__${plainText(tool)}`, args);
    case 'web_search':
      return namedCall(id, 'web_search', { query: asJson(query) });
    case 'todo_list':
      return namedCall(id, 'update_plan', { plan: asJson(items) });
    default:
      return namedCall(id, textOrUndefined(tool) ?? plainText(type), args);
  }
}

function resultOf(item: JsonMembers): Pick<ToolAnswerShape, 'result' | 'isError' | 'exitCode' | 'outcome'> {
  const isDeclined = item.status === 'declined';
  const hasFailed = item.status === 'failed' || isDeclined;
  const outcome = isDeclined ? 'refused' : undefined;
  if (item.type === 'command_execution') {
    const { exit_code: exitCode } = item;
    const isError = typeof exitCode === 'number' ? exitCode !== 0 : hasFailed;
    return {
      result: sourceResult(item.aggregated_output),
      isError,
      exitCode: numberOrUndefined(exitCode),
      outcome,
    };
  }
  if (isJsonObject(item.error)) return { result: plainText(item.error.message), isError: true, outcome };
  const { result } = item;
  return {
    result: isJsonObject(result)
      ? sourceResult(result.content ?? result)
      : sourceResult(result ?? item.status ?? 'completed'),
    isError: hasFailed,
    outcome,
  };
}

const ROLLOUT_TYPES: ReadonlySet<unknown> = wordSet(
  'session_meta response_item event_msg turn_context compacted world_state token_usage_record',
);

/** Codex before September 2025 wrote the first line and the items without a frame, and no time with an item. */
function ofOldLine(line: JsonMembers): JsonMembers {
  if (isOldFrame(line)) return { type: line.record_type ?? 'session_meta', timestamp: line.timestamp, payload: line };
  return { type: 'response_item', payload: textOrUndefined(line.type) === undefined ? undefined : line };
}

function isOldFrame({ id, instructions, record_type: recordType, timestamp, type }: JsonMembers): boolean {
  const isFirst = typeof id === 'string' && typeof timestamp === 'string' && instructions !== undefined;
  return type === undefined && (recordType === 'state' || isFirst);
}

/** `$CODEX_HOME/sessions/Y/M/D/rollout-*.jsonl`: each file is a run, that of a subagent names its parent. */
export const codexRolloutImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    const isRollout = (line: JsonMembers): boolean =>
      (ROLLOUT_TYPES.has(line.type) && isJsonObject(line.payload)) || isOldFrame(line);
    return confidence(firstLines, isRollout, { all: 0.98, some: 0.9 });
  },
  open: (source) => new CodexRollout(source, 'codex'),
};

const EXEC_TYPE = /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))$/;

export const codexExecImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    return confidence(firstLines, ({ type }) => typeof type === 'string' && EXEC_TYPE.test(type), {
      all: 0.95,
      some: 0.7,
    });
  },
  open: (source) => new CodexExec(source, 'codex'),
};
