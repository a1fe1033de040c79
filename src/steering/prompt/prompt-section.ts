import type { Deadline } from '../../base/deadline.ts';
import type { Session } from '../../session/session.ts';
import type { TrajectoryView } from './trajectory-view.ts';

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
