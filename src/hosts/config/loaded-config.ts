import type { RecordsRefusal } from '../../stores/records-folder.ts';
import type { ConfigProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { ConfigPlaces } from './find-config.ts';
import type { ResolvedConfig } from './resolved-config.ts';

export interface LoadConfigOptions extends ConfigPlaces {
  /** The working folder of the agent. The search for the project's files starts here and ends at the git root. */
  readonly projectFolder: string;
  /** A file named with `--config`. It replaces the project's files and is trusted. */
  readonly explicitPath?: string | undefined;
}

/** A field that is ignored, with the reason. Plain JSON. */
export interface IgnoredField {
  /** The path of the field, such as `completion.command`. Empty if the whole file is ignored. */
  readonly path: string;
  readonly why: string;
  readonly file: string;
}

/** A configuration file. Plain JSON. */
export interface ConfigSource {
  /** Absolute path. */
  readonly file: string;
  /** `explicit`: the file was named with `--config`. */
  readonly layer: 'user' | 'project' | 'explicit';
  /** False: fields that require trust are ignored. */
  readonly trusted: boolean;
}

/** A valid configuration. A run can start with it even if the files contain errors. */
export interface LoadedConfig {
  readonly resolved: ResolvedConfig;
  /** The merged fields of all files, without ignored fields and code. */
  readonly config: CoxswainConfig;
  /** The base folder of relative paths: the folder of the project's files, or `projectFolder` without files. */
  readonly folder: string;
  /** All problems of all files. A field with a problem is ignored. */
  readonly problems: readonly ConfigProblem[];
  readonly ignored: readonly IgnoredField[];
  /** Files in the order of precedence, lowest first. */
  readonly sources: readonly ConfigSource[];
  /** Present if the project's records folder is not used, with the reason. `resolved.store` is then the user's own store. */
  readonly refusal?: RecordsRefusal;
}
