import type { Json } from '../../base/json.ts';
import type { Usage } from '../../records/agent-message.ts';
import type { SdkFields } from './sdk-shapes.ts';

/** One answer of the model, streamed or not. */
export interface GeneratedAnswer {
  /** Parts in the SDK's form, for repeating the request with the answer in the prompt. */
  readonly parts: readonly SdkFields[];
  readonly text: string;
  /** Calls that the SDK or the host runs. */
  readonly calls: readonly AnsweredCall[];
  /** Calls that the provider ran. */
  readonly providerCalls: readonly AnsweredCall[];
  /** Results of calls that the provider ran. */
  readonly providerResults: readonly ProviderResult[];
  /** Unified reason, such as `stop`, `length`, `tool-calls`; absent if unknown. */
  readonly finishReason?: string;
  readonly modelId?: string;
  readonly usage?: Usage;
  /** Unknown part types. */
  readonly unknownTypes: readonly string[];
}

/** A call requested by the model. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

/** A result of a provider's tool. */
export interface ProviderResult {
  readonly id: string;
  readonly name: string;
  readonly result: unknown;
  readonly isError: boolean;
}
