import { present, type JsonObject } from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import type { StoredContentBlock, StoredUsage } from '../../core/records/agent-message.ts';
import { answerCost } from '../../core/records/answer-cost.ts';
import { MODEL_PRICES } from '../../core/records/model-prices.ts';
import type { EndReason } from '../../core/records/words.ts';
import type { RunEnded, RunEnding } from '../../core/records/trajectory-record.ts';
import type { FormatName, ImportedRun, ImportItem, ImportSource } from '../importer.ts';
import { ObjectLines } from './object-lines.ts';
import { runEnded, RunItems, type AnswerPart, type AnswerShape, type ToolAnswerShape } from './run-items.ts';
import { plainest, sourceBlock, sourceStem } from './source-content.ts';

export const COPIED = 'entries copied from the session that it was forked from';

/** Maximum number of messages and events buffered until the task is known. Instructions, reminders and faults precede the task. */
const MAX_BUFFERED = 64;
/** A longer answer continues in further messages of the same turn. */
const MAX_PENDING = 512;
const MAX_OPEN_MESSAGES = 16;

export type SessionIdentity = Omit<ImportedRun, 'key' | 'task'>;

/** A part of a model's answer: a line or an entry. One answer may have several. */
interface AnswerPiece extends Pick<AnswerShape, 'parts' | 'modelId' | 'stopReason' | 'usage'> {
  /** Parts with the same id belong to one answer and one turn. A part without an id is a separate answer, unless `joins` is set. */
  readonly messageId?: string | undefined;
  /** For sources that do not mark where an answer begins. An answer then begins after a result, a user message, or `closeAnswer`. */
  readonly joins?: true;
}

export interface SessionResult extends ToolAnswerShape {
  readonly atMs: number | undefined;
}

interface BufferedMessage {
  readonly role: 'system' | 'user';
  readonly blocks: readonly StoredContentBlock[];
  readonly atMs: number | undefined;
}

/** What stands before the task. */
interface BufferedItems {
  readonly atMs: number | undefined;
  readonly of: (items: RunItems) => Iterable<ImportItem>;
}

export interface SessionTotal {
  readonly usd: number;
  /** Tokens that are not from the cache. */
  readonly tokens: number;
}

interface PendingAnswer {
  readonly messageId: string | undefined;
  readonly sameTurn: boolean;
  readonly beganAtMs: number | undefined;
  atMs: number | undefined;
  readonly parts: AnswerPart[];
  readonly followers: (SessionResult | BufferedMessage)[];
  isClosed: boolean;
  modelId: string | undefined;
  stopReason: string | undefined;
  usage: StoredUsage | undefined;
  /** The part of `usage` that earlier messages of this answer have. */
  readonly countedUsage: StoredUsage | undefined;
  /** Usage that the source wrote before the answer. */
  readonly usageBefore: StoredUsage | undefined;
}

/** Buffers an answer, which may arrive in parts, until another item, and a run until its task. Memory: an answer, 64 messages, call ids. */
export class SessionItems {
  #identity: SessionIdentity;
  #items: RunItems | undefined;
  #buffered: BufferedItems[] = [];
  #pendingAnswer: PendingAnswer | undefined;
  /** The usage of the last messages by id. A message may go on after another one, because a call runs while the model writes. */
  readonly #usages = new LruMap<StoredUsage | undefined>(MAX_OPEN_MESSAGES);
  #usageBefore: StoredUsage | undefined;
  #lostResults = 0;
  /** Usage of the answers so far. The cost of answers without a price is not included. */
  spent: SessionTotal = { usd: 0, tokens: 0 };
  #total: { readonly cost_usd: number; readonly tokens?: number } | undefined;
  #outcome: { readonly payload: RunEnded; readonly atMs: number | undefined } | undefined;
  /** Reason of an end after the last message; undefined after an answer with calls. */
  #endReason: EndReason | undefined = 'no_answer';

  constructor(identity: SessionIdentity) {
    this.#identity = identity;
  }

  identify(identityFields: Partial<SessionIdentity>): void {
    if (this.#items === undefined) this.#identity = { ...this.#identity, ...identityFields };
  }

  /** @param task  text of the message, if the user wrote it and not the host */
  *user(blocks: readonly StoredContentBlock[], atMs: number | undefined, task?: string): Generator<ImportItem> {
    if (blocks.length === 0) return;
    const pendingAnswer = this.#pendingAnswer;
    // A resumed session may begin with the end of an earlier turn and with the program's own commands. Its task follows.
    if (this.#items === undefined && pendingAnswer !== undefined) {
      pendingAnswer.isClosed = true;
      if (task === undefined) {
        yield* this.#answerItems(pendingAnswer, { role: 'user', blocks, atMs });
        return;
      }
      yield* this.#beginRun(task, pendingAnswer.beganAtMs);
    }
    yield* this.flush();
    // Some servers count their ids from the beginning in each process.
    if (task !== undefined) this.#usages.clear();
    this.#endReason = 'no_answer';
    yield* this.#messageItems({ role: 'user', blocks, atMs }, task);
  }

  /** Adds text that the host or a hook wrote. It does not end an answer, because it may be between a call and its result. */
  *system(blocks: readonly StoredContentBlock[], atMs: number | undefined): Generator<ImportItem> {
    if (blocks.length === 0) return;
    const message: BufferedMessage = { role: 'system', blocks, atMs };
    if (this.#pendingAnswer === undefined) yield* this.#messageItems(message, undefined);
    else yield* this.#answerItems(this.#pendingAnswer, message);
  }

  *answer(piece: AnswerPiece, atMs: number | undefined): Generator<ImportItem> {
    const { messageId, joins } = piece;
    const pendingBefore = this.#pendingAnswer;
    const goesOn =
      joins === true
        ? pendingBefore?.isClosed === false
        : messageId !== undefined && messageId === pendingBefore?.messageId;
    if (!goesOn || (pendingBefore?.parts.length ?? 0) >= MAX_PENDING) yield* this.flush();
    const hasEarlierMessage = messageId !== undefined && this.#usages.has(messageId);
    this.#pendingAnswer ??= {
      messageId,
      sameTurn: goesOn || hasEarlierMessage,
      countedUsage: hasEarlierMessage ? this.#usages.get(messageId) : undefined,
      usageBefore: this.#usageBefore,
      beganAtMs: atMs,
      atMs,
      parts: [],
      followers: [],
      isClosed: false,
      modelId: undefined,
      stopReason: undefined,
      usage: undefined,
    };
    this.#usageBefore = undefined;
    const pendingAnswer = this.#pendingAnswer;
    pendingAnswer.parts.push(...piece.parts);
    if (pendingAnswer.followers.length === 0) pendingAnswer.atMs = atMs ?? pendingAnswer.atMs;
    pendingAnswer.modelId = piece.modelId ?? pendingAnswer.modelId;
    pendingAnswer.stopReason = piece.stopReason ?? pendingAnswer.stopReason;
    // If each part repeats the usage, the last value is final.
    pendingAnswer.usage = piece.usage ?? pendingAnswer.usage;
  }

  /** Sets the usage of the answer that is being read, or adds it to the next. `isMore`: of a further request, always added. */
  usage(usage: StoredUsage | undefined, isMore = false): void {
    if (usage === undefined) return;
    const answer = this.#pendingAnswer;
    if (answer === undefined) this.#usageBefore = usageSum(this.#usageBefore, usage);
    else answer.usage = isMore ? usageSum(answer.usage, usage) : { ...answer.usage, ...usage };
  }

  closeAnswer(): void {
    if (this.#pendingAnswer !== undefined) this.#pendingAnswer.isClosed = true;
  }

  *result(result: SessionResult): Generator<ImportItem> {
    if (this.#pendingAnswer !== undefined) {
      this.#pendingAnswer.isClosed = true;
      yield* this.#answerItems(this.#pendingAnswer, result);
      return;
    }
    yield* this.#resultItems(result);
  }

  *failure(
    errorMessage: string,
    atMs: number | undefined,
    parts: readonly StoredContentBlock[] = [sourceBlock(errorMessage)],
    paid: Pick<AnswerPiece, 'modelId' | 'usage'> = {},
  ): Generator<ImportItem> {
    yield* this.flush();
    this.#endReason = undefined;
    yield* this.#itemsBesideTask((items) => items.answer({ ...paid, parts, errorMessage, sameTurn: true }, atMs), atMs);
  }

  *compaction(trigger: string, atMs: number | undefined): Generator<ImportItem> {
    yield* this.flush();
    yield* this.#itemsBesideTask((items) => [items.record({ kind: 'compaction', trigger }, atMs)], atMs);
  }

  *event(type: string, data: JsonObject, atMs: number | undefined): Generator<ImportItem> {
    yield* this.flush();
    const event = { kind: 'session_event', event_type: type, data } as const;
    yield* this.#itemsBesideTask((items) => [items.record(event, atMs)], atMs);
  }

  /** Undefined if the run continues. `ended` without a reason is `answered` after a text, else `no_answer`. */
  outcome(ending: string | RunEnding | undefined, atMs: number | undefined): void {
    const { outcome, ...facts } = typeof ending === 'string' ? { outcome: ending } : (ending ?? {});
    this.#outcome = outcome === undefined ? undefined : { payload: runEnded(outcome, facts), atMs };
  }

  get hasBegun(): boolean {
    return this.#items !== undefined;
  }

  /** True if the run goes on if nothing follows. */
  get isOpen(): boolean {
    return this.#outcome === undefined;
  }

  /** Moves the end, if there is one, to a later time: the run was still at work, for example in its hooks. */
  endsAt(atMs: number | undefined): void {
    if (this.#outcome !== undefined && atMs !== undefined) this.#outcome = { ...this.#outcome, atMs };
  }

  /** In US dollars, and the tokens that are not from the cache. Dropped if the session has no ending. */
  cost(usd: number, tokens?: number): void {
    this.#total = { cost_usd: usd, ...present({ tokens }) };
  }

  /** Emits the buffered answer if each of its calls has a result. The answer may continue in a further message. */
  *pause(): Generator<ImportItem> {
    const { followers = [], parts = [] } = this.#pendingAnswer ?? {};
    const callCount = parts.filter(({ type }) => type === 'call').length;
    if (callCount > 0 && followers.filter((one) => !('role' in one)).length >= callCount) yield* this.flush();
  }

  /** Takes the usage of subagents, which are separate runs, out of the total. */
  withoutSubagents({ tokens: tokensBelow, usd }: SessionTotal): void {
    if (this.#total === undefined) return;
    const { cost_usd, tokens } = this.#total;
    const ownTokens = tokens === undefined ? undefined : Math.max(0, tokens - tokensBelow);
    this.#total = { cost_usd: Math.max(0, cost_usd - usd), ...present({ tokens: ownTokens }) };
  }

  *finish(): Generator<ImportItem> {
    yield* this.flush();
    const items = yield* this.#beginRun(undefined, undefined);
    const usage = this.#total;
    const endPayload = this.#outcome?.payload;
    const reason = endPayload?.outcome === 'ended' ? this.#endReason : undefined;
    yield* items.finish(endPayload && { ...present({ reason, usage }), ...endPayload }, this.#outcome?.atMs);
  }

  *flush(): Generator<ImportItem> {
    const pendingAnswer = this.#pendingAnswer;
    if (pendingAnswer === undefined) return;
    this.#pendingAnswer = undefined;
    if (pendingAnswer.messageId !== undefined)
      this.#usages.set(pendingAnswer.messageId, pendingAnswer.usage ?? pendingAnswer.countedUsage);
    const { atMs, beganAtMs, followers, parts } = pendingAnswer;
    const items = yield* this.#beginRun(undefined, beganAtMs);
    this.#endReason = endReasonAfter(parts);
    const ownUsage = usageBeyond(pendingAnswer.usage, pendingAnswer.countedUsage);
    const usage = usageSum(pendingAnswer.usageBefore, ownUsage);
    const { input_tokens: input = 0, output_tokens: output = 0 } = usage ?? {};
    const usd = usage === undefined ? undefined : answerCost(usage, pendingAnswer.modelId, MODEL_PRICES);
    this.spent = { usd: this.spent.usd + (usd ?? 0), tokens: this.spent.tokens + input + output };
    yield* items.answer({ ...pendingAnswer, usage }, atMs);
    for (const follower of followers) {
      if ('role' in follower) yield* this.#messageItems(follower, undefined);
      else yield* this.#resultItems(follower);
    }
  }

  *#answerItems(pending: PendingAnswer, follower: SessionResult | BufferedMessage): Generator<ImportItem> {
    pending.followers.push(follower);
    if (pending.followers.length >= MAX_PENDING) yield* this.flush();
  }

  *#messageItems(message: BufferedMessage, task: string | undefined): Generator<ImportItem> {
    const { atMs, blocks, role } = message;
    if (task === undefined)
      yield* this.#itemsBesideTask((items) => [items.message(role, plainest(blocks), atMs)], atMs);
    else yield (yield* this.#beginRun(task, atMs)).message(role, plainest(blocks), atMs);
  }

  /** Emits items at once, or with the task, if they stand before it. */
  *#itemsBesideTask(of: BufferedItems['of'], atMs: number | undefined): Generator<ImportItem> {
    if (this.#items === undefined && this.#buffered.length < MAX_BUFFERED) this.#buffered.push({ of, atMs });
    else yield* of(yield* this.#beginRun(undefined, atMs));
  }

  *#resultItems(result: SessionResult): Generator<ImportItem> {
    // The call is in an earlier file.
    if (this.#items === undefined) {
      this.#lostResults += 1;
      return;
    }
    yield* this.#items.result(result, result.atMs);
  }

  *#beginRun(task: string | undefined, atMs: number | undefined): Generator<ImportItem, RunItems> {
    if (this.#items !== undefined) return this.#items;
    const items = new RunItems(this.#identity.id);
    this.#items = items;
    const startedAtMs = this.#identity.startedAtMs ?? this.#buffered[0]?.atMs ?? atMs;
    const run: ImportedRun = {
      key: this.#identity.id,
      ...this.#identity,
      ...present({ task, startedAtMs }),
    };
    yield { type: 'run', run };
    for (const { of } of this.#buffered) yield* of(items);
    this.#buffered = [];
    for (; this.#lostResults > 0; this.#lostResults -= 1) items.skipped.add('tool results without a call');
    return items;
  }
}

function endReasonAfter(parts: readonly AnswerPart[]): EndReason | undefined {
  if (parts.some(({ type }) => type === 'call')) return undefined;
  return parts.some((part) => part.type === 'text' && part.text.trim() !== '') ? 'answered' : 'no_answer';
}

function usageSum(before: StoredUsage | undefined, usage: StoredUsage | undefined): StoredUsage | undefined {
  if (before === undefined || usage === undefined) return usage ?? before;
  const counts: Readonly<Record<string, number | undefined>> = before;
  const sums = Object.entries(usage).map(([name, count]) => [
    name,
    name === 'context_window_tokens' ? count : count + (counts[name] ?? 0),
  ]);
  return { ...before, ...Object.fromEntries(sums) };
}

/** Returns the usage of an answer without the usage that earlier messages of the answer have. */
function usageBeyond(usage: StoredUsage | undefined, counted: StoredUsage | undefined): StoredUsage | undefined {
  if (usage === undefined || counted === undefined) return usage;
  const previousCounts: Readonly<Record<string, number | undefined>> = counted;
  return Object.fromEntries(
    Object.entries(usage).map(([name, count]) => [
      name,
      name === 'context_window_tokens' ? count : Math.max(0, count - (previousCounts[name] ?? 0)),
    ]),
  );
}

/** Reads a source whose lines are those of one session. */
export abstract class SessionLines extends ObjectLines {
  protected session: SessionItems;

  constructor(source: ImportSource, format: FormatName) {
    super();
    this.session = new SessionItems({ id: sourceStem(source), format });
  }

  protected finish(): Iterable<ImportItem> {
    return this.session.finish();
  }
}
