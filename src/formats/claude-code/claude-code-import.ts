import { type JsonMembers, textOrUndefined } from '../../core/base/json-member.ts';
import { present } from '../../core/base/present.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { ClaudeCodeRun, isDenial } from './claude-code-run.ts';
import { endingAfter, isTurnEnd } from './claude-ending.ts';
import type { ImportItem } from '../import-item.ts';
import type { ImportSource } from '../importer.ts';
import { ObjectLines } from '../parts/object-lines.ts';
import { sourceStem } from '../parts/source-name.ts';
import { plainText } from '../parts/plain-text.ts';

/** Maximum number of remembered entry ids. Entries of a resumed session are repeated soon or never. */
const REMEMBERED_ENTRIES = 8192;
/** Maximum number of entries buffered at the beginning of a file. */
const MAX_HELD = 64;
const COPIED = 'entries copied from the session that it was forked from';
/** Maximum number of open runs per file. Above it, the least recently active run ends. */
const MAX_OPEN_RUNS = 256;
const AGENT_FILE = /^agent-(.+?)\.jsonl$/;

/** Reads one Claude Code file and passes each entry to its run. */
export class ClaudeCodeImport extends ObjectLines {
  readonly #source: ImportSource;
  readonly #runs = new Map<string, ClaudeCodeRun>();
  /** Number of starts by run id. Used for runs that ended early. */
  readonly #startCounts = new LruMap<number>(REMEMBERED_ENTRIES);
  /** Run id by entry id. */
  readonly #runOfEntry = new LruMap<string>(REMEMBERED_ENTRIES);
  #heldEntries: JsonMembers[] = [];
  /** True in a fork, before the fork's first new answer. */
  #mayBeCopied = false;
  #isFork = false;

  constructor(source: ImportSource) {
    super();
    this.#source = source;
  }

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    // Tool use before any message indicates a fork. It can also mean that the file was truncated.
    if (value.type === 'tools-used' && this.#runs.size === 0) this.#mayBeCopied = true;
    if (!isUsed(value)) {
      this.skipped.add(kindOf(value));
      return;
    }
    const uuid = textOrUndefined(value.uuid);
    if (uuid !== undefined && this.#runOfEntry.has(uuid)) {
      this.skipped.add('duplicate entries');
      return;
    }
    const isMessage = value.type === 'user' || value.type === 'assistant';
    if (isMessage && !hasContent(value)) {
      this.lost.add(`${plainText(value.type)} entries without a message content`, lineNumber);
      return;
    }
    // Among copied entries, the end of a turn is copied too: a new turn begins with a new answer.
    if (this.#isCopied(value) || (this.#mayBeCopied && isTurnEnd(value))) {
      this.skipped.add(COPIED);
      return;
    }
    if (
      this.#mayBeCopied &&
      value.type === 'user' &&
      value.isSidechain !== true &&
      this.#heldEntries.length < MAX_HELD
    ) {
      this.#heldEntries.push(value);
      if (uuid !== undefined) this.#runOfEntry.set(uuid, '');
      return;
    }
    yield* this.#heldItems();
    yield* this.#entryItems(value);
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

  /**
   * Returns true for a copied entry. A fork begins with entries of another session, which have the fork's id. The answers
   * among them contain the id of the original session.
   */
  #isCopied({ requestSessionId: originalId, sessionId, type }: JsonMembers): boolean {
    if (type !== 'assistant' || typeof originalId !== 'string' || originalId === sessionId) return false;
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
    for (const run of this.#runs.values()) yield* run.finish();
    this.#runs.clear();
  }

  #runIdOf(entry: JsonMembers, uuid: string | undefined): string {
    const session = sessionOf(entry) ?? sourceStem(this.#source.name);
    const parentCall = textOrUndefined(entry.parent_tool_use_id);
    if (parentCall !== undefined) return `${session}/tool-${parentCall}`;
    if (entry.isSidechain !== true) return session;
    const agentId = textOrUndefined(entry.agentId) ?? AGENT_FILE.exec(this.#source.name)?.[1];
    if (agentId !== undefined) return `${session}/agent-${agentId}`;
    // In older files, the first entry of a side conversation identifies the conversation. The other entries are descendants of
    // it.
    const parent = textOrUndefined(entry.parentUuid);
    const parentRun = parent === undefined ? undefined : this.#runOfEntry.get(parent);
    return parentRun === undefined || parentRun === session ? `${session}/sidechain-${uuid ?? 'unnamed'}` : parentRun;
  }

  *#makeRoomFor(runId: string): Generator<ImportItem> {
    if (this.#runs.has(runId) || this.#runs.size < MAX_OPEN_RUNS) return;
    const oldest = this.#runs.entries().next();
    if (oldest.done === true) return;
    this.#runs.delete(oldest.value[0]);
    yield* oldest.value[1].finish();
  }

  #runOf(runId: string, entry: JsonMembers): ClaudeCodeRun {
    const knownRun = this.#runs.get(runId);
    const run = knownRun ?? this.#beginRun(runId, entry);
    // Delete and set the entry, so that the map stays in order of use.
    this.#runs.delete(runId);
    this.#runs.set(runId, run);
    return run;
  }

  #beginRun(runId: string, entry: JsonMembers): ClaudeCodeRun {
    const times = (this.#startCounts.get(runId) ?? 0) + 1;
    this.#startCounts.set(runId, times);
    const session = sessionOf(entry);
    return new ClaudeCodeRun({
      id: times === 1 ? runId : `${runId}#${times}`,
      ...present({ conversationId: session }),
      ...(session === undefined || session === runId ? {} : { parentId: session }),
    });
  }
}

const USED_TYPES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'result', 'cost-state']);

/** Returns the session id. Transcripts name it `sessionId`, stream-json names it `session_id`. */
function sessionOf(entry: JsonMembers): string | undefined {
  return textOrUndefined(entry.sessionId) ?? textOrUndefined(entry.session_id);
}

function isUsed(entry: JsonMembers): boolean {
  if (entry.type === 'system') return entry.subtype === 'compact_boundary' || isTurnEnd(entry) || isDenial(entry);
  if (entry.type === 'attachment') return endingAfter(entry) !== 'same';
  return USED_TYPES.has(entry.type);
}

function kindOf(entry: JsonMembers): string {
  const type = typeof entry.type === 'string' ? entry.type : 'entries without a type';
  return typeof entry.subtype === 'string' ? `${type}/${entry.subtype}` : type;
}

function hasContent(entry: JsonMembers): boolean {
  if (!isJsonObject(entry.message)) return false;
  return typeof entry.message.content === 'string' || Array.isArray(entry.message.content);
}
