import type { RecordsRefusal } from '../store/records-folder.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { ConfigPlaces } from './find-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';

/** Where a configuration is looked for. */
export interface LoadConfigOptions extends ConfigPlaces {
  /** The folder the agent works in. The project's files are looked for here and above, up to the git root. */
  readonly projectFolder: string;
  /** A file named with `--config`: read in place of the project's, and trusted, because somebody named it. */
  readonly explicitPath?: string | undefined;
}

/** A field that does not count, and why. Plain JSON. */
export interface IgnoredField {
  /** Such as `completion.command`; empty: the file as a whole. */
  readonly path: string;
  readonly why: string;
  readonly file: string;
}

/** A file that was found. Plain JSON. */
export interface ConfigSource {
  /** Absolute. */
  readonly file: string;
  /** Whose it is; `explicit` was named with `--config`. */
  readonly layer: 'user' | 'project' | 'explicit';
  /** False: what needs trust does not count. */
  readonly trusted: boolean;
}

/** A configuration that can be run with, whatever was found on the disk. */
export interface LoadedConfig {
  readonly resolved: ResolvedConfig;
  /** What all files say together, as far as it counts, without code. */
  readonly config: CoxswainConfig;
  /** The folder that relative paths begin from: that of the project's files, else `projectFolder`. */
  readonly folder: string;
  /** Every problem of every file. A field with a problem is as if it were not there. */
  readonly problems: readonly ConfigProblem[];
  readonly ignored: readonly IgnoredField[];
  /** The files, the weakest first. */
  readonly sources: readonly ConfigSource[];
  /** Why the project's folder of records is not used; absent where it is. `resolved.store` is the user's own then. */
  readonly refusal?: RecordsRefusal;
}
