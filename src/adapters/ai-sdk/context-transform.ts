import type { PromptMessage } from './sdk-shapes.ts';

/**
 * Changes the messages of a request, such as removing old tool results. Affects only that request: the SDK's
 * history is unchanged, so the transform sees all of it next time. Runs before guidance is added.
 */
export interface ContextTransform {
  /** Name in records. */
  readonly name: string;
  /**
   * @param messages  of the request, instructions first, in the SDK's form for models; do not modify in place
   * @returns the messages to send. An exception, or a result that is not a list of messages, is ignored and recorded as a fault
   */
  transform(
    messages: readonly PromptMessage[],
    context: ContextTransformContext,
  ): readonly PromptMessage[] | Promise<readonly PromptMessage[]>;
}

/** Context of a transform. */
export interface ContextTransformContext {
  /** Previous turns of the model. */
  readonly iteration: number;
  readonly modelId: string;
}
