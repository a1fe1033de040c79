import type { Json } from '../../base/json.ts';
import type { Usage } from '../../records/agent-message.ts';
import type { SdkFields } from './sdk-shapes.ts';

/** One answer of the model, read from what the SDK's model gave; streamed or not. */
export interface GeneratedAnswer {
  /** Parts in the SDK's own form, for asking again with the answer in the prompt. */
  readonly parts: readonly SdkFields[];
  readonly text: string;
  /** Calls that the SDK or the host is to run. */
  readonly calls: readonly AnsweredCall[];
  /** Calls that the provider has run itself. */
  readonly providerCalls: readonly AnsweredCall[];
  /** Results of calls that the provider has run itself. */
  readonly providerResults: readonly ProviderResult[];
  /** The unified reason, such as `stop`, `length`, `tool-calls`; absent where there is none. */
  readonly finishReason?: string;
  readonly modelId?: string;
  readonly usage?: Usage;
  /** Types of parts that have no name here. */
  readonly unknownTypes: readonly string[];
}

/** A call that the model asked for. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

/** What a tool of the provider's answered. */
export interface ProviderResult {
  readonly id: string;
  readonly name: string;
  readonly result: unknown;
  readonly isError: boolean;
}
