import { present } from '../../base/present.ts';
import type { StoredContentBlock, StoredUsage } from '../../records/stored-message.ts';
import type { Json } from '../../base/json.ts';
import type { RunEnded, TrajectoryPayload } from '../../records/trajectory-record.ts';
import type { ImportedRun, ImportItem } from '../import-item.ts';
import { withDuration } from './result-duration.ts';
import { RunItems, type AnswerPart } from './run-items.ts';
import { plainest } from './source-content.ts';

/** Messages kept back while the task is not known: instructions, caveats and reminders come before it. */
const MAX_HELD = 16;
/** Parts of one answer, and what follows them, kept back; a longer answer goes on as further messages of its turn. */
const MAX_PENDING = 512;

/** What a session file says about its run before the first message. */
export type SessionIdentity = Omit<ImportedRun, 'key' | 'task' | 'startedAtMs'>;

/** A piece of a model's answer: a line, or an entry, of which one answer may have several. */
interface AnswerPiece {
  /** Pieces with the same one are one answer, and one turn. Without one, each piece is an answer, unless it joins. */
  readonly messageId?: string | undefined;
  /** For sources that do not say where an answer begins: one does after a result, a user message, or `closeAnswer`. */
  readonly joins?: true;
  readonly parts: readonly AnswerPart[];
  readonly modelId?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly usage?: StoredUsage | undefined;
}

/** A tool's result as a session file shows it. */
export interface SessionResult {
  readonly sourceId?: string | undefined;
  readonly result: Json;
  /** The source's own flag or exit code; undefined where it has neither. */
  readonly isError?: boolean | undefined;
  /** What the host's wording says, where there is no flag; default: read from the text. */
  readonly readsAsError?: boolean | undefined;
  readonly durationMs?: number | undefined;
  readonly atMs: number | undefined;
}

interface HeldMessage {
  readonly role: 'system' | 'user';
  readonly blocks: readonly StoredContentBlock[];
  readonly atMs: number | undefined;
}

interface PendingAnswer {
  readonly messageId: string | undefined;
  readonly sameTurn: boolean;
  readonly atMs: number | undefined;
  readonly parts: AnswerPart[];
  readonly followers: (SessionResult | HeldMessage)[];
  isClosed: boolean;
  modelId: string | undefined;
  stopReason: string | undefined;
  usage: StoredUsage | undefined;
}

/**
 * Makes the items of one session of an agent program from what its file says in order. An answer that arrives in
 * pieces, with results or usage in between, is kept back until something else follows, so that it becomes one
 * message; the run itself is kept back until the first message that states a task.
 *
 * Memory: one answer, 16 messages, and the ids of the run's calls.
 */
export class SessionItems {
  #identity: SessionIdentity;
  #items: RunItems | undefined;
  #held: HeldMessage[] = [];
  #pending: PendingAnswer | undefined;
  #lastMessageId: string | undefined;
  #costUsd: number | undefined;
  #outcome: { readonly payload: RunEnded; readonly atMs: number | undefined } | undefined;

  constructor(identity: SessionIdentity) {
    this.#identity = identity;
  }

  /** Adds what a later line says about the run; without effect once the run has begun. */
  identify(more: Partial<SessionIdentity>): void {
    if (this.#items === undefined) this.#identity = { ...this.#identity, ...more };
  }

  /** A message of the user's role. @param task  its text, where the user wrote it and the host did not */
  *user(blocks: readonly StoredContentBlock[], atMs: number | undefined, task?: string): Generator<ImportItem> {
    if (blocks.length === 0) return;
    yield* this.flush();
    yield* this.#message({ role: 'user', blocks, atMs }, task);
  }

  /** Text that the host or a hook put in. It does not end an answer: it may stand between a call and its result. */
  *system(blocks: readonly StoredContentBlock[], atMs: number | undefined): Generator<ImportItem> {
    if (blocks.length === 0) return;
    const message: HeldMessage = { role: 'system', blocks, atMs };
    if (this.#pending === undefined) yield* this.#message(message, undefined);
    else yield* this.#follow(this.#pending, message);
  }

  *answer(piece: AnswerPiece, atMs: number | undefined): Generator<ImportItem> {
    const { messageId, joins } = piece;
    const before = this.#pending;
    const goesOn =
      joins === true ? before?.isClosed === false : messageId !== undefined && messageId === before?.messageId;
    if (!goesOn || (before?.parts.length ?? 0) >= MAX_PENDING) yield* this.flush();
    this.#pending ??= {
      messageId,
      sameTurn: goesOn || (messageId !== undefined && messageId === this.#lastMessageId),
      atMs,
      parts: [],
      followers: [],
      isClosed: false,
      modelId: undefined,
      stopReason: undefined,
      usage: undefined,
    };
    const pending = this.#pending;
    pending.parts.push(...piece.parts);
    pending.modelId = piece.modelId ?? pending.modelId;
    pending.stopReason = piece.stopReason ?? pending.stopReason;
    // Where each piece repeats the usage, the last one has the final count.
    pending.usage = piece.usage ?? pending.usage;
  }

  /** The usage of the answer that is being collected; without effect when there is none. */
  usage(usage: StoredUsage | undefined): void {
    if (this.#pending !== undefined && usage !== undefined) this.#pending.usage = { ...this.#pending.usage, ...usage };
  }

  /** What joins from here on is another answer. */
  closeAnswer(): void {
    if (this.#pending !== undefined) this.#pending.isClosed = true;
  }

  *result(result: SessionResult): Generator<ImportItem> {
    if (this.#pending !== undefined) {
      this.#pending.isClosed = true;
      yield* this.#follow(this.#pending, result);
      return;
    }
    yield* this.#ended(result);
  }

  /** A failed request that the host shows in the model's place: no model answered, so it is no turn. */
  *failure(
    parts: readonly StoredContentBlock[],
    errorMessage: string,
    atMs: number | undefined,
  ): Generator<ImportItem> {
    yield* this.flush();
    const items = yield* this.#begin(undefined, atMs);
    yield* items.answer({ parts, errorMessage, sameTurn: true }, atMs);
  }

  /** A record that ends the answer before it, such as a compaction. */
  *record(payload: TrajectoryPayload, atMs: number | undefined): Generator<ImportItem> {
    yield* this.flush();
    const items = yield* this.#begin(undefined, atMs);
    yield items.record(payload, atMs);
  }

  /** How the run ends unless it goes on; undefined when it does go on. */
  outcome(payload: RunEnded | undefined, atMs: number | undefined): void {
    this.#outcome = payload === undefined ? undefined : { payload, atMs };
  }

  /** What the session has cost so far in US dollars, as the source adds it up. Of a session without an end it is lost. */
  cost(usd: number): void {
    this.#costUsd = usd;
  }

  *finish(): Generator<ImportItem> {
    yield* this.flush();
    const items = yield* this.#begin(undefined, undefined);
    const usage = this.#costUsd === undefined ? undefined : { cost_usd: this.#costUsd };
    const ended = this.#outcome?.payload;
    yield* items.finish(ended && { ...ended, ...present({ usage }) }, this.#outcome?.atMs);
  }

  /** Gives the answer that was kept back, and what followed it. */
  *flush(): Generator<ImportItem> {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    this.#lastMessageId = pending.messageId;
    const items = yield* this.#begin(undefined, pending.atMs);
    yield* items.answer(pending, pending.atMs);
    for (const follower of pending.followers) {
      if ('role' in follower) yield* this.#message(follower, undefined);
      else yield* this.#ended(follower);
    }
  }

  *#follow(pending: PendingAnswer, follower: SessionResult | HeldMessage): Generator<ImportItem> {
    pending.followers.push(follower);
    if (pending.followers.length >= MAX_PENDING) yield* this.flush();
  }

  *#message(message: HeldMessage, task: string | undefined): Generator<ImportItem> {
    if (this.#items === undefined && task === undefined && this.#held.length < MAX_HELD) {
      this.#held.push(message);
      return;
    }
    const items = yield* this.#begin(task, message.atMs);
    yield items.message(message.role, plainest(message.blocks), message.atMs);
  }

  *#ended({ atMs, durationMs, ...result }: SessionResult): Generator<ImportItem> {
    const items = yield* this.#begin(undefined, atMs);
    yield* withDuration(items.result(result, atMs), durationMs);
  }

  /** Gives the run itself, once, and the messages kept back before it. */
  *#begin(task: string | undefined, atMs: number | undefined): Generator<ImportItem, RunItems> {
    if (this.#items !== undefined) return this.#items;
    const items = new RunItems(this.#identity.id);
    this.#items = items;
    const startedAtMs = this.#held[0]?.atMs ?? atMs;
    const run: ImportedRun = {
      key: this.#identity.id,
      ...this.#identity,
      ...present({ task, startedAtMs }),
    };
    yield { type: 'run', run };
    for (const { role, blocks, atMs: heldAtMs } of this.#held) {
      yield items.message(role, plainest(blocks), heldAtMs);
    }
    this.#held = [];
    return items;
  }
}
