import type { PromptMessage } from './sdk-shapes.ts';

/**
 * Changes the messages of a request, for example to remove old tool results. The change affects only that request. The SDK's
 * history is unchanged, so the transform sees the complete history next time. Transforms run before guidance is added.
 */
export interface ContextTransform {
  /** Name of the transform in records. */
  readonly name: string;
  /**
   * Returns the messages to send. An exception, or a result that is not a list of messages, is ignored and recorded as a
   * fault.
   *
   * @param messages  messages of the request in the SDK's format for models, instructions first; do not modify them in place
   */
  transform(
    messages: readonly PromptMessage[],
    context: ContextTransformContext,
  ): readonly PromptMessage[] | Promise<readonly PromptMessage[]>;
}

/** Additional data for a transform. */
export interface ContextTransformContext {
  /** Number of previous turns of the model. */
  readonly iteration: number;
  readonly modelId: string;
}
