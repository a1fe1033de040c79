import type { PromptMessage } from './sdk-shapes.ts';

/**
 * Changes what the model reads in a request, such as cutting old tool results. It changes that request alone: the SDK's
 * history stays as it is, so the transform meets the whole of it again the next time. It runs before guidance is added.
 */
export interface ContextTransform {
  /** Names it in records. */
  readonly name: string;
  /**
   * @param messages  of the request, instructions first, in the form the SDK gives to models; not to be changed in place
   * @returns the messages to send. What throws, or gives no list of messages, is passed over and recorded as a fault
   */
  transform(
    messages: readonly PromptMessage[],
    context: ContextTransformContext,
  ): readonly PromptMessage[] | Promise<readonly PromptMessage[]>;
}

/** What a transform knows. */
export interface ContextTransformContext {
  /** Turns of the model before this one. */
  readonly iteration: number;
  readonly modelId: string;
}
