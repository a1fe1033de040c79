import { wordSet } from '../../core/base/word-set.ts';
import { existsSync } from 'node:fs';
import { type JsonMembers, textOrUndefined, membersOf, present, isJsonObject } from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { endingAfter, isTurnEnd, failureReason, retryIn } from './claude-ending.ts';
import type { ImportItem, ImportSource, LineImporter } from '../importer.ts';
import { ObjectLines, plainText } from '../parts/object-lines.ts';
import { sourceStem, sourceCall, sourceBlock, sourceTimeMs } from '../parts/source-content.ts';
import { type StoredContentBlock, textOfContent } from '../../core/records/agent-message.ts';
import { REQUEST_RETRIED, SESSION_NAMED, TURN_WORKED } from '../../core/records/words.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import {
  blocksOf,
  entryOfSubagent,
  isCall,
  isCopiedAnswer,
  isFiller,
  taskIn,
  providerResultOf,
  queuedMessage,
  resultInBlock,
  subagentFile,
  usageOf,
} from './claude-code-entry.ts';
import { REJECTED } from '../../core/facts/host-refusals.ts';
import { earlierEntries } from './earlier-entries.ts';
import { RepeatedMessages } from './repeated-messages.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { COPIED, SessionItems, type SessionTotal } from '../parts/session-items.ts';

const MAX_DENIED = 256;

function isDenial(entry: JsonMembers): entry is JsonMembers & { readonly tool_use_id: string } {
  return entry.type === 'system' && entry.subtype === 'permission_denied' && typeof entry.tool_use_id === 'string';
}

class ClaudeCodeRun {
  readonly #session: SessionItems;
  #compactedSinceAnswer = false;
  /** True after an answer that ended its turn for certain. Esc after it interrupts nothing. */
  #isTurnOver = false;
  readonly #deniedCalls = new LruMap<true>(MAX_DENIED);
  readonly #nameNow: () => string | undefined;
  #saidName: string | undefined;

  #totals = { ofEarlier: { usd: 0, tokens: 0 }, ofLast: { usd: 0, tokens: 0 } };

  readonly parentId: string | undefined;
  /** When commands began, by call: after a permission, if one was needed. */
  readonly #startsMs: LruMap<number>;

  constructor(
    identity: { readonly id: string; readonly parentId?: string; readonly conversationId?: string },
    startsMs: LruMap<number>,
    nameNow: () => string | undefined,
  ) {
    this.parentId = identity.parentId;
    this.#startsMs = startsMs;
    this.#nameNow = nameNow;
    this.#session = new SessionItems({ ...identity, format: 'claude-code' });
  }

  *entry(entry: JsonMembers): Generator<ImportItem> {
    if (entry.type === 'cost-state') {
      const { totalCostUSD: usd } = entry;
      if (typeof usd === 'number' && usd >= 0) this.#session.cost(usd);
      return;
    }
    if (isDenial(entry)) {
      this.#deniedCalls.set(entry.tool_use_id, true);
      return;
    }
    const atMs = sourceTimeMs(entry.timestamp);
    if (isTurnEnd(entry)) {
      // Claude Code leaves out the time in which it waited for a permission.
      const { durationMs } = entry;
      if (typeof durationMs === 'number' && this.#session.hasBegun)
        yield* this.#session.event(TURN_WORKED, { duration_ms: durationMs }, atMs);
      // The Stop hooks run although the agent wrote no last message.
      if (this.#session.isOpen) this.#session.outcome('ended', atMs);
      else this.#session.endsAt(atMs);
      this.#isTurnOver = true;
      yield* this.#named();
      return;
    }
    const retry = retryIn(entry);
    if (retry !== undefined) {
      if (this.#session.hasBegun) yield* this.#session.event(REQUEST_RETRIED, retry, atMs);
      return;
    }
    const ending = endingAfter(entry);
    const isLateEsc = this.#isTurnOver && ending !== 'same' && ending?.reason === 'interrupted';
    if (ending !== 'same' && !isLateEsc) {
      this.#isTurnOver = isCertainAnswer(entry, ending);
      this.#session.outcome(ending, atMs);
    }
    if (entry.type === 'attachment') return;
    if (entry.type === 'system') yield* this.#compactionItems(triggerOf(entry), atMs);
    else if (entry.type === 'result') {
      this.#addTotal(entry);
      this.#session.outcome(outcomeOf(entry), atMs);
    } else if (entry.type === 'user') yield* this.#userItems(entry, atMs);
    else if (entry.isApiErrorMessage === true) {
      const parts = blocksOf(entry).map((block) => sourceBlock(block));
      yield* this.#session.failure(textOfContent(parts), atMs, parts);
    } else yield* this.#assistantItems(entry, atMs);
  }

  /** The totals of a result include small models and subagents. They grow within a process; a process that resumes the session starts at zero. */
  #addTotal({ modelUsage, total_cost_usd: usd }: JsonMembers): void {
    if (typeof usd !== 'number' || !(usd >= 0)) return;
    let tokens = 0;
    for (const usage of Object.values(membersOf(modelUsage))) {
      const { inputTokens, outputTokens } = membersOf(usage);
      for (const count of [inputTokens, outputTokens]) if (typeof count === 'number') tokens += count;
    }
    const { ofEarlier, ofLast } = this.#totals;
    const earlier =
      usd < ofLast.usd ? { usd: ofEarlier.usd + ofLast.usd, tokens: ofEarlier.tokens + ofLast.tokens } : ofEarlier;
    this.#totals = { ofEarlier: earlier, ofLast: { usd, tokens } };
    this.#session.cost(earlier.usd + usd, tokens === 0 ? undefined : earlier.tokens + tokens);
  }

  *pause(): Generator<ImportItem> {
    yield* this.#session.pause();
  }

  get spent(): SessionTotal {
    return this.#session.spent;
  }

  /** Between the parts of an answer it would end the answer. */
  *#named(): Generator<ImportItem> {
    const name = this.#nameNow();
    if (name === undefined || name === this.#saidName || !this.#session.hasBegun) return;
    this.#saidName = name;
    yield* this.#session.event(SESSION_NAMED, { name }, undefined);
  }

  *finish(below?: SessionTotal): Generator<ImportItem> {
    yield* this.#named();
    if (below !== undefined) this.#session.withoutSubagents(below);
    yield* this.#session.finish();
  }

  *#userItems(entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    let userBlocks: StoredContentBlock[] = [];
    for (const block of blocksOf(entry)) {
      const result = resultInBlock(block, atMs, (id) => this.#ranMs(entry, id, atMs));
      if (result === undefined) {
        userBlocks.push(sourceBlock(block));
        continue;
      }
      yield* this.#messageItems(entry, userBlocks, atMs);
      userBlocks = [];
      const isDenied =
        typeof entry.toolDenialKind === 'string' ||
        (result.sourceId !== undefined && this.#deniedCalls.has(result.sourceId));
      // Without a terminal nobody can refuse a call: the program was interrupted.
      const isStop = entry.entrypoint === 'sdk-cli' && REJECTED.test(plainText(result.result));
      const outcome = isStop ? 'cancelled' : 'refused';
      yield* this.#session.result(isStop || isDenied ? { ...result, outcome } : result);
    }
    yield* this.#messageItems(entry, userBlocks, atMs);
  }

  #ranMs({ toolUseResult }: JsonMembers, callId: string | undefined, atMs: number | undefined): number | undefined {
    const { durationMs, durationSeconds } = membersOf(toolUseResult);
    if (typeof durationMs === 'number') return durationMs;
    if (typeof durationSeconds === 'number') return durationSeconds * 1_000;
    const startMs = callId === undefined ? undefined : this.#startsMs.get(callId);
    return startMs === undefined || atMs === undefined ? undefined : Math.max(0, atMs - startMs);
  }

  *#messageItems(
    entry: JsonMembers,
    blocks: readonly StoredContentBlock[],
    atMs: number | undefined,
  ): Generator<ImportItem> {
    if (blocks.length === 0) return;
    if (entry.isOfHost === true) {
      yield* this.#session.system(blocks, atMs);
      return;
    }
    const isSummary = entry.isCompactSummary === true;
    // A preceding boundary entry already reports the compaction. Older files contain only the summary.
    if (isSummary && !this.#compactedSinceAnswer) yield* this.#compactionItems('summary', atMs);
    const task = isSummary || entry.isMeta === true ? undefined : taskIn(blocks.map((block) => textOfContent([block])));
    yield* this.#session.user(blocks, atMs, task);
  }

  *#assistantItems(entry: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    this.#compactedSinceAnswer = false;
    const message = membersOf(entry.message);
    const parts: AnswerPart[] = [];
    const results = [];
    for (const block of blocksOf(entry)) {
      const result = providerResultOf(block, atMs);
      if (result === undefined)
        parts.push(isCall(block) ? { type: 'call', call: sourceCall(block) } : sourceBlock(block));
      else results.push(result);
    }
    const piece = {
      messageId: textOrUndefined(message.id) ?? textOrUndefined(entry.requestId),
      parts,
      // Claude Code writes `<synthetic>` as the model of error messages.
      modelId: message.model === '<synthetic>' ? undefined : textOrUndefined(message.model),
      stopReason: textOrUndefined(message.stop_reason),
      usage: usageOf(message),
    };
    yield* this.#session.answer(piece, atMs);
    for (const result of results) yield* this.#session.result(result);
  }

  *#compactionItems(trigger: string, atMs: number | undefined): Generator<ImportItem> {
    this.#compactedSinceAnswer = true;
    yield* this.#session.compaction(trigger, atMs);
  }
}

/** Versions of 2025 omit the stop reason, so a text of theirs may be interrupted before its end. */
function isCertainAnswer({ message }: JsonMembers, ending: RunEnding | undefined): boolean {
  return ending?.reason === 'answered' && isJsonObject(message) && typeof message['stop_reason'] === 'string';
}

function triggerOf({ compactMetadata, compact_metadata }: JsonMembers): string {
  return textOrUndefined(membersOf(compactMetadata ?? compact_metadata).trigger) ?? 'unspecified';
}

/** Reads the last line of stream-json, which says how the process ended. It does not say whether the task was solved. */
function outcomeOf(entry: JsonMembers): RunEnding {
  const subtype = textOrUndefined(entry.subtype) ?? 'unspecified';
  if (subtype === 'error_max_turns') return { outcome: subtype, reason: 'turn_limit' };
  if (entry.is_error !== true)
    return subtype === 'success' ? { outcome: 'ended', reason: 'answered' } : { outcome: subtype };
  const failure = { error: undefined, status: entry.api_error_status, text: textOrUndefined(entry.result) ?? '' };
  return { outcome: subtype === 'success' ? 'error' : subtype, reason: failureReason(failure) };
}

/** Maximum number of remembered entry ids. Entries of a resumed session are repeated soon or never. */
const REMEMBERED_ENTRIES = 8192;
/** Maximum number of entries buffered at the beginning of a file. */
const MAX_HELD = 64;
const MAX_OPEN_RUNS = 256;
const AGENT_FILE = /^agent-(.+?)\.jsonl$/;

class ClaudeCodeImport extends ObjectLines {
  readonly #source: ImportSource;
  readonly #runs = new Map<string, ClaudeCodeRun>();
  readonly #startCounts = new LruMap<number>(REMEMBERED_ENTRIES);
  readonly #runOfEntry = new LruMap<string>(REMEMBERED_ENTRIES);
  readonly #messages = new RepeatedMessages(REMEMBERED_ENTRIES);
  /** When sessions were opened, before their first message. */
  readonly #openedMs = new LruMap<number>(MAX_OPEN_RUNS);
  /** Whether a subagent has a file beside this one, by id. */
  readonly #agentFiles = new LruMap<boolean>(MAX_OPEN_RUNS);
  /** The runs of subagents without a file, by the id of the call that started them. */
  readonly #agentCalls = new LruMap<string>(MAX_OPEN_RUNS);
  /** Usage of the subagents of each session. */
  readonly #below = new Map<string, SessionTotal>();
  readonly #startsMs = new LruMap<number>(MAX_OPEN_RUNS);
  /** The names of sessions: from a person, and from the host. */
  readonly #customNames = new LruMap<string>(MAX_OPEN_RUNS);
  readonly #givenNames = new LruMap<string>(MAX_OPEN_RUNS);
  #heldEntries: JsonMembers[] = [];
  /** True in a fork, before the fork's first new answer. */
  #mayBeCopied = false;
  #isFork = false;
  #earlier: ReadonlySet<string> | undefined;

  constructor(source: ImportSource) {
    super();
    this.#source = source;
  }

  *entry(line: JsonMembers, lineNumber: number): Generator<ImportItem> {
    const value = this.#ofSubagent(line) ?? queuedMessage(line) ?? line;
    // Tool use before any message indicates a fork. It can also mean that the file was truncated.
    if (value.type === 'tools-used' && this.#runs.size === 0) this.#mayBeCopied = true;
    if (value.type === 'custom-title' || value.type === 'ai-title') {
      const [name, names] =
        value.type === 'ai-title' ? [value.aiTitle, this.#givenNames] : [value.customTitle, this.#customNames];
      if (typeof name === 'string') names.set(sessionOf(value) ?? '', name);
      return;
    }
    if (!isUsed(value)) {
      this.#noteStart(value);
      this.#noteOpened(value);
      this.skipped.add(kindOf(value));
      return;
    }
    const uuid = textOrUndefined(value.uuid);
    if (uuid !== undefined && this.#runOfEntry.has(uuid)) {
      this.skipped.add('duplicate entries');
      return;
    }
    const isOwnMessage = value.type === 'user' || value.type === 'assistant';
    if (isOwnMessage && !hasContent(value)) {
      this.lost.add(`${plainText(value.type)} entries without a message content`, lineNumber);
      return;
    }
    if (uuid !== undefined && isOwnMessage && this.#messages.isRepeated(value, sessionOf(value))) {
      this.#runOfEntry.set(uuid, this.#runIdOf(value, uuid));
      this.skipped.add('duplicate entries');
      return;
    }
    if (uuid !== undefined && this.#isOfEarlierSession(uuid, value)) {
      this.#isFork = true;
      this.skipped.add(COPIED);
      return;
    }
    // Among copied entries, the end of a turn is copied too: a new turn begins with a new answer.
    if (this.#isCopied(value) || (this.#mayBeCopied && isTurnEnd(value))) {
      this.skipped.add(COPIED);
      return;
    }
    const isOfUser = value.type === 'user' && value.isSidechain !== true;
    if (this.#mayBeCopied && isOfUser && this.#heldEntries.length < MAX_HELD) {
      this.#heldEntries.push(value);
      if (uuid !== undefined) this.#runOfEntry.set(uuid, '');
      return;
    }
    yield* this.#heldItems();
    yield* this.#subagentAnswers(value);
    yield* this.#entryItems(value);
  }

  /** The program writes what its hooks and its own commands did before the first message. */
  #noteOpened(entry: JsonMembers): void {
    const session = sessionOf(entry);
    const atMs = sourceTimeMs(entry.timestamp);
    if (session === undefined || atMs === undefined || this.#runs.has(session) || this.#openedMs.has(session)) return;
    const uuid = textOrUndefined(entry.uuid);
    const isCopied = uuid !== undefined && this.#isOfEarlierSession(uuid, entry);
    if (!isCopied && textOrUndefined(entry.agentId) === undefined) this.#openedMs.set(session, atMs);
  }

  /** While a command runs, some versions write how long it has been running. The wait for its permission is not included. */
  #noteStart({ data, parentToolUseID, timestamp, type }: JsonMembers): void {
    const elapsed = type === 'progress' ? membersOf(data).elapsedTimeSeconds : undefined;
    const atMs = sourceTimeMs(timestamp);
    if (typeof elapsed !== 'number' || typeof parentToolUseID !== 'string' || atMs === undefined) return;
    this.#startsMs.set(parentToolUseID, atMs - elapsed * 1_000);
  }

  /** A subagent with a file of its own is read there. */
  #ofSubagent(line: JsonMembers): JsonMembers | undefined {
    const entry = line.type === 'progress' ? entryOfSubagent(line) : undefined;
    if (entry === undefined) return undefined;
    const { agentId } = entry;
    const hasFile = this.#agentFiles.get(agentId) ?? existsSync(subagentFile(this.#source.path, agentId));
    this.#agentFiles.set(agentId, hasFile);
    if (hasFile) return undefined;
    const parentCall = textOrUndefined(line.parentToolUseID);
    if (parentCall !== undefined) this.#agentCalls.set(parentCall, this.#runIdOf(entry, undefined));
    return entry;
  }

  /** The last answer of a subagent without a file stands only in the result of the call that started it. */
  *#subagentAnswers(entry: JsonMembers): Generator<ImportItem> {
    if (this.#agentCalls.size === 0 || entry.type !== 'user' || entry.isSidechain === true) return;
    for (const block of blocksOf(entry)) {
      const { isError, sourceId = '' } = resultInBlock(block, undefined) ?? {};
      const run = this.#runs.get(this.#agentCalls.get(sourceId) ?? '');
      this.#agentCalls.delete(sourceId);
      if (run === undefined || isError === true) continue;
      const { content } = membersOf(block);
      const message = { role: 'assistant', content: Array.isArray(content) ? content.slice(0, 1) : content };
      yield* run.entry({ type: 'assistant', timestamp: entry.timestamp, message });
    }
  }

  *#entryItems(entry: JsonMembers): Generator<ImportItem> {
    const uuid = textOrUndefined(entry.uuid);
    const runId = this.#runIdOf(entry, uuid);
    // The total of a fork includes the cost of the session that it was forked from.
    if (entry.type === 'cost-state' && this.#isFork) return;
    if ((entry.type === 'cost-state' || isTurnEnd(entry)) && !this.#runs.has(runId)) return;
    if (uuid !== undefined) this.#runOfEntry.set(uuid, runId);
    yield* this.#makeRoomFor(runId);
    yield* this.#runOf(runId, entry).entry(entry);
  }

  #isOfEarlierSession(uuid: string, { timestamp }: JsonMembers): boolean {
    this.#earlier ??= earlierEntries(this.#source.path, sourceTimeMs(timestamp) ?? 0);
    return this.#earlier.has(uuid);
  }

  /** A fork begins with entries of another session under the fork's id; only its answers name the original session. */
  #isCopied(entry: JsonMembers): boolean {
    if (!isCopiedAnswer(entry)) return false;
    this.#heldEntries.forEach(() => this.skipped.add(COPIED));
    this.#heldEntries = [];
    this.#isFork = true;
    this.#mayBeCopied = true;
    return true;
  }

  /** Emits the messages that were buffered before the first answer, because they may have been copies. */
  *#heldItems(): Generator<ImportItem> {
    const entries = this.#heldEntries;
    this.#heldEntries = [];
    this.#mayBeCopied = false;
    for (const entry of entries) yield* this.#entryItems(entry);
  }

  *pause(): Generator<ImportItem> {
    for (const run of this.#runs.values()) yield* run.pause();
  }

  *finish(): Generator<ImportItem> {
    yield* this.#heldItems();
    const runs = [...this.#runs];
    for (const [id, run] of runs) if (run.parentId !== undefined) yield* this.#finished(id, run);
    for (const [id, run] of runs) if (run.parentId === undefined) yield* this.#finished(id, run);
    this.#runs.clear();
  }

  /** The host's total of a session includes its subagents. */
  *#finished(id: string, run: ClaudeCodeRun): Generator<ImportItem> {
    yield* run.finish(this.#below.get(id));
    if (run.parentId === undefined) return;
    const { tokens, usd } = this.#below.get(run.parentId) ?? { usd: 0, tokens: 0 };
    this.#below.set(run.parentId, { usd: usd + run.spent.usd, tokens: tokens + run.spent.tokens });
  }

  #runIdOf(entry: JsonMembers, uuid: string | undefined): string {
    const session = sessionOf(entry) ?? sourceStem(this.#source.name);
    const parentCall = textOrUndefined(entry.parent_tool_use_id);
    if (parentCall !== undefined) return `${session}/tool-${parentCall}`;
    if (entry.isSidechain !== true) return session;
    const agentId = textOrUndefined(entry.agentId) ?? AGENT_FILE.exec(this.#source.name)?.[1];
    if (agentId !== undefined) return `${session}/agent-${agentId}`;
    // In older files, the first entry of a side conversation identifies it. The other entries are its descendants.
    const parent = textOrUndefined(entry.parentUuid);
    const parentRun = parent === undefined ? undefined : this.#runOfEntry.get(parent);
    return parentRun === undefined || parentRun === session ? `${session}/sidechain-${uuid ?? 'unnamed'}` : parentRun;
  }

  *#makeRoomFor(runId: string): Generator<ImportItem> {
    const [oldest] = this.#runs;
    if (oldest === undefined || this.#runs.has(runId) || this.#runs.size < MAX_OPEN_RUNS) return;
    this.#runs.delete(oldest[0]);
    yield* this.#finished(...oldest);
  }

  #runOf(runId: string, entry: JsonMembers): ClaudeCodeRun {
    const run = this.#runs.get(runId) ?? this.#beginRun(runId, entry);
    // Delete and set the entry, so that the map stays in order of use.
    this.#runs.delete(runId);
    this.#runs.set(runId, run);
    return run;
  }

  #beginRun(runId: string, entry: JsonMembers): ClaudeCodeRun {
    const times = (this.#startCounts.get(runId) ?? 0) + 1;
    this.#startCounts.set(runId, times);
    const session = sessionOf(entry);
    const identity = {
      id: times === 1 ? runId : `${runId}#${times}`,
      ...present({ conversationId: session }),
      ...(session === undefined || session === runId ? {} : { parentId: session }),
      ...(times === 1 ? present({ startedAtMs: this.#openedMs.get(runId) }) : {}),
    };
    return new ClaudeCodeRun(identity, this.#startsMs, () =>
      session === runId ? (this.#customNames.get(session) ?? this.#givenNames.get(session)) : undefined,
    );
  }
}

const USED_TYPES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'cost-state']);

function sessionOf(entry: JsonMembers): string | undefined {
  return textOrUndefined(entry.sessionId) ?? textOrUndefined(entry.session_id);
}

function isUsed(entry: JsonMembers): boolean {
  if (isFiller(entry)) return false;
  if (retryIn(entry) !== undefined) return true;
  if (entry.type === 'system') return entry.subtype === 'compact_boundary' || isTurnEnd(entry) || isDenial(entry);
  if (entry.type === 'attachment') return endingAfter(entry) !== 'same';
  // A workflow's journal has results too, of its agents.
  if (entry.type === 'result') return sessionOf(entry) !== undefined;
  if (entry.type === 'progress') return isTurnEnd(entry);
  return USED_TYPES.has(entry.type);
}

function kindOf(entry: JsonMembers): string {
  const type = typeof entry.type === 'string' ? entry.type : 'entries without a type';
  return typeof entry.subtype === 'string' ? `${type}/${entry.subtype}` : type;
}

function hasContent(entry: JsonMembers): boolean {
  const { content } = membersOf(entry.message);
  return typeof content === 'string' || Array.isArray(content);
}

const SPEAKERS: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);
const COMPANIONS: ReadonlySet<unknown> = wordSet(
  'summary file-history-snapshot progress queue-operation attachment ai-title custom-title last-prompt mode permission-mode agent-name result stream_event',
);

/**
 * Transcripts (`<sessionId>.jsonl`, `<sessionId>/subagents/agent-<id>.jsonl`) and the output of `claude -p
 * --output-format stream-json`. Memory: for each active run one answer and the call ids, and the last 8,192 entry ids.
 */
export const claudeCodeImporter: LineImporter = {
  shape: 'lines',
  format: 'claude-code',
  recognise(firstLines) {
    const objects = firstLines.filter((line) => isJsonObject(line));
    const [messageCount, companionCount] = [objects.filter(isMessage).length, objects.filter(isCompanion).length];
    if (messageCount > 0) return messageCount + companionCount === firstLines.length ? 0.98 : 0.9;
    return companionCount > 0 && companionCount === firstLines.length ? 0.6 : 0;
  },
  open: (source) => new ClaudeCodeImport(source),
};

function isMessage(line: Readonly<Record<string, unknown>>): boolean {
  if (!SPEAKERS.has(line.type)) return false;
  if (typeof line.sessionId === 'string') return typeof line.uuid === 'string';
  // Droid's lines have such an id too.
  return typeof line.session_id === 'string' && (line.type !== 'system' || typeof line.subtype === 'string');
}

function isCompanion(line: Readonly<Record<string, unknown>>): boolean {
  return (
    COMPANIONS.has(line.type) &&
    ['sessionId', 'session_id', 'leafUuid', 'messageId', 'uuid'].some((member) => typeof line[member] === 'string')
  );
}
