import type { Sandbox } from './sandbox.ts';

/**
 * What is done in a repository: words of the command line; a session whose events go through the hook; one whose events go to
 * the server of the hooks; an event with these fields, through the hook; what the repository does meanwhile.
 */
export type Step =
  | readonly string[]
  | 'session'
  | 'served session'
  | { readonly event: Readonly<Record<string, unknown>> }
  | ((place: Sandbox) => void);

/** One thing that a hostile repository tries. */
export interface Trick {
  /** What the repository does, as the rest of a sentence that begins with "a repository with". */
  readonly name: string;
  /** Puts it into the project. */
  make(place: Sandbox): void | Promise<void>;
  /** What is done besides a session and `doctor`. */
  readonly also?: readonly Step[];
  /** What a fault, a check of `doctor` that does not pass, or standard error must say. Default: nothing has to be said. */
  readonly loud?: RegExp;
  /** Paths in the project that our commands may change besides a folder of records that is ours. */
  readonly writes?: RegExp;
  /** The folder that commands and sessions run in; default the project. */
  readonly cwd?: (place: Sandbox) => string;
  /** That folder is deleted as soon as a process works in it. */
  readonly isFolderGone?: boolean;
  /** Whether the session must be on record, in the store, the fallback or a spill file; default true. */
  readonly isRecorded?: boolean;
}
