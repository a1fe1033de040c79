import type { RecordsRefusal } from '../store/records-folder.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { ConfigPlaces } from './find-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';

export interface LoadConfigOptions extends ConfigPlaces {
  /** The folder the agent works in. The project's files are searched from here up to the git root. */
  readonly projectFolder: string;
  /** A file named with `--config`: replaces the project's files and is trusted. */
  readonly explicitPath?: string | undefined;
}

/** A field that is ignored, and why. Plain JSON. */
export interface IgnoredField {
  /** Such as `completion.command`; empty: the file as a whole. */
  readonly path: string;
  readonly why: string;
  readonly file: string;
}

/** A configuration file. Plain JSON. */
export interface ConfigSource {
  /** Absolute. */
  readonly file: string;
  /** `explicit`: named with `--config`. */
  readonly layer: 'user' | 'project' | 'explicit';
  /** False: fields that need trust are ignored. */
  readonly trusted: boolean;
}

/** A configuration that a run can start with, whatever the files contain. */
export interface LoadedConfig {
  readonly resolved: ResolvedConfig;
  /** The merged files without ignored fields and code. */
  readonly config: CoxswainConfig;
  /** The base of relative paths: the folder of the project's files, else `projectFolder`. */
  readonly folder: string;
  /** Every problem of every file. A field with a problem is ignored. */
  readonly problems: readonly ConfigProblem[];
  readonly ignored: readonly IgnoredField[];
  /** Lowest precedence first. */
  readonly sources: readonly ConfigSource[];
  /** Why the project's records folder is not used, if so; then `resolved.store` is the user's own. */
  readonly refusal?: RecordsRefusal;
}
