import { defineResource, type Resource } from './prompt-resources.ts';

/** The files an agent works on, as far as steering looks at them: read-only and synchronous. */
export interface Filesystem {
  /**
   * True when there is a file or folder at `path`, written as the agent writes it. It may throw: what asked is then
   * skipped and reported. Asked after a tool call, so it should take microseconds.
   */
  exists(path: string): boolean;
}

/** Binds or reads the files of a prompt: `resources: [Filesystem({ exists: existsSync })]`. */
export const Filesystem: Resource<Filesystem> = defineResource<Filesystem>('filesystem');
