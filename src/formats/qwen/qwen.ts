import { type JsonMembers, isJsonObject, listOf, membersOf, present, textOrUndefined } from '../../core/base/json.ts';
import { hostOutcome } from '../../core/facts/host-refusals.ts';
import { shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import { type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import { statedFailure } from '../claude-code/claude-ending.ts';
import { geminiBlocks } from '../gemini/gemini.ts';
import { messageBlocks } from '../openai-chat/openai-chat-messages.ts';
import type { ImportItem, ImportSource, LineImporter } from '../importer.ts';
import { confidence, ObjectLines, plainText } from '../parts/object-lines.ts';
import { COPIED, SessionItems } from '../parts/session-items.ts';
import { sourceStem, sourceTimeMs, namedUsage } from '../parts/source-content.ts';

const TYPES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool_result', 'system']);
/** Subtypes of records of the user that a user, a schedule or a parent agent wrote. */
const TASKS: ReadonlySet<unknown> = new Set([undefined, 'mid_turn_user_message', 'cron', 'agent_launch_prompt']);

/** `~/.qwen/projects/<folder>/chats/<id>.jsonl`: Gemini's contents in records with ids. A record of a subagent names it. */
export const qwenImporter: LineImporter = {
  shape: 'lines',
  format: 'qwen-code',
  // Claude Code has the same records, with other contents.
  recognise: (firstLines) =>
    firstLines.some((line) => hasParts(membersOf(line)))
      ? confidence(firstLines, isRecord, { all: 0.99, some: 0.985 })
      : 0,
  open: (source) => new QwenImport(source),
};

function isRecord(line: JsonMembers): boolean {
  const { sessionId, subtype, type, uuid } = line;
  if (!TYPES.has(type) || typeof sessionId !== 'string' || typeof uuid !== 'string') return false;
  return hasParts(line) || (type === 'system' && typeof subtype === 'string');
}

function hasParts({ message, type }: JsonMembers): boolean {
  return TYPES.has(type) && Array.isArray(membersOf(message).parts);
}

class QwenImport extends ObjectLines {
  readonly #sessions = new Map<string, SessionItems>();
  #id: string;

  constructor(source: ImportSource) {
    super();
    this.#id = sourceStem(source);
  }

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    if (!TYPES.has(value.type)) {
      this.lost.add('lines of an unknown form', lineNumber);
      return;
    }
    if (isJsonObject(value.forkedFrom)) {
      this.skipped.add(COPIED);
      return;
    }
    if (this.#sessions.size === 0) this.#id = textOrUndefined(value.sessionId) ?? this.#id;
    const session = this.#sessionOf(value);
    const atMs = sourceTimeMs(value.timestamp);
    const { parts } = membersOf(value.message);
    if (value.type !== 'system') session.outcome(undefined, atMs);
    switch (value.type) {
      case 'user': {
        const blocks = geminiBlocks(parts);
        if (TASKS.has(value.subtype)) yield* session.user(blocks, atMs, textOfContent(blocks));
        else yield* session.system(blocks, atMs);
        break;
      }
      case 'assistant':
        yield* session.answer(
          {
            parts: messageBlocks({ parts }).parts,
            modelId: textOrUndefined(value.model),
            usage: qwenUsage(value),
          },
          atMs,
        );
        break;
      case 'tool_result':
        yield* resultItems(session, value, atMs);
        break;
      default:
        if (value.subtype === 'chat_compression') yield* session.compaction('compress', atMs);
        else if (value.subtype === 'rewind') yield* session.compaction('rewind', atMs);
        else if (!noteFailure(session, value, atMs)) this.skipped.add(`${plainText(value.subtype)} records`);
    }
  }

  *finish(): Generator<ImportItem> {
    for (const session of this.#sessions.values()) yield* session.finish();
  }

  #sessionOf({ agentId, agentName }: JsonMembers): SessionItems {
    const agent = textOrUndefined(agentId);
    const known = this.#sessions.get(agent ?? '');
    if (known !== undefined) return known;
    const about = { format: 'qwen-code', conversationId: this.#id } as const;
    const session = new SessionItems(
      agent === undefined
        ? { ...about, id: this.#id }
        : {
            ...about,
            id: `${this.#id}/agent-${agent}`,
            parentId: this.#id,
            ...present({ agentName: textOrUndefined(agentName) }),
          },
    );
    this.#sessions.set(agent ?? '', session);
    return session;
  }
}

/** Notes a refused request, which ends the run unless something follows. Qwen Code repeats requests after the other errors. */
function noteFailure(session: SessionItems, value: JsonMembers, atMs: number | undefined): boolean {
  const { error_message: message, status_code: status, ...event } = membersOf(membersOf(value.systemPayload).uiEvent);
  if (event['event.name'] !== 'qwen-code.api_error' || !REFUSED.has(status)) return false;
  session.outcome(statedFailure(plainText(message), undefined, status), atMs);
  return true;
}

const REFUSED: ReadonlySet<unknown> = new Set([400, 401, 402, 403, 404]);

function* resultItems(session: SessionItems, value: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
  const { callId, resultDisplay, status } = membersOf(value.toolCallResult);
  const responses = listOf(membersOf(value.message).parts).flatMap((part): readonly JsonMembers[] => {
    const { functionResponse } = membersOf(part);
    return isJsonObject(functionResponse) ? [functionResponse] : [];
  });
  for (const { id, response } of responses.length > 0
    ? responses
    : [{ id: callId, response: { output: resultDisplay } }]) {
    const { error, output, ...others } = membersOf(response);
    const result = plainText(output ?? error ?? others);
    const hasFailed = error !== undefined || status === 'error' || status === 'cancelled';
    const isError = hasFailed || (shellAnswer(result)?.exitCode ?? 0) !== 0;
    const outcome = status === 'cancelled' ? 'cancelled' : hasFailed ? hostOutcome(result, 'qwen-code') : undefined;
    yield* session.result({ sourceId: textOrUndefined(id) ?? textOrUndefined(callId), result, isError, outcome, atMs });
  }
}

/** Thoughts are a part of the output. */
function qwenUsage({ contextWindowSize: window, usageMetadata }: JsonMembers): StoredUsage | undefined {
  const tokens = membersOf(usageMetadata);
  return namedUsage({
    input_tokens: tokens.promptTokenCount,
    output_tokens: tokens.candidatesTokenCount,
    cache_read_tokens: tokens.cachedContentTokenCount,
    reasoning_tokens: tokens.thoughtsTokenCount,
    context_window_tokens: window,
  });
}
