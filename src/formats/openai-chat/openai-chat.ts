import { type JsonMembers, listOf, membersOf, present, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import {
  diagnosticItem,
  type ImportItem,
  type DocumentImporter,
  type ImportSource,
  type LineImport,
  type LineImporter,
} from '../importer.ts';
import { chatMessageItems, firstUserText, isChatMessage, unwrapped } from './openai-chat-messages.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { type AnswerPart, RunItems, type ToolAnswerShape } from '../parts/run-items.ts';
import {
  namedCall,
  reasoningBlocks,
  sourceBlocks,
  sourceResult,
  sourceStem,
  sourceCall,
} from '../parts/source-content.ts';
import { UniqueNames } from '../parts/skip-counts.ts';
import { plainText } from '../parts/object-lines.ts';

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

/** Chat messages or Responses items, `{messages}`, `{input, output}`, or a list of these (one run each). Without an error flag. */
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
    const folder = source.path.split(/[\\/]/).at(-2) ?? 'run';
    const stem = source.name === 'api_conversation_history.json' ? folder : sourceStem(source.name);
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

class ChatLines implements LineImport {
  readonly #stem: string;
  readonly #ids = new UniqueNames();
  #singleRun: RunItems | undefined;
  /** Messages before the first of the user, which is the task. */
  readonly #waiting: JsonMembers[] = [];

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
    if (this.#singleRun !== undefined) {
      yield* chatMessageItems(this.#singleRun, value);
    } else if (isChatMessage(value)) {
      this.#waiting.push(value);
      const isSetting = value.role === 'system' || value.role === 'developer';
      if (!isSetting || this.#waiting.length >= LOOKED_AT) yield* this.#begin();
    } else yield diagnosticItem('error', 'not a conversation and not a message', { line: lineNumber });
  }

  *end(): Generator<ImportItem> {
    if (this.#waiting.length > 0) yield* this.#begin();
    yield* this.#singleRun?.finish() ?? [];
  }

  *#begin(): Generator<ImportItem> {
    const run = new RunItems(this.#ids.take(this.#stem));
    this.#singleRun = run;
    const messages = this.#waiting.splice(0);
    yield run.begin('openai-chat', { task: firstUserText(messages) });
    for (const message of messages) yield* chatMessageItems(run, message);
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
  const answered = new Set(messages.map((message) => membersOf(message).tool_call_id));
  answered.delete(undefined);
  const joined: unknown[] = [];
  /** Those of the last answer, if no message follows it. */
  let calls: unknown[] = [];
  let isAnswered = false;
  for (const message of messages) {
    const { role, tool_calls: own } = membersOf(message);
    if (isAnswered && isCallOnly(message)) {
      calls.push(...listOf(own));
      continue;
    }
    calls = role === 'assistant' ? [...listOf(own)] : [];
    isAnswered = calls.some((call) => answered.has(membersOf(call).id));
    joined.push(calls.length === 0 ? message : { ...membersOf(message), tool_calls: calls });
  }
  return joined;
}

function isCallOnly(message: unknown): boolean {
  if (!isJsonObject(message) || message.role !== 'assistant' || message.type === 'message') return false;
  return listOf(message.tool_calls).length > 0 && !textOrUndefined(message.content);
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

/** Item types that only the Responses API has. Its messages look like chat messages. */
const ITEM_TYPE = /^(?:\w+_call(?:_output)?|reasoning|mcp_list_tools)$/;

function isResponsesItem(value: unknown): value is JsonMembers & { readonly type: string } {
  return isJsonObject(value) && typeof value.type === 'string' && ITEM_TYPE.test(value.type);
}

/** A call that the service ran has its result beside it. */
function readResponsesCall(item: JsonMembers): { readonly call: CallShape; readonly result?: ToolAnswerShape } {
  if (item.type === 'function_call' || item.type === 'custom_tool_call') return { call: sourceCall(item) };
  const {
    action,
    arguments: args,
    call_id,
    code,
    error,
    id,
    name,
    output,
    outputs,
    queries,
    result,
    results,
    status,
  } = item;
  const sourceId = textOrUndefined(call_id) ?? id;
  const call = namedCall(
    sourceId,
    name ?? plainText(item.type).replace(/_call$/, ''),
    args ?? action ?? present({ code, queries }),
  );
  const answer = output ?? outputs ?? results ?? result ?? error;
  if (call_id !== undefined || (answer === undefined && status !== 'completed' && status !== 'failed')) return { call };
  const hasFailed = status === 'failed' || (error !== undefined && error !== null);
  return { call, result: { sourceId: call.sourceId, result: sourceResult(answer ?? status), isError: hasFailed } };
}

/** An answer of the Responses API consists of several consecutive items, which together are one turn. */
function* responsesItems(writer: RunItems, list: readonly unknown[]): Generator<ImportItem> {
  let parts: AnswerPart[] = [];
  let results: ToolAnswerShape[] = [];
  function* answerItems(): Generator<ImportItem> {
    if (parts.length === 0) return;
    yield* writer.answer({ parts }, undefined);
    for (const result of results) yield* writer.result(result, undefined);
    parts = [];
    results = [];
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
    } else if (value.type.endsWith('_call_output')) {
      yield* answerItems();
      yield* writer.result({ sourceId: textOrUndefined(value.call_id), result: sourceResult(value.output) }, undefined);
    } else if (value.type === 'reasoning') parts.push(...reasoningBlocks(value.summary));
    else if (value.type === 'mcp_list_tools') writer.skipped.add('lists of tools');
    else {
      const { call, result } = readResponsesCall(value);
      parts.push({ type: 'call', call });
      if (result !== undefined) results.push(result);
    }
  }
  yield* answerItems();
}

/** Tools of Cline and Roo Code. Without native tool calls, the model writes a call as XML in its text. */
const TOOLS =
  'access_mcp_resource apply_diff ask_followup_question attempt_completion browser_action codebase_search condense ' +
  'execute_command fetch_instructions insert_content list_code_definition_names list_files load_mcp_documentation ' +
  'new_task plan_mode_respond read_file replace_in_file search_and_replace search_files switch_mode ' +
  'update_todo_list use_mcp_tool use_subagents web_fetch write_to_file';
const CALL = new RegExp(`^<(${TOOLS.replaceAll(' ', '|')})>`, 'gm');
const PARAMETER = /^<(\w+)>/gm;
const RESULT = /^\[([\w-]+)(?: [^]{0,4000}?)?\] Result:\s*/;
/** Elements around what the user wrote. All other text in a user message is the program's. */
const USERS = /<(task|feedback|user_message|answer)>/g;
/** Maximum number of elements that are read in one text, and of open calls among which a result finds its own. */
const MAX_ELEMENTS = 64;
/** A refused call did not run. */
const FAILED = /^The (?:user denied this operation|tool execution failed)/;
const HOST_TEXT = /^\s*<environment_details>/;
const INSPECTED_ITEMS = 8;

/** Returns true for `api_conversation_history.json` of Cline, Roo Code or Kilo Code: its user messages describe the editor. */
function isClineList(messages: readonly unknown[]): boolean {
  return messages
    .slice(0, INSPECTED_ITEMS)
    .some((one) => listOf(membersOf(one).content).some((block) => HOST_TEXT.test(textOf(block))));
}

/** As messages of Anthropic's API: calls and results in text become blocks, the program's text system messages. */
function* clineMessages(messages: readonly unknown[]): Generator<JsonMembers> {
  let open: JsonMembers[] = [];
  for (const value of messages) {
    const message = membersOf(value);
    const blocks =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : listOf(message.content);
    if (message.role === 'assistant') {
      const content = blocks.flatMap((block) => answerBlocks(block));
      open = content.filter(({ type }) => type === 'tool_use');
      yield { ...message, ...factsOf(message), content };
    } else if (message.role === 'user') {
      yield* userMessages(message, blocks, open);
      open = [];
    } else yield message;
  }
}

function textOf(block: unknown): string {
  return textOrUndefined(membersOf(block).text) ?? '';
}

function factsOf({ metrics, modelInfo, ts }: JsonMembers): JsonMembers {
  const { cost, tokens } = membersOf(metrics);
  const { cached, completion, prompt } = membersOf(tokens);
  return {
    timestamp: ts,
    model: membersOf(modelInfo).modelId,
    usage: { input_tokens: prompt, output_tokens: completion, cached_tokens: cached, cost_usd: cost },
  };
}

interface Element {
  readonly name: string;
  readonly inside: string;
  readonly start: number;
  readonly end: number;
}

/** @param open  matches the opening tag; global */
function elementsIn(text: string, open: RegExp): readonly Element[] {
  const elements: Element[] = [];
  let from = 0;
  for (const { 0: tag, 1: name = '', index } of [...text.matchAll(open)].slice(0, MAX_ELEMENTS)) {
    const close = index < from ? -1 : text.indexOf(`</${name}>`, index);
    if (close === -1) continue;
    from = close + name.length + 3;
    elements.push({ name, inside: text.slice(index + tag.length, close), start: index, end: from });
  }
  return elements;
}

function answerBlocks(block: unknown): readonly JsonMembers[] {
  const text = textOf(block);
  const calls = elementsIn(text, CALL);
  if (calls.length === 0) return isJsonObject(block) ? [block] : [];
  const before = text.slice(0, calls[0]?.start).trim();
  return [
    ...(before === '' ? [] : [{ type: 'text', text: before }]),
    ...calls.map(({ inside, name }) => ({
      type: 'tool_use',
      name,
      input: Object.fromEntries(
        elementsIn(inside, PARAMETER).map((one) => [one.name, one.inside.replace(/^\n/, '').replace(/\n$/, '')]),
      ),
    })),
  ];
}

function* userMessages(message: JsonMembers, blocks: readonly unknown[], open: JsonMembers[]): Generator<JsonMembers> {
  const { ts: timestamp } = message;
  const results: JsonMembers[] = [];
  const users: unknown[] = [];
  const hosts: string[] = [];
  let header: { readonly id: unknown } | undefined;
  for (const block of blocks) {
    const text = textOf(block);
    const said = elementsIn(text, USERS);
    const [head, name] = RESULT.exec(text) ?? [];
    const rest = head === undefined ? text : text.slice(head.length);
    if (head !== undefined && name !== undefined) {
      const at = Math.max(
        0,
        open.slice(0, MAX_ELEMENTS).findIndex((call) => plainText(call.name).endsWith(name)),
      );
      const [call] = open.splice(at, 1);
      header = { id: call?.id };
      if (rest === '') continue;
    }
    if (header !== undefined && !HOST_TEXT.test(text)) {
      results.push({ type: 'tool_result', tool_use_id: header.id, content: rest, is_error: FAILED.test(rest) });
      header = undefined;
    } else if (membersOf(block).type !== 'text') users.push(block);
    else hosts.push(said.reduce((left, { end, start }) => left.replace(text.slice(start, end), ''), text));
    for (const { inside } of said) users.push({ type: 'text', text: inside.trim() });
  }
  if (header !== undefined) results.push({ type: 'tool_result', tool_use_id: header.id, content: '' });
  if (results.length > 0) yield { role: 'user', timestamp, content: results };
  if (users.length > 0) yield { role: 'user', timestamp, content: users };
  if (hosts.some((text) => text.trim() !== '')) yield { role: 'system', timestamp, content: hosts.join('\n').trim() };
}
