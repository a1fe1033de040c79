import { wordSet } from '../../core/base/word-set.ts';
import { membersOf, objectsIn, present, isJsonObject, type Json } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { Usage } from '../../core/records/agent-message.ts';
import { decodedArgs, usageOf } from '../host/content-blocks.ts';
import { textField, type SdkFields } from './sdk-shapes.ts';

const KNOWN_PARTS: ReadonlySet<string> = wordSet(
  'text reasoning tool-call tool-result source file reasoning-file custom tool-approval-request',
);

export function readModelAnswer(result: unknown): GeneratedAnswer | undefined {
  if (!isJsonObject(result) || !Array.isArray(result['content'])) return undefined;
  const parts = objectsIn(result['content']);
  const callParts = parts.filter((part) => part['type'] === 'tool-call');
  const [ownCalls, providerCalls] = [
    callParts.filter((part) => !isRunByProvider(part)),
    callParts.filter(isRunByProvider),
  ];
  const finishReason = readFinishReason(result['finishReason']);
  const response = membersOf(result['response']);
  const modelId = textField(response, 'modelId');
  const usage = readUsage(result['usage']);
  return {
    parts,
    text: parts.flatMap((part) => (part['type'] === 'text' ? [textField(part, 'text')] : [])).join(''),
    calls: ownCalls.map(readCall),
    providerCalls: providerCalls.map(readCall),
    providerResults: parts.flatMap((part) => (part['type'] === 'tool-result' ? [readResult(part)] : [])),
    ...present({ finishReason }),
    ...(modelId === '' ? {} : { modelId }),
    ...present({ usage }),
    unknownTypes: [...new Set(parts.map((part) => textField(part, 'type')))].filter((type) => !KNOWN_PARTS.has(type)),
  };
}

/** Reads the arguments of a call. Models send JSON text. Text that is not JSON is returned unchanged. */
export function readArgs(input: unknown): Json {
  // JSON.parse returns JSON.
  return typeof input === 'string' ? (decodedArgs(input.trim()) as Json) : toJson(input);
}

/** Specifications v3 and v4 have totals with details, v2 plain numbers. Cached tokens are part of the input in all. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const input = isJsonObject(value['inputTokens']) ? value['inputTokens'] : { total: value['inputTokens'] };
  const output = isJsonObject(value['outputTokens']) ? value['outputTokens'] : { total: value['outputTokens'] };
  // Format that the SDK uses in its telemetry.
  const inputDetails = membersOf(value['inputTokenDetails']);
  const outputDetails = membersOf(value['outputTokenDetails']);
  return usageOf({
    inputTokens: input['total'],
    outputTokens: output['total'],
    cacheReadTokens: input['cacheRead'] ?? value['cachedInputTokens'] ?? inputDetails['cacheReadTokens'],
    cacheWriteTokens: input['cacheWrite'] ?? inputDetails['cacheWriteTokens'],
    reasoningTokens: output['reasoning'] ?? value['reasoningTokens'] ?? outputDetails['reasoningTokens'],
  });
}

function readFinishReason(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const unifiedReason = isJsonObject(value) ? textField(value, 'unified') : '';
  return unifiedReason === '' ? undefined : unifiedReason;
}

export function readCall(part: SdkFields): AnsweredCall {
  return { id: textField(part, 'toolCallId'), name: textField(part, 'toolName'), args: readArgs(part['input']) };
}

function readResult(part: SdkFields): ProviderResult {
  const { id, name } = readCall(part);
  // Specification v2 and the SDK's own messages name this field `output`.
  return { id, name, result: part['result'] ?? part['output'], isError: part['isError'] === true };
}

function isRunByProvider(part: SdkFields): boolean {
  return part['providerExecuted'] === true;
}

export interface GeneratedAnswer {
  /** In the SDK's format. */
  readonly parts: readonly SdkFields[];
  readonly text: string;
  readonly calls: readonly AnsweredCall[];
  readonly providerCalls: readonly AnsweredCall[];
  readonly providerResults: readonly ProviderResult[];
  /** The SDK's unified finish reason, such as `stop`, `length` or `tool-calls`. Absent if unknown. */
  readonly finishReason?: string;
  readonly modelId?: string;
  readonly usage?: Usage;
  readonly unknownTypes: readonly string[];
}

export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

interface ProviderResult {
  readonly id: string;
  readonly name: string;
  readonly result: unknown;
  readonly isError: boolean;
}
