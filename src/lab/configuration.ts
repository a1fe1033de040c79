import { homedir } from 'node:os';

import { present } from '../core/base/json.ts';
import type { Budget } from '../core/base/budget.ts';
import type { TimeSpan } from '../core/base/deadline.ts';
import { canonicalJson } from '../core/base/canonical-json.ts';
import { invalidArgument } from '../core/base/error.ts';
import { hashText } from '../core/base/hash.ts';
import { problemText } from '../hosts/config/config-problem.ts';
import { loadConfig } from '../hosts/config/load-config.ts';
import { resolveConfig, type ResolvedConfig } from '../hosts/config/resolve-config.ts';
import { sweepable } from '../hosts/config/sweepable.ts';
import type { ModelPrices } from '../core/records/answer-cost.ts';
import { type ResolvedSteering, resolveSteering } from '../core/steering/resolve-steering.ts';
import { readResult } from '../core/steering/read-result.ts';
import { createRedactor, NO_REDACTION, type RedactionOptions, type Redactor } from '../core/redact/redactor.ts';
import type { SteeringOptions } from '../core/steering/steering-options.ts';

export interface ConfigurationSpec {
  /** Path of a configuration file. Without it and without `projectFolder`, `standardSteering()` applies. */
  readonly file?: string;
  /** A folder instead of a file: the configuration of a live run in it, with the same rules of trust. */
  readonly projectFolder?: string;
  readonly set?: { readonly field: string; readonly value: number };
}

export interface Configuration {
  readonly name: string;
  /** The hash of the steering, in `run_started`; with a deadline or a budget, a hash of these too. */
  readonly hash: string;
  readonly steering: ResolvedSteering;
  readonly options: SteeringOptions;
  readonly deadline?: TimeSpan;
  readonly budget?: Budget;
  readonly prices?: ModelPrices;
  /** The redaction that live runs use. Default: the built-in rules. */
  readonly redaction?: RedactionOptions | false;
  readonly redactor: Redactor;
  /** For a sweep: the full path of the field, and any field raised together with it. */
  readonly swept?: {
    readonly path: string;
    readonly value: number;
    readonly raised?: { readonly path: string; readonly value: number };
  };
}

/**
 * @throws CoxswainError "invalid-argument" for a limit outside its range or invalid redaction options;
 * "invalid-definition" for an invalid redaction rule
 */
export function configurationOf(
  steering: SteeringOptions,
  name: string,
  redaction?: RedactionOptions | false,
): Configuration {
  const resolved = resolveSteering(steering);
  return {
    name,
    hash: resolved.configurationHash,
    steering: resolved,
    options: steering,
    ...present({ redaction }),
    redactor: redaction === false ? NO_REDACTION : createRedactor(redaction, { readResult }),
  };
}

/**
 * Without a file or folder it reads nothing from disk. With one, the user's own configuration also applies.
 *
 * @throws CoxswainError "invalid-argument" if the file has a problem or the field cannot be set to that value
 */
export async function makeConfiguration({ file, projectFolder, set }: ConfigurationSpec): Promise<Configuration> {
  const loadedConfig =
    file === undefined && projectFolder === undefined
      ? undefined
      : await loadConfig({ projectFolder: projectFolder ?? process.cwd(), ...present({ explicitPath: file }) });
  const problem = loadedConfig?.problems[0];
  if (problem !== undefined) {
    throw invalidArgument(`${file ?? projectFolder ?? ''}: ${problemText(problem)}; see coxswain config check`);
  }
  const base = file ?? (projectFolder === undefined ? 'standard' : 'project');
  const places = { folder: loadedConfig?.folder ?? process.cwd(), homeFolder: homedir() };
  if (set === undefined) {
    return configurationFrom(loadedConfig?.resolved ?? resolveConfig({}, places), base);
  }
  if (loadedConfig?.sources.some((source) => /\.[cm]?[jt]s$/.test(source.file)) === true) {
    throw invalidArgument(`${base}: only a configuration without code can be swept; put the numbers into a .json file`);
  }
  const { config, path, raised } = sweepable(loadedConfig?.config ?? {}, set.field, set.value);
  const configuration = configurationFrom(resolveConfig(config, places), `${path}=${set.value}`);
  return { ...configuration, swept: { path, value: set.value, ...present({ raised }) } };
}

function configurationFrom(resolved: ResolvedConfig, name: string): Configuration {
  const { steering, redaction, deadline, budget, prices } = resolved;
  const configuration = { ...configurationOf(steering, name, redaction), ...present({ deadline, budget, prices }) };
  if (deadline === undefined && budget === undefined) return configuration;
  return { ...configuration, hash: hashText(canonicalJson([configuration.hash, present({ deadline, budget })])) };
}
