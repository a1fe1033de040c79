import type { Json } from '../../core/base/json.ts';
import type { Usage } from '../../core/records/agent-message.ts';
import type { SdkFields } from './sdk-shapes.ts';

export interface GeneratedAnswer {
  /** Parts of the answer in the SDK's format. Used to repeat the request with the answer in the prompt. */
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

export interface ProviderResult {
  readonly id: string;
  readonly name: string;
  readonly result: unknown;
  readonly isError: boolean;
}
