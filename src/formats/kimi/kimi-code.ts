import { basename, dirname } from 'node:path';

import { type JsonMembers, membersOf, numberOrUndefined, present, textOrUndefined } from '../../core/base/json.ts';
import { type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import type { ImportItem, ImportSource, LineImporter } from '../importer.ts';
import { confidence, documentsIn, ObjectLines, plainText } from '../parts/object-lines.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { COPIED, SessionItems } from '../parts/session-items.ts';
import { sourceBlocks, sourceResult, sourceStem, sourceTimeMs, namedCall } from '../parts/source-content.ts';
import { contentBlock, kimiUsage } from './kimi.ts';

/** Origins of messages that a user, a schedule or a parent agent wrote. Others are of the program and its hooks. */
const TASKS: ReadonlySet<unknown> = new Set(['user', 'cron', 'system_trigger']);
const OUTCOMES: ReadonlyMap<unknown, string> = new Map([
  ['completed', 'ended'],
  ['failed', 'error'],
  ['blocked', 'ended'],
]);

/** `~/.kimi-code/sessions/<folder>/<session>/agents/<agent>/wire.jsonl` of Kimi Code: one file per agent of a session. */
export const kimiCodeImporter: LineImporter = {
  shape: 'lines',
  format: 'kimi-code',
  recognise(firstLines) {
    // Kimi CLI's file has the same first line.
    const records = firstLines.filter((line) => membersOf(line).type !== 'metadata');
    return confidence(records, isRecord, { all: 0.96, some: 0.9 });
  },
  open: (source) => new KimiCodeImport(source),
};

function isRecord({ message, time, type }: JsonMembers): boolean {
  if (typeof type !== 'string' || typeof time !== 'number') return false;
  if (type === 'context.append_message') return typeof membersOf(message).role === 'string';
  return /^(?:context|turn|profile|config|llm|tools|runtime|permission|usage)\.\w+$/.test(type);
}

class KimiCodeImport extends ObjectLines {
  readonly #session: SessionItems;
  readonly #isAgent: boolean;
  readonly #rejected = new Set<unknown>();
  #modelId: string | undefined;
  /** Set while the records are those of the session that this one was forked from. */
  #isCopied = false;
  #hasOwn = false;

  constructor(source: ImportSource) {
    super();
    const agentFolder = dirname(source.path);
    const folder = dirname(dirname(agentFolder));
    const agent = basename(agentFolder);
    const isPlaced = basename(dirname(agentFolder)) === 'agents' && basename(folder) !== '.';
    const id = isPlaced ? basename(folder) : sourceStem(source);
    this.#isAgent = isPlaced && agent !== 'main';
    this.#session = new SessionItems({
      id: this.#isAgent ? `${id}/${agent}` : id,
      conversationId: id,
      format: 'kimi-code',
      ...(this.#isAgent ? { parentId: id } : {}),
    });
    if (isPlaced) for (const state of documentsIn(folder)) this.#isCopied ||= typeof state.forkedFrom === 'string';
  }

  *entry(value: JsonMembers): Generator<ImportItem> {
    const atMs = sourceTimeMs(value.time);
    if (value.type === 'forked') this.#isCopied = false;
    else if (this.#isCopied) {
      this.skipped.add(COPIED);
      return;
    }
    const session = this.#session;
    switch (value.type) {
      case 'profile.bind':
        if (this.#isAgent) session.identify(present({ agentName: textOrUndefined(value.profileName) }));
        break;
      case 'context.append_message':
        yield* this.#message(membersOf(value.message), atMs);
        break;
      case 'context.append_loop_event':
        yield* this.#event(membersOf(value.event), atMs);
        break;
      case 'llm.request':
        this.#modelId = textOrUndefined(value.model) ?? this.#modelId;
        break;
      case 'usage.record':
        // A summary of the conversation is paid beside the answer before it.
        session.usage(usageOf(membersOf(value.usage)), value.usageScope === 'session');
        break;
      case 'permission.record_approval_result':
        if (membersOf(value.result).decision === 'rejected') this.#rejected.add(value.toolCallId);
        break;
      case 'context.apply_compaction':
      case 'context.clear':
        if (this.#hasOwn) yield* session.compaction(value.type === 'context.clear' ? 'clear' : 'compact', atMs);
        break;
      case 'turn.cancel':
        session.outcome({ outcome: 'aborted', reason: 'interrupted' }, atMs);
        break;
      case 'turn.ended':
        if (value.reason !== 'cancelled') session.outcome(OUTCOMES.get(value.reason), atMs);
        break;
    }
  }

  *finish(): Generator<ImportItem> {
    if (this.#hasOwn) yield* this.#session.finish();
  }

  *#message({ content, origin, role }: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const blocks = sourceBlocks(content);
    const { kind } = membersOf(origin);
    if (role !== 'user') return;
    if (TASKS.has(kind)) {
      this.#hasOwn = true;
      this.#session.outcome(undefined, atMs);
      yield* this.#session.user(blocks, atMs, textOfContent(blocks));
    } else yield* this.#session.system(blocks, atMs);
  }

  *#event(event: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const session = this.#session;
    switch (event.type) {
      case 'step.begin':
        // The usage of the step comes before or after its parts.
        yield* session.flush();
        session.outcome(undefined, atMs);
        break;
      case 'content.part':
        yield* this.#part(event, contentBlock(membersOf(event.part)), atMs);
        break;
      case 'tool.call':
        yield* this.#part(event, { type: 'call', call: namedCall(event.toolCallId, event.name, event.args) }, atMs);
        break;
      case 'tool.result': {
        const { durationMs, isError, output } = membersOf(event.result);
        const outcome = this.#rejected.has(event.toolCallId) ? 'refused' : undefined;
        yield* session.result({
          sourceId: textOrUndefined(event.toolCallId),
          result: sourceResult(output),
          isError: isError === true,
          outcome,
          durationMs: numberOrUndefined(durationMs),
          atMs,
        });
        break;
      }
      case 'step.end':
        // Older versions write no end of a turn.
        if (event.finishReason === 'end_turn') session.outcome('ended', atMs);
        break;
      default:
        this.skipped.add(`${plainText(event.type)} events`);
    }
  }

  *#part({ stepUuid }: JsonMembers, part: AnswerPart, atMs: number | undefined): Generator<ImportItem> {
    this.#hasOwn = true;
    const messageId = textOrUndefined(stepUuid);
    yield* this.#session.answer({ messageId, parts: [part], modelId: this.#modelId }, atMs);
  }
}

function usageOf({ inputCacheCreation, inputCacheRead, inputOther, output }: JsonMembers): StoredUsage | undefined {
  return kimiUsage({ other: inputOther, read: inputCacheRead, write: inputCacheCreation, output });
}
