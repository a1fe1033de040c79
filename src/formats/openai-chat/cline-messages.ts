import { isJsonObject, type JsonMembers, listOf, membersOf, textOrUndefined } from '../../core/base/json.ts';
import { plainText } from '../parts/object-lines.ts';

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
const LOOKED_AT = 8;

/** Returns true for `api_conversation_history.json` of Cline, Roo Code or Kilo Code: its user messages describe the editor. */
export function isClineList(messages: readonly unknown[]): boolean {
  return messages
    .slice(0, LOOKED_AT)
    .some((one) => listOf(membersOf(one).content).some((block) => HOST_TEXT.test(textOf(block))));
}

/**
 * The same messages in the form of the Anthropic Messages API: calls and results that are text become blocks, and the
 * program's text becomes system messages.
 */
export function* clineMessages(messages: readonly unknown[]): Generator<JsonMembers> {
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
