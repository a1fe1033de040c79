import type { PromptResources } from './prompt-resources.ts';
import type { PromptGuidance, PromptParams, PromptSection, RenderContext } from './prompt-section.ts';

/** A prompt as text. */
export interface RenderedPrompt {
  readonly text: string;
  /** Keys of the sections in it, in order; a nested one as `parent/child`. */
  readonly sections: readonly string[];
}

/** What a rendering may use besides parameters. */
export interface RenderOptions {
  /** Guidance of the decision point `pre_render`: seen by `enabled(context)`, its contents appended last. */
  readonly guidance?: readonly PromptGuidance[];
  /** Handed to `enabled(context)`. */
  readonly context?: RenderContext;
}

/** A prompt as providers, observers and guidance see it. */
export interface Prompt {
  readonly ns: string;
  readonly key: string;
  /** `ns/key`: the scope of counts and of feedback history. */
  readonly name: string;
  /** Names of the placeholders that may be used. */
  readonly params: readonly string[];
  readonly sections: readonly PromptSection[];
  readonly resources: PromptResources;
  /**
   * Renders the enabled sections, separated by blank lines. Values are inserted as they are and not read again for
   * placeholders.
   *
   * @throws CoxswainError "invalid-argument" when an enabled section misses a parameter (`details.section`,
   *   `details.placeholder`), a parameter is not known, or `enabled` throws
   */
  render(params?: PromptParams, options?: RenderOptions): RenderedPrompt;
}
