import { type JsonMembers, listOf, membersOf, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource, LineImport, LineImporter } from '../importer.ts';
import { chatMessageItems, firstUserText, isChatMessage, unwrapped } from './openai-chat-messages.ts';
import { clineMessages, isClineList } from './cline-messages.ts';
import { type AnswerPart, RunItems } from '../parts/run-items.ts';
import { sourceBlocks, sourceResult, sourceStem, sourceCall } from '../parts/source-content.ts';
import { UniqueNames } from '../parts/skip-counts.ts';

/** Fields that other formats store next to a list of messages. */
const FOREIGN_MEMBERS = [
  'schema_version',
  'steps',
  'traj',
  'trajectory',
  'trajectory_format',
  'history',
  'ticks',
  'simulations',
  'reward_info',
  'termination_reason',
  'samples',
  'eval',
  'sessionId',
];
/** A message without any of them is another format's. */
const CONTENTS = ['content', 'parts', 'tool_calls', 'tool_messages', 'function_call'];
const LOOKED_AT = 32;

/**
 * A list of chat messages or Responses items, `{messages}`, `{input, output}`, or a list of such objects (one run
 * each). The format has no error flag: the text decides.
 */
export const openaiChatImporter: DocumentImporter = {
  shape: 'document',
  format: 'openai-chat',
  recognise: (document) =>
    Array.isArray(document) && isJsonObject(document[0]) && Array.isArray(document[0].messages)
      ? shareOf(document, isConversation) * 0.75
      : confidenceOf(document),
  *read(document, source) {
    const ids = new UniqueNames();
    // Cline and Roo Code name the folder for the task.
    const stem = source.name === 'api_conversation_history.json' ? folderName(source.path) : sourceStem(source.name);
    if (!Array.isArray(document) || !document.some((entry) => isConversation(entry))) {
      yield* conversationItems(document, ids.take(idOf(document) ?? stem));
      return;
    }
    for (const [index, entry] of (document as readonly unknown[]).entries()) {
      yield* conversationItems(entry, ids.take(idOf(entry) ?? `${stem}-${index + 1}`));
    }
  },
};

export const openaiChatLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'openai-chat',
  recognise(firstLines) {
    if (firstLines.length === 0) return 0;
    const messages = firstLines.filter((line) => !isHeader(line)).map(unwrapped);
    return Math.max(shareOf(firstLines, isConversation) * 0.8, confidenceOf(messages) - 0.05);
  },
  open: (source) => new ChatLines(source),
};

/** A line of a Droid session that is no message, such as its list of tasks. */
function isHeader(line: unknown): boolean {
  const { role, type } = membersOf(line);
  return (
    role === undefined &&
    typeof type === 'string' &&
    /^(?:session_(?:start|end)|todo_state|compaction_state)$/.test(type)
  );
}

function folderName(path: string): string {
  return path.split(/[\\/]/).at(-2) ?? 'run';
}

class ChatLines implements LineImport {
  readonly #stem: string;
  readonly #ids = new UniqueNames();
  #singleRun: RunItems | undefined;

  constructor(source: ImportSource) {
    this.#stem = sourceStem(source.name);
  }

  *line(line: unknown, lineNumber: number): Generator<ImportItem> {
    if (isJsonObject(line) && Array.isArray(messagesOf(line))) {
      yield* conversationItems(line, this.#ids.take(idOf(line) ?? `${this.#stem}-${lineNumber}`));
      return;
    }
    const value = unwrapped(line);
    if (isHeader(value)) return;
    if (this.#singleRun === undefined) {
      if (!isChatMessage(value)) {
        yield diagnosticItem('error', 'not a conversation and not a message', { line: lineNumber });
        return;
      }
      this.#singleRun = new RunItems(this.#ids.take(this.#stem));
      yield this.#singleRun.begin('openai-chat', { task: firstUserText([value]) });
    }
    yield* chatMessageItems(this.#singleRun, value);
  }

  end(): Iterable<ImportItem> {
    return this.#singleRun?.finish() ?? [];
  }
}

function* conversationItems(value: unknown, id: string): Generator<ImportItem> {
  const list = messagesOf(value) ?? [];
  const messages = isClineList(list) ? [...clineMessages(list)] : list;
  const writer = new RunItems(id);
  yield writer.begin('openai-chat', {
    task: firstUserText(messages),
    modelId: textOrUndefined(membersOf(value).model),
  });
  if (messages.length === 0) writer.lost.add('conversations without messages');
  yield* responsesItems(writer, parallelTogether(messages));
  yield* writer.finish();
}

/** Some agents write parallel calls as consecutive answers with one call each, and the results after the last. */
function parallelTogether(messages: readonly unknown[]): readonly unknown[] {
  const joined: unknown[] = [];
  for (const [at, message] of messages.entries()) {
    const before = joined.at(-1);
    if (
      !isCallOnly(message) ||
      !isJsonObject(before) ||
      before.role !== 'assistant' ||
      !isAnsweredLater(before, messages, at)
    ) {
      joined.push(message);
      continue;
    }
    joined[joined.length - 1] = {
      ...before,
      tool_calls: [...listOf(before.tool_calls), ...listOf(message.tool_calls)],
    };
  }
  return joined;
}

function isCallOnly(message: unknown): message is JsonMembers {
  if (!isJsonObject(message) || message.role !== 'assistant' || message.type === 'message') return false;
  return listOf(message.tool_calls).length > 0 && !textOrUndefined(message.content);
}

/** Maximum number of messages from a call to its result that are searched. */
const MAX_AHEAD = 256;

function isAnsweredLater({ tool_calls }: JsonMembers, messages: readonly unknown[], from: number): boolean {
  const ids = new Set(listOf(tool_calls).map((call) => membersOf(call).id));
  const later = messages.slice(from, from + MAX_AHEAD);
  const firstResult = later.findIndex((message) => !isCallOnly(message));
  for (const message of firstResult < 0 ? [] : later.slice(firstResult)) {
    const { role, tool_call_id } = membersOf(message);
    if (role !== 'tool') return false;
    if (ids.has(tool_call_id)) return true;
  }
  return false;
}

function idOf(value: unknown): string | undefined {
  const { id, conversation_id, custom_id } = membersOf(value);
  return textOrUndefined(id) ?? textOrUndefined(conversation_id) ?? textOrUndefined(custom_id);
}

function messagesOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return undefined;
  if (Array.isArray(value.messages)) return value.messages;
  if (Array.isArray(value.contents)) return value.contents;
  if (!Array.isArray(value.input) && !Array.isArray(value.output)) return undefined;
  const input: readonly unknown[] =
    typeof value.input === 'string' ? [{ role: 'user', content: value.input }] : listOf(value.input);
  return [...input, ...listOf(value.output)];
}

function isConversation(value: unknown): boolean {
  return isJsonObject(value) && confidenceOf(value) > 0;
}

function confidenceOf(value: unknown): number {
  if (isJsonObject(value) && FOREIGN_MEMBERS.some((member) => member in value)) return 0;
  const messages = messagesOf(value);
  if (messages === undefined || messages.length === 0) return 0;
  const isFull = (entry: unknown): boolean => isChatMessage(entry) && CONTENTS.some((member) => member in entry);
  return shareOf(messages, (entry) => isFull(entry) || isResponsesItem(entry)) * 0.8;
}

function shareOf(list: readonly unknown[], passes: (entry: unknown) => boolean): number {
  const firstMessages = list.slice(0, LOOKED_AT);
  if (!passes(firstMessages[0])) return 0;
  return firstMessages.filter((entry) => passes(entry)).length / firstMessages.length;
}

const CALL_TYPES: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);
const RESULT_TYPES: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output']);

/** Returns true for an item type that only the Responses API has. Its messages look like chat messages. */
function isResponsesItem(value: unknown): value is JsonMembers {
  if (!isJsonObject(value)) return false;
  return CALL_TYPES.has(value.type) || RESULT_TYPES.has(value.type) || value.type === 'reasoning';
}

/** An answer of the Responses API consists of several consecutive items, which together are one turn. */
function* responsesItems(writer: RunItems, list: readonly unknown[]): Generator<ImportItem> {
  let parts: AnswerPart[] = [];
  function* answerItems(): Generator<ImportItem> {
    if (parts.length === 0) return;
    yield* writer.answer({ parts }, undefined);
    parts = [];
  }
  for (const value of list) {
    // A Responses message is only a part of an answer. It has a `type`.
    if (isChatMessage(value) && (value.role !== 'assistant' || value.type !== 'message')) {
      yield* answerItems();
      yield* chatMessageItems(writer, value);
    } else if (isChatMessage(value)) {
      for (const block of sourceBlocks(value.content)) parts.push(block);
    } else if (!isResponsesItem(value)) {
      writer.lost.add(isJsonObject(value) ? 'items of unknown type' : 'entries that are not messages');
    } else if (RESULT_TYPES.has(value.type)) {
      yield* answerItems();
      yield* writer.result({ sourceId: textOrUndefined(value.call_id), result: sourceResult(value.output) }, undefined);
    } else if (CALL_TYPES.has(value.type)) {
      parts.push({ type: 'call', call: sourceCall(value) });
    } else {
      for (const block of sourceBlocks(value.summary)) parts.push(asReasoning(block));
    }
  }
  yield* answerItems();
}

function asReasoning(part: ReturnType<typeof sourceBlocks>[number]): AnswerPart {
  if (part.type !== 'other' || !isJsonObject(part.value) || typeof part.value.text !== 'string') return part;
  return { type: 'reasoning', text: part.value.text };
}
