import { type JsonMembers, membersOf, numberOrUndefined, textOrUndefined } from '../../core/base/json-member.ts';
import type { StoredUsage } from '../../core/records/stored-message.ts';
import type { ImportItem } from '../import-item.ts';
import type { ImportSource } from '../importer.ts';
import { plainText } from '../parts/plain-text.ts';
import { ObjectLines } from '../parts/object-lines.ts';
import { asJson, sourceBlock, sourceBlocks } from '../parts/source-content.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { GeminiRun } from './gemini-run.ts';

/**
 * Matches the exit code in the text of a shell result. The lines contain what a person would see, and the exit code only if
 * the command printed nothing else.
 */
const EXIT = /^Command exited with code: (\d+)/m;
const SHELL = 'run_shell_command';

/** Reads one `gemini --output-format stream-json`. */
export class GeminiStream extends ObjectLines {
  readonly #run: GeminiRun;
  readonly #shellCalls = new Set<string>();
  #modelId: string | undefined;
  /** Buffered text of the model. The text arrives in parts. */
  #text = '';
  #textAtMs: number | undefined;

  constructor(source: ImportSource) {
    super();
    this.#run = new GeminiRun({ id: sourceStem(source) });
  }

  *entry(value: JsonMembers): Generator<ImportItem> {
    const atMs = sourceTimeMs(value.timestamp);
    if (value.type === 'message' && value.role === 'assistant') {
      this.#textAtMs ??= atMs;
      this.#text += plainText(value.content ?? '');
      return;
    }
    yield* this.#flushText();
    const { session } = this.#run;
    switch (value.type) {
      case 'init': {
        const id = textOrUndefined(value.session_id);
        this.#modelId = textOrUndefined(value.model);
        if (id !== undefined) session.identify({ id, conversationId: id });
        break;
      }
      case 'message':
        yield* this.#run.user(sourceBlocks(value.content), atMs);
        break;
      case 'tool_use': {
        const name = textOrUndefined(value.tool_name) ?? 'unknown';
        const sourceId = textOrUndefined(value.tool_id);
        if (name === SHELL && sourceId !== undefined) this.#shellCalls.add(sourceId);
        const call = { sourceId, name, args: asJson(value.parameters ?? {}) };
        yield* session.answer({ joins: true, parts: [{ type: 'call', call }], modelId: this.#modelId }, atMs);
        break;
      }
      case 'tool_result':
        yield* session.result({ ...this.#resultOf(value), atMs });
        break;
      case 'error':
        // The answer ends here, for example because a hook makes the agent continue. Another answer follows.
        session.closeAnswer();
        if (value.severity === 'error') yield* this.#failureItems(value.message, atMs);
        else this.skipped.add('warnings');
        break;
      case 'result':
        yield* this.#resultItems(value, atMs);
        break;
      default:
        this.skipped.add(plainText(value.type));
    }
  }

  *finish(): Generator<ImportItem> {
    yield* this.#flushText();
    yield* this.#run.finish();
  }

  *#flushText(): Generator<ImportItem> {
    if (this.#text === '') return;
    const piece = { joins: true as const, parts: [sourceBlock(this.#text)], modelId: this.#modelId };
    this.#text = '';
    yield* this.#run.session.answer(piece, this.#textAtMs);
    this.#textAtMs = undefined;
  }

  #resultOf(value: JsonMembers): { sourceId: string | undefined; result: string; isError: boolean | undefined } {
    const sourceId = textOrUndefined(value.tool_id);
    const isShell = sourceId !== undefined && this.#shellCalls.delete(sourceId);
    const hasFailed = value.status === 'error';
    const shownText = plainText(value.output ?? '');
    const result = hasFailed ? plainText(membersOf(value.error).message ?? shownText) : shownText;
    const exitCode = EXIT.exec(result)?.[1];
    const isError = exitCode === undefined ? undefined : exitCode !== '0';
    // The status of a shell call describes the tool, not the command.
    return { sourceId, result, isError: hasFailed || (isShell ? isError : false) };
  }

  *#resultItems(value: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const { message } = membersOf(value.error);
    this.#run.session.usage(usageOf(membersOf(value.stats)));
    if (typeof message === 'string') yield* this.#failureItems(message, atMs);
    this.#run.session.outcome(value.status === 'success' ? 'ended' : 'error', atMs);
  }

  *#failureItems(message: unknown, atMs: number | undefined): Generator<ImportItem> {
    yield* this.#run.session.failure(plainText(message), atMs);
  }
}

/**
 * Reads the totals of the session, which are stored with its last answer. Thoughts are the tokens that count neither as input
 * nor as output.
 */
function usageOf(stats: JsonMembers): StoredUsage | undefined {
  const input = numberOrUndefined(stats.input_tokens);
  const output = numberOrUndefined(stats.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const total = numberOrUndefined(stats.total_tokens) ?? 0;
  return {
    input_tokens: input,
    output_tokens: Math.max(output, total - input),
    cache_read_tokens: numberOrUndefined(stats.cached) ?? 0,
  };
}
