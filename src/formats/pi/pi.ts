import { type JsonMembers, listOf, membersOf, present, textOrUndefined } from '../../core/base/json.ts';
import { type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import { statedFailure } from '../claude-code/claude-ending.ts';
import type { ImportItem, LineImporter } from '../importer.ts';
import { plainText } from '../parts/object-lines.ts';
import type { AnswerPart } from '../parts/run-items.ts';
import { COPIED, SessionLines } from '../parts/session-items.ts';
import {
  sourceCall,
  sourceBlock,
  sourceBlocks,
  sourceResult,
  sourceTimeMs,
  namedUsage,
  usageOfProvider,
} from '../parts/source-content.ts';

const ENTRY_TYPES: ReadonlySet<unknown> = new Set(['message', 'compaction', 'branch_summary', 'model_change']);
/** Matches lines of `--mode json` that repeat `message_end`. */
const REPEATS =
  /^(?:agent_(?:start|end)|turn_(?:start|end)|message_(?:start|update)|tool_execution_(?:start|update|end)|model_change|thinking_level_change)$/;
/** A stop that reached the request, and not the agent. */
const ABORTED = /^(?:This operation|The (?:operation|request)|Request) was aborted\.?$/;
const OUTCOMES: Readonly<Record<string, string>> = {
  stop: 'ended',
  length: 'limit',
  error: 'error',
  aborted: 'aborted',
};

/**
 * `~/.pi/agent/sessions/<cwd>/*.jsonl` and the output of `pi --mode json`. The entries are a tree; a run is the whole
 * file in chronological order, and a return to an earlier entry is a compaction of kind `branch`.
 */
export const piImporter: LineImporter = {
  shape: 'lines',
  format: 'pi',
  recognise(firstLines) {
    const [first, ...others] = firstLines.map((line) => membersOf(line));
    if (first?.type === 'session' && typeof first.id === 'string' && typeof first.cwd === 'string') return 0.98;
    const entries = [first, ...others].filter(
      (line) => ENTRY_TYPES.has(line?.type) && typeof line?.id === 'string' && line.parentId !== undefined,
    );
    // Droid's entries look alike.
    if (entries.length === 0 || first?.type === 'session_start') return 0;
    return entries.some((line) => isOwn(membersOf(line?.message))) ? 0.9 : 0.7;
  },
  open: (source) => new PiImport(source, 'pi'),
};

/** Returns true for a message that no other program writes. */
function isOwn({ content, role, stopReason }: JsonMembers): boolean {
  if (role === 'toolResult' || (role === 'assistant' && typeof stopReason === 'string')) return true;
  return listOf(content).some((part) => membersOf(part).type === 'toolCall');
}

/** `2026-08-13T08-52-43-200Z_ID.jsonl`. */
const SESSION_FILE = /_([\w-]+)\.jsonl$/;
/** The name that an extension gives the fork in which it runs a subagent. */
const SUBAGENT = /^subagent-/;

class PiImport extends SessionLines {
  #lastId: string | undefined;
  /** In a fork, the time of its beginning: earlier entries are copies, with the times of the original. */
  #forkedAtMs: number | undefined;
  /** The session from which a fork began. */
  #forkedFrom: string | undefined;

  *entry(value: JsonMembers): Generator<ImportItem> {
    const atMs = sourceTimeMs(value.timestamp);
    if (value.type !== 'session' && atMs !== undefined && this.#forkedAtMs !== undefined && atMs < this.#forkedAtMs) {
      this.skipped.add(COPIED);
      return;
    }
    const parentId = textOrUndefined(value.parentId);
    const wentBack = parentId !== undefined && this.#lastId !== undefined && parentId !== this.#lastId;
    if (wentBack) yield* this.session.compaction('branch', atMs);
    this.#lastId = textOrUndefined(value.id) ?? this.#lastId;
    switch (value.type) {
      case 'session': {
        const id = textOrUndefined(value.id);
        if (id !== undefined) this.session.identify({ id, conversationId: id, ...present({ startedAtMs: atMs }) });
        const parentFile = textOrUndefined(value.parentSession);
        if (parentFile !== undefined) this.#forkedAtMs = atMs;
        this.#forkedFrom = SESSION_FILE.exec(parentFile ?? '')?.[1];
        // The header's id is not an entry id.
        this.#lastId = undefined;
        break;
      }
      case 'session_info':
        if (SUBAGENT.test(textOrUndefined(value.name) ?? ''))
          this.session.identify(present({ parentId: this.#forkedFrom }));
        else this.skipped.add('session_info');
        break;
      case 'message':
      case 'message_end':
        yield* this.#messageItems(membersOf(value.message), atMs);
        break;
      case 'custom_message':
        yield* this.session.system(sourceBlocks(value.content), atMs);
        break;
      case 'compaction':
        yield* this.session.compaction('unspecified', atMs);
        yield* this.session.system(sourceBlocks(value.summary), atMs);
        break;
      case 'branch_summary':
        yield* this.session.system(sourceBlocks(value.summary), atMs);
        break;
      default:
        if (typeof value.type !== 'string' || !REPEATS.test(value.type)) this.skipped.add(plainText(value.type));
    }
  }

  *#messageItems(message: JsonMembers, entryAtMs: number | undefined): Generator<ImportItem> {
    // The message's own time is that of its start, and an answer may take minutes.
    const atMs = entryAtMs ?? sourceTimeMs(message.timestamp);
    switch (message.role) {
      case 'user': {
        const blocks = sourceBlocks(message.content);
        this.session.outcome(undefined, atMs);
        yield* this.session.user(blocks, atMs, textOfContent(blocks));
        break;
      }
      case 'assistant':
        yield* this.#assistantItems(message, atMs);
        break;
      case 'toolResult':
        yield* this.session.result({
          sourceId: textOrUndefined(message.toolCallId),
          result: sourceResult(message.content),
          isError: message.isError === true,
          ...(isBlocked(message) ? { outcome: 'refused' } : {}),
          atMs,
        });
        break;
      case 'bashExecution':
        // The user ran this command. The model sees it as text.
        yield* this.session.system(
          [sourceBlock(`$ ${plainText(message.command)}\n${plainText(message.output)}`)],
          atMs,
        );
        break;
      default:
        yield* this.session.system(sourceBlocks(message.content ?? message.summary), atMs);
    }
  }

  *#assistantItems(message: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const { stopReason } = message;
    const outcome = typeof stopReason === 'string' ? OUTCOMES[stopReason] : undefined;
    const parts = listOf(message.content).map((part): AnswerPart => {
      const { type } = membersOf(part);
      return type === 'toolCall' ? { type: 'call', call: sourceCall(part) } : sourceBlock(part);
    });
    const modelId = textOrUndefined(message.model);
    const usage = piUsage(membersOf(message.usage), modelId);
    if (typeof message.errorMessage === 'string') {
      const content = parts.filter((part) => part.type !== 'call');
      // The provider counts what it sent before an abort.
      const paid = usage !== undefined && (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0) > 0;
      yield* this.session.failure(message.errorMessage, atMs, content, paid ? { modelId, usage } : {});
    } else yield* this.session.answer({ parts, modelId, stopReason: textOrUndefined(stopReason), usage }, atMs);
    const isStop = outcome === 'aborted' || ABORTED.test(plainText(message.errorMessage));
    const error = outcome === 'error' ? statedFailure(plainText(message.errorMessage)) : outcome;
    this.session.outcome(isStop ? { outcome: 'aborted', reason: 'interrupted' } : error, atMs);
  }
}

/** How the tools of pi say why they failed. An extension that blocks a call gives its own words, and there is no flag. */
const OWN_ERROR =
  /^(?:E[A-Z]{3,}\b|Could not (?:edit|find|read|write)|Found \d+ occurrences|No changes made|File not found|Offset \d|(?:edits\[\d+\]\.?|oldText|Edit tool|Replacement range|Cannot preserve|Validation failed|Invalid|Unexpected|Error:|Operation aborted)|Tool (?:call )?"?[\w.-]+"? (?:was not executed|not found))/;
const FILE_TOOLS: ReadonlySet<unknown> = new Set(['edit', 'read', 'write']);
const SHELL_END = /\n?(?:Command (?:exited with code \d+|aborted|timed out after [\d.]+ seconds?))$/;
const SAYS_BLOCKED = /^[^\n]{0,80}\b(?:blocked|denied|forbidden|not (?:allowed|permitted))\b/i;

/** Returns true for an error that is not that of the tool: an extension blocked the call. */
function isBlocked({ content, isError, toolName }: JsonMembers): boolean {
  if (isError !== true) return false;
  const text = textOfContent(sourceBlocks(content)).trim();
  if (FILE_TOOLS.has(toolName)) return text !== '' && !OWN_ERROR.test(text);
  return toolName === 'bash' && !SHELL_END.test(text) && SAYS_BLOCKED.test(text);
}

export function piUsage(usage: JsonMembers, modelId: string | undefined): StoredUsage | undefined {
  const cost = membersOf(usage.cost).total;
  const counts = {
    input_tokens: usage.output === undefined ? undefined : usage.input,
    output_tokens: usage.output,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite ?? 0,
    cost_usd: cost === 0 ? undefined : cost,
  };
  return usageOfProvider(namedUsage(counts), modelId, 'beside');
}
