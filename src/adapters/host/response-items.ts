import { wordSet } from '../../core/base/word-set.ts';
import { membersOf, textOrUndefined, present, isJsonObject } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import { type AnswerPart, callPart } from './answer-parts.ts';
import { contentBlocks, decodedArgs, plainContent, resultOf } from './content-blocks.ts';
import type { RequestNews, ShownResult } from './conversation.ts';
import type { CallResult, IssuedCall } from './issued-call.ts';
import { unseenItems } from './unseen-items.ts';

/** Names have two spellings (`call_id`, `callId`). Calls end in `_call`, results in `_output` or `_result`, in later versions too. */
type Item = Readonly<Record<string, unknown>>;

export function answerParts(output: readonly unknown[]): readonly AnswerPart[] {
  const items = output.map((value) => (isJsonObject(value) ? unwrapItem(value) : {}));
  const calls = items.map(callOfItem);
  const outcomes = new Map<IssuedCall | undefined, CallResult>();
  for (const [at, item] of items.entries()) {
    if (isResult(item))
      outcomes.set(
        calls[items.findLastIndex((call, before) => before < at && isAnswerTo(item, call))],
        itemOutcome(item),
      );
  }
  return items.flatMap((item, index): readonly AnswerPart[] => {
    const { type, role } = item;
    const call = calls[index];
    if (call !== undefined) return [callPart({ ...call, ...present({ answer: outcomes.get(call) ?? call.answer }) })];
    if (type === 'message' || role === 'assistant') return contentBlocks(item['content']).map((block) => ({ block }));
    if (type === 'reasoning') return reasoningTexts(item).map((text) => ({ block: { type: 'reasoning', text } }));
    if (isResult(item) && items.some((other, otherIndex) => calls[otherIndex] !== undefined && isAnswerTo(item, other)))
      return [];
    return [{ block: { type: 'other', value: toJson(output[index]) } }];
  });
}

/** Why a response of the Responses API ended. */
export function stopReasonOf({ incomplete_details: details, status }: Item): string | undefined {
  return textOrUndefined(membersOf(details)['reason']) ?? textOrUndefined(status);
}

export function callOfItem(value: unknown): IssuedCall | undefined {
  const item = isJsonObject(value) ? unwrapItem(value) : {};
  const { type } = item;
  if (typeof type !== 'string' || !type.endsWith('_call')) return undefined;
  const id = idOf(item) ?? (type === 'local_shell_call' ? textOrUndefined(item['id']) : undefined);
  if (id === undefined && LOCAL_CALLS.has(type)) return undefined;
  const name = textOrUndefined(item['name']) ?? type.slice(0, -'_call'.length);
  const text = textOrUndefined(item['arguments']) ?? textOrUndefined(item['input']);
  const args = text === undefined ? argumentsOf(item) : decodedArgs(text);
  const call = {
    id: id ?? textOrUndefined(item['id']) ?? '',
    name,
    args,
    argsText: text ?? JSON.stringify(toJson(args)),
  };
  return id === undefined ? { ...call, answer: itemOutcome(item) } : call;
}

/** Types of calls that the provider does not run. Without an id, their result cannot be sent. */
const LOCAL_CALLS: ReadonlySet<string> = wordSet(
  'function_call custom_tool_call computer_call shell_call local_shell_call apply_patch_call',
);

/**
 * @param last.isChained  true if the provider stores earlier turns, so that all items are new
 * @param read  returns whether a result's text reports a failure, and its outcome
 */
export function newsOfItems(
  items: readonly unknown[],
  last: { readonly seen: number; readonly isChained: boolean },
  read: (result: unknown) => Partial<Omit<ShownResult, 'id' | 'result'>> = () => ({}),
): RequestNews {
  const messages: AgentMessage[] = [];
  const results: ShownResult[] = [];
  for (const item of last.isChained ? items : unseenItems(items, last.seen, isModels)) {
    if (!isJsonObject(item)) continue;
    const role = ROLES.get(item['role']);
    const id = isResult(item) ? (idOf(item) ?? textOrUndefined(item['id'])) : undefined;
    if (role !== undefined) messages.push({ role, content: plainContent(contentBlocks(item['content'])) });
    if (role !== undefined || id === undefined) continue;
    const outcome = itemOutcome(item);
    const known = read(outcome.result);
    results.push({ id, ...outcome, ...known, isError: outcome.isError || known.isError === true });
  }
  return { messages, results };
}

export function resultIdsOf(items: readonly unknown[]): readonly string[] {
  return newsOfItems(items, { seen: 0, isChained: true }).results.map(({ id }) => id);
}

export function isModels(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { role, type } = item;
  if (typeof role === 'string') return role === 'assistant';
  return typeof type === 'string' && type !== 'message' && !isResult(item);
}

const ROLES: ReadonlyMap<unknown, 'system' | 'user'> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
]);

function unwrapItem(item: Item): Item {
  const { type, name, providerData, ...rest } = item;
  if (type !== 'hosted_tool_call' || !isJsonObject(providerData)) return item;
  return { ...rest, ...providerData, type: name };
}

function isResult({ role, type }: Item): boolean {
  return role === 'tool' || (typeof type === 'string' && /_(?:output|result)$/.test(type));
}

function idOf(item: Item): string | undefined {
  return textOrUndefined(item['call_id']) ?? textOrUndefined(item['callId']) ?? textOrUndefined(item['tool_call_id']);
}

/** Returns true if `result` is the result of the call in `item`. OpenAI omits the call id when it searched for tools itself. */
function isAnswerTo(result: Item, item: Item | undefined): boolean {
  const id = idOf(result);
  if (id !== undefined) return item !== undefined && id === idOf(item);
  return String(result['type']).replace(/_output$/, '_call') === item?.['type'];
}

const NOT_ARGUMENTS: ReadonlySet<string> = new Set(
  'type id status name call_id callId caller created_by environment providerData result output outputs results error'.split(
    ' ',
  ),
);

function argumentsOf(item: Item): unknown {
  const args = item['action'] ?? item['actions'] ?? item['operation'] ?? item['arguments'];
  if (!isJsonObject(args)) {
    return args ?? Object.fromEntries(Object.entries(item).filter(([name]) => !NOT_ARGUMENTS.has(name)));
  }
  const { commands, sources: _found, ...rest } = args;
  return Array.isArray(commands) ? { command: commands.join('\n'), ...rest } : rest;
}

/** Returns the outcome of a call. It comes from the result item, or from the call's item if the provider ran the call. */
export function itemOutcome(item: Item): CallResult {
  const { type, status, error, action, outputs, results, result } = item;
  const hasFailed = status === 'failed' || isJsonObject(error) || textOrUndefined(error) !== undefined;
  const foundOutput = item['output'] ?? item['content'] ?? outputs ?? results ?? result;
  if (hasFailed) return { result: error ?? foundOutput ?? 'failed', isError: true };
  if (type === 'image_generation_call') return { result: { type: 'image', data: result }, isError: false };
  if (type === 'shell_call_output' && Array.isArray(foundOutput)) return shellOutcome(foundOutput.filter(isJsonObject));
  const sources = isJsonObject(action) ? action['sources'] : undefined;
  return { result: resultOf(foundOutput ?? sources ?? item['tools'] ?? status), isError: false };
}

/** Formats the output of commands as a terminal shows it. A note follows each timeout and each non-zero exit code. */
function shellOutcome(outputs: readonly Item[]): CallResult {
  const ends = outputs.map(({ outcome }) => {
    const end = membersOf(outcome);
    if (end['type'] === 'timeout') return 'timed out';
    const code = end['exit_code'] ?? end['exitCode'];
    return code === 0 || end['type'] !== 'exit' ? '' : `exit code ${JSON.stringify(code ?? 'unknown')}`;
  });
  const texts = outputs.flatMap(({ stdout, stderr }, index) => [
    textOrUndefined(stdout),
    textOrUndefined(stderr),
    textOrUndefined(ends[index]),
  ]);
  return { result: texts.filter((text) => text !== undefined).join('\n'), isError: ends.some((end) => end !== '') };
}

function reasoningTexts(item: Item): readonly string[] {
  const parts = [item['summary'], item['content'], item['rawContent']].flatMap((list): readonly unknown[] =>
    Array.isArray(list) ? list : [],
  );
  return parts.flatMap((part) => (isJsonObject(part) ? (textOrUndefined(part['text']) ?? []) : []));
}
