import { isJsonObject, type JsonMembers, listOf, membersOf, textOrUndefined } from '../../core/base/json.ts';
import type { ImportItem } from '../import-item.ts';
import type { AnswerPart, RunItems } from '../parts/run-items.ts';
import { sourceCall } from '../parts/source-call.ts';
import { plainest, sourceContent, sourceResult } from '../parts/source-content.ts';
import { messageBlocks } from './message-blocks.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { sourceUsage } from '../parts/source-usage.ts';

/** The differences between formats that are based on OpenAI chat messages. */
export interface ChatDialect {
  /** Returns the error flag of a `tool` message. Default: no flag. */
  readonly errorFlag?: (message: JsonMembers) => boolean | undefined;
  /** Returns true if a `tool` message without a flag reports a failure. Default: `inferIsError` of its text. */
  readonly readsAsError?: (message: JsonMembers) => boolean;
  /** Returns true for a message of a simulated user's own tools. The agent does not see such messages. Default: false. */
  readonly isUsersTool?: (message: JsonMembers) => boolean;
}

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'model', 'tool', 'function']);

/** Returns true for an object with one of OpenAI's chat roles. */
export function isChatMessage(value: unknown): value is JsonMembers {
  return isJsonObject(value) && ROLES.has(value.role);
}

/** Returns the text of the first user message. It is the task if no other field contains one. */
export function firstUserText(messages: readonly unknown[]): string | undefined {
  for (const message of messages) {
    if (!isJsonObject(message) || message.role !== 'user') continue;
    const texts = messageBlocks(message).parts.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) return textOrUndefined(texts.join('\n'));
  }
  return undefined;
}

/** Yields the items of one chat message. Any other value is counted as lost. */
export function chatMessageItems(writer: RunItems, value: unknown, dialect: ChatDialect = {}): readonly ImportItem[] {
  if (!isChatMessage(value)) {
    writer.lost.add(isJsonObject(value) ? 'messages of unknown role' : 'entries that are not messages');
    return [];
  }
  const atMs = sourceTimeMs(value.timestamp);
  switch (value.role) {
    case 'system':
    case 'developer':
      return [writer.message('system', sourceContent(value.content), atMs)];
    case 'user':
      return userItems(writer, value, atMs);
    case 'assistant':
    case 'model': {
      const { parts, results } = messageBlocks(value);
      noteUnknown(writer, parts);
      const answer = writer.answer(
        {
          parts: [...reasoningParts(value), ...parts, ...callParts(value)],
          modelId: textOrUndefined(value.model),
          stopReason: textOrUndefined(value.finish_reason),
          usage: sourceUsage(
            typeof value.cost === 'number' ? { ...membersOf(value.usage), cost_usd: value.cost } : value.usage,
          ),
        },
        atMs,
      );
      return [...answer, ...results.flatMap((result) => writer.result(result, atMs))];
    }
    default:
      return toolItems(writer, value, dialect);
  }
}

function userItems(writer: RunItems, message: JsonMembers, atMs: number | undefined): readonly ImportItem[] {
  const calls = listOf(message.tool_calls);
  for (const _ of calls) writer.skipped.add('tool calls of the simulated user');
  const { parts, results } = messageBlocks(message);
  noteUnknown(writer, parts);
  const items = results.flatMap((result) => writer.result(result, atMs));
  const content = plainest(parts.filter((part) => part.type !== 'call'));
  return content.length === 0 && calls.length + results.length > 0
    ? items
    : [...items, writer.message('user', content, atMs)];
}

function toolItems(writer: RunItems, message: JsonMembers, dialect: ChatDialect): readonly ImportItem[] {
  // tau2 puts parallel results into one message.
  const results = Array.isArray(message.tool_messages) ? (message.tool_messages as readonly unknown[]) : [message];
  return results.flatMap((result) => {
    const among = isJsonObject(result) ? messageBlocks(result).results : [];
    if (among.length > 0) return among.flatMap((one) => writer.result(one, sourceTimeMs(message.timestamp)));
    if (!isJsonObject(result)) {
      writer.lost.add('entries that are not messages');
      return [];
    }
    if (dialect.isUsersTool?.(result) === true) {
      writer.skipped.add('tool results of the simulated user');
      return [];
    }
    return writer.result(
      {
        sourceId: textOrUndefined(result.tool_call_id) ?? textOrUndefined(result.id),
        result: sourceResult(result.content),
        isError: dialect.errorFlag?.(result),
        readsAsError: dialect.readsAsError?.(result),
      },
      sourceTimeMs(result.timestamp),
    );
  });
}

/** Notes blocks of other kinds: a list that consists of them would otherwise look read. */
function noteUnknown(writer: RunItems, parts: readonly AnswerPart[]): void {
  for (const part of parts) {
    if (part.type !== 'other') continue;
    const { type } = membersOf(part.value);
    writer.skipped.add(`blocks of type ${typeof type === 'string' ? type : 'unknown'}`);
  }
}

function reasoningParts(message: JsonMembers): readonly AnswerPart[] {
  const text = textOrUndefined(message.reasoning_content) ?? textOrUndefined(message.reasoning);
  return text === undefined ? [] : [{ type: 'reasoning', text }];
}

function callParts(message: JsonMembers): readonly AnswerPart[] {
  const legacy = isJsonObject(message.function_call) ? [{ function: message.function_call }] : [];
  return [...listOf(message.tool_calls), ...legacy].map((call): AnswerPart => ({
    type: 'call',
    call: sourceCall(call),
  }));
}
