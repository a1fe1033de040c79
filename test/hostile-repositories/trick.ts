import type { Sandbox } from './sandbox.ts';

/**
 * A step in a repository: a command line; a session whose events go through the hook; an event with these fields through the
 * hook; or an action of the repository.
 */
export type Step =
  | readonly string[]
  | 'session'
  | { readonly event: Readonly<Record<string, unknown>> }
  | ((place: Sandbox) => void);

/** One thing that a hostile repository tries. */
export interface Trick {
  /** The attack, completing "a repository with …". */
  readonly name: string;
  /** Puts it into the project. */
  make(place: Sandbox): void | Promise<void>;
  /** Steps in addition to a session and `doctor`. */
  readonly also?: readonly Step[];
  /** Text required in a fault, a failing `doctor` check, or standard error. Default: no text required. */
  readonly loud?: RegExp;
  /** Paths in the project that our commands may change. Default: none. */
  readonly writes?: RegExp;
  /** The folder that commands and sessions run in; default the project. */
  readonly cwd?: (place: Sandbox) => string;
  /** That folder is deleted as soon as a process works in it. */
  readonly isFolderGone?: boolean;
  /** Whether the session must be on record, in the store or a spill file; default true. */
  readonly isRecorded?: boolean;
}
