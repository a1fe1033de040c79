import { basename } from 'node:path';

import type { ConfigProblem } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import type { ConfigPlaces } from './find-config.ts';
import type { ResolvedConfig } from './resolve-config.ts';

export interface LoadConfigOptions extends ConfigPlaces {
  /** The working folder of the agent. The search for the project's files starts here and ends at the git root. */
  readonly projectFolder: string;
  /** A file named with `--config`. It replaces the project's files and is trusted. */
  readonly explicitPath?: string | undefined;
}

/** A configuration file that applies. Plain JSON. */
export interface ConfigSource {
  /** Absolute path. */
  readonly file: string;
  /** `explicit`: the file was named with `--config`. */
  readonly layer: 'user' | 'project' | 'explicit';
}

/** A valid configuration. A run can start with it even if the files contain errors. */
export interface LoadedConfig {
  readonly resolved: ResolvedConfig;
  /** The merged fields of all files, without code. */
  readonly config: CoxswainConfig;
  /** The base folder of relative paths: the folder of the project's files, or `projectFolder` without files. */
  readonly folder: string;
  /** All problems of all files. A field with a problem is ignored. */
  readonly problems: readonly ConfigProblem[];
  /** Files of the project that are ignored as a whole, because the user does not trust them as they are. */
  readonly untrusted: readonly string[];
  /** Files in the order of precedence, lowest first. */
  readonly sources: readonly ConfigSource[];
}

/** Returns the line about files that are ignored for lack of trust; undefined if there are none. */
export function untrustedText({ untrusted }: Pick<LoadedConfig, 'untrusted'>): string | undefined {
  if (untrusted.length === 0) return undefined;
  const names = untrusted.map((file) => basename(file)).join(' and ');
  return `${names} ${untrusted.length === 1 ? 'is' : 'are'} not trusted and ignored: read it, then run coxswain trust`;
}
