import { present } from '../base/present.ts';
import { isJsonObject } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import type { AgentMessage, ContentBlock } from '../records/agent-message.ts';
import { contentBlocks, decodedArgs, plainContent, resultOf } from './content-blocks.ts';
import type { RequestNews } from './conversation.ts';
import type { CallOutcome, IssuedCall } from './issued-call.ts';
import { unseenItems } from './unseen-items.ts';

/**
 * Messages and items of OpenAI's APIs and of @openai/agents: both spellings of a member (`call_id`, `callId`) are read. A type
 * that ends in `_call` is a call, one that ends in `_output` or `_result` is its result, also in versions to come.
 */
type Item = Readonly<Record<string, unknown>>;

/** A part of an answer, and the call that it is. */
export interface ItemPart {
  readonly block: ContentBlock;
  readonly call?: IssuedCall;
}

/** What a tool gave back, and the call it answers. */
interface ShownResult extends CallOutcome {
  readonly id: string;
}

/** The items of an answer. A call that the provider made itself has its result as `answer`. */
export function answerParts(output: readonly unknown[]): readonly ItemPart[] {
  const items = output.map((value) => (isJsonObject(value) ? unwrapped(value) : {}));
  const calls = items.map(callOfItem);
  const outcomes = new Map<IssuedCall | undefined, CallOutcome>();
  for (const [at, item] of items.entries()) {
    if (isResult(item))
      outcomes.set(calls[items.findLastIndex((call, before) => before < at && answers(item, call))], itemOutcome(item));
  }
  return items.flatMap((item, at): readonly ItemPart[] => {
    const { type, role } = item;
    const call = calls[at];
    if (call !== undefined) return [callPart({ ...call, ...present({ answer: outcomes.get(call) ?? call.answer }) })];
    if (type === 'message' || role === 'assistant') return contentBlocks(item['content']).map((block) => ({ block }));
    if (type === 'reasoning') return reasoningTexts(item).map((text) => ({ block: { type: 'reasoning', text } }));
    if (isResult(item) && items.some((other, index) => calls[index] !== undefined && answers(item, other))) return [];
    return [{ block: { type: 'other', value: toJson(output[at]) } }];
  });
}

/** The call as a part of an answer. */
export function callPart(call: IssuedCall): ItemPart {
  return { call, block: { type: 'tool_call', id: call.id, name: call.name, args: toJson(call.args) } };
}

/** The call that an item asks for; undefined for any other item. */
export function callOfItem(given: unknown): IssuedCall | undefined {
  const item = isJsonObject(given) ? unwrapped(given) : {};
  const { type } = item;
  if (typeof type !== 'string' || !type.endsWith('_call')) return undefined;
  const id = idOf(item) ?? (type === 'local_shell_call' ? nonEmptyText(item['id']) : undefined);
  if (id === undefined && OWN.has(type)) return undefined;
  const name = nonEmptyText(item['name']) ?? type.slice(0, -'_call'.length);
  const text = nonEmptyText(item['arguments']) ?? nonEmptyText(item['input']);
  const args = text === undefined ? argumentsOf(item) : decodedArgs(text);
  const call = { id: id ?? nonEmptyText(item['id']) ?? '', name, args, argsText: text ?? JSON.stringify(toJson(args)) };
  return id === undefined ? { ...call, answer: itemOutcome(item) } : call;
}

/** Calls that are run outside of the provider: one without an id cannot be answered. */
const OWN: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
]);

/**
 * What a request shows that the last one of its conversation did not.
 *
 * @param last.seen       how many items the last request had
 * @param last.isChained  the provider keeps earlier turns: all items are new
 * @param isError         whether a result that is text says that the tool failed; default: no
 */
export function newsOfItems(
  items: readonly unknown[],
  last: { readonly seen: number; readonly isChained: boolean },
  isError: (result: unknown) => boolean = () => false,
): RequestNews {
  const messages: AgentMessage[] = [];
  const results: ShownResult[] = [];
  for (const item of last.isChained ? items : unseenItems(items, last.seen, isModels)) {
    if (!isJsonObject(item)) continue;
    const role = ROLES.get(item['role']);
    const id = isResult(item) ? (idOf(item) ?? nonEmptyText(item['id'])) : undefined;
    if (role !== undefined) messages.push({ role, content: plainContent(contentBlocks(item['content'])) });
    if (role !== undefined || id === undefined) continue;
    const outcome = itemOutcome(item);
    results.push({ id, ...outcome, isError: outcome.isError || isError(outcome.result) });
  }
  return { messages, results };
}

/** True for what a model said or did, as a history holds it. */
export function isModels(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { role, type } = item;
  if (typeof role === 'string') return role === 'assistant';
  return typeof type === 'string' && type !== 'message' && !isResult(item);
}

/** A text that is not empty. */
export function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const ROLES: ReadonlyMap<unknown, 'system' | 'user'> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
]);

/** @openai/agents puts what OpenAI itself runs into one type, with the item as `providerData`. */
function unwrapped(item: Item): Item {
  const { type, name, providerData, ...rest } = item;
  if (type !== 'hosted_tool_call' || !isJsonObject(providerData)) return item;
  return { ...rest, ...providerData, type: name };
}

function isResult({ role, type }: Item): boolean {
  return role === 'tool' || (typeof type === 'string' && /_(?:output|result)$/.test(type));
}

function idOf(item: Item): string | undefined {
  return nonEmptyText(item['call_id']) ?? nonEmptyText(item['callId']) ?? nonEmptyText(item['tool_call_id']);
}

/** Whether an item is the result of a call. OpenAI leaves the id out where it searched for tools itself. */
function answers(result: Item, item: Item | undefined): boolean {
  const id = idOf(result);
  if (id !== undefined) return item !== undefined && id === idOf(item);
  return String(result['type']).replace(/_output$/, '_call') === item?.['type'];
}

/** Members that are not what a call asks for. */
const NOT_ASKED: ReadonlySet<string> = new Set(
  'type id status name call_id callId caller created_by environment providerData result output outputs results error'.split(
    ' ',
  ),
);

function argumentsOf(item: Item): unknown {
  const asked = item['action'] ?? item['actions'] ?? item['operation'] ?? item['arguments'];
  if (!isJsonObject(asked)) {
    return asked ?? Object.fromEntries(Object.entries(item).filter(([name]) => !NOT_ASKED.has(name)));
  }
  const { commands, sources: _found, ...rest } = asked;
  return Array.isArray(commands) ? { command: commands.join('\n'), ...rest } : rest;
}

/** What came of a call: in the item of its result, or, of a call that the provider made, in its own. */
export function itemOutcome(item: Item): CallOutcome {
  const { type, status, error, action, outputs, results, result } = item;
  const failed = status === 'failed' || isJsonObject(error) || nonEmptyText(error) !== undefined;
  const found = item['output'] ?? item['content'] ?? outputs ?? results ?? result;
  if (failed) return { result: error ?? found ?? 'failed', isError: true };
  if (type === 'image_generation_call') return { result: { type: 'image', data: result }, isError: false };
  if (type === 'shell_call_output' && Array.isArray(found)) return shellOutcome(found.filter(isJsonObject));
  const sources = isJsonObject(action) ? action['sources'] : undefined;
  return { result: resultOf(found ?? sources ?? item['tools'] ?? status), isError: false };
}

/** Output of commands as a terminal shows it, with what ended those that did not end well. */
function shellOutcome(outputs: readonly Item[]): CallOutcome {
  const ends = outputs.map(({ outcome }) => {
    const end = isJsonObject(outcome) ? outcome : {};
    if (end['type'] === 'timeout') return 'timed out';
    const code = end['exit_code'] ?? end['exitCode'];
    return code === 0 || end['type'] !== 'exit' ? '' : `exit code ${JSON.stringify(code ?? 'unknown')}`;
  });
  const texts = outputs.flatMap(({ stdout, stderr }, at) => [
    nonEmptyText(stdout),
    nonEmptyText(stderr),
    nonEmptyText(ends[at]),
  ]);
  return { result: texts.filter((text) => text !== undefined).join('\n'), isError: ends.some((end) => end !== '') };
}

function reasoningTexts(item: Item): readonly string[] {
  const parts = [item['summary'], item['content'], item['rawContent']].flatMap((list): readonly unknown[] =>
    Array.isArray(list) ? list : [],
  );
  return parts.flatMap((part) => (isJsonObject(part) ? (nonEmptyText(part['text']) ?? []) : []));
}
