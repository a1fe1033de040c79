import type { TrajectoryAnalysis } from '../../detect/patterns/trajectory-analysis.ts';
import type { Deadline } from '../../base/deadline.ts';
import type { Session } from '../../session/session.ts';
import type { PromptResources } from './prompt-resources.ts';

/** Value of a `${placeholder}`. */
export type PromptParam = string | number | boolean;

export type PromptParams = Readonly<Record<string, PromptParam>>;

export interface PromptGuidance {
  readonly key: string;
  readonly content: string;
  readonly category?: string;
}

/** The data about the run that the caller of `render` has. */
export interface RenderContext {
  readonly session?: Session;
  readonly trajectory?: TrajectoryView;
  readonly deadline?: Deadline;
  /** Unix milliseconds. */
  readonly nowMs?: number;
}

/** The argument of `PromptSection.enabled`. */
export interface SectionContext extends RenderContext {
  readonly params: PromptParams;
  /** In order; may be empty. */
  readonly guidance: readonly PromptGuidance[];
}

export interface PromptSection {
  /** Unique among its siblings; matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** Markdown heading: `## ` at the top level, one more `#` per level. Placeholders in it are not replaced. */
  readonly title?: string;
  /** May contain `${placeholders}`; `$${` is a literal `${`. Trimmed. */
  readonly text: string;
  /** False leaves out the section and its children; default true. If it throws, `render` throws "invalid-argument". */
  enabled?(context: SectionContext): boolean;
  /** Child sections, rendered after the text. */
  readonly sections?: readonly PromptSection[];
}

export interface RenderedPrompt {
  readonly text: string;
  /** Paths of the rendered sections, in order. The path of a nested section is `parent/child`. */
  readonly sections: readonly string[];
}

export interface RenderOptions {
  /** Guidance of the decision point `pre_render`. It is passed to `enabled(context)` and appended to the text. */
  readonly guidance?: readonly PromptGuidance[];
  /** Passed to `enabled(context)`. */
  readonly context?: RenderContext;
}

/** A prompt without its providers. */
export interface Prompt {
  readonly ns: string;
  readonly key: string;
  /** `ns/key`. Counts and feedback history are kept per name. */
  readonly name: string;
  readonly params: readonly string[];
  readonly sections: readonly PromptSection[];
  readonly resources: PromptResources;
  /**
   * Renders the enabled sections, separated by blank lines. Inserted values are not parsed for placeholders.
   *
   * @throws CoxswainError "invalid-argument" if an enabled section lacks a parameter (`details.section`,
   *   `details.placeholder`), a parameter is unknown, or `enabled` throws
   */
  render(params?: PromptParams, options?: RenderOptions): RenderedPrompt;
}

/** A read-only view of the analysis of a run: counters, recent calls, patterns. */
export type TrajectoryView = Omit<TrajectoryAnalysis, 'fold' | 'snapshot'>;
