import type { Deadline } from '../../base/deadline.ts';
import type { Session } from '../../session/session.ts';
import type { TrajectoryView } from './trajectory-view.ts';
import type { PromptResources } from './prompt-resources.ts';

/** A value for a `${placeholder}`. */
export type PromptParam = string | number | boolean;

/** Values for the placeholders of a prompt, by name. */
export type PromptParams = Readonly<Record<string, PromptParam>>;

/** A piece of guidance as a prompt sees it before it is rendered. */
export interface PromptGuidance {
  readonly key: string;
  readonly content: string;
  readonly category?: string;
}

/** What the caller of `render` knows of the run. */
export interface RenderContext {
  readonly session?: Session;
  readonly trajectory?: TrajectoryView;
  readonly deadline?: Deadline;
  /** Unix milliseconds. */
  readonly nowMs?: number;
}

/** What a section is asked about before it is rendered. */
export interface SectionContext extends RenderContext {
  readonly params: PromptParams;
  /** Guidance for this rendering, in order; empty when there is none. */
  readonly guidance: readonly PromptGuidance[];
}

/** A part of a prompt. */
export interface PromptSection {
  /** Unique among its siblings; matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** Rendered as a Markdown heading: `## ` at the top, one more `#` a level. Placeholders are not read here. */
  readonly title?: string;
  /** May hold `${placeholders}`; `$${` stands for a literal `${`. Blanks around it are removed. */
  readonly text: string;
  /**
   * Whether the section and all below it are rendered; default: yes. When it throws, `render` throws
   * "invalid-argument" with the section's key and the cause.
   */
  enabled?(context: SectionContext): boolean;
  /** Sections below this one, rendered after its text. */
  readonly sections?: readonly PromptSection[];
}

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
