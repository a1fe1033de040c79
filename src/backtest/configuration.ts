import { homedir } from 'node:os';

import { present } from '../base/present.ts';
import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import { invalidArgument } from '../base/error.ts';
import { problemText } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { resolveConfig } from '../config/resolve-config.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { sweepable } from '../config/sweepable.ts';
import type { ModelPrices } from '../records/answer-cost.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { type ResolvedSteering, resolveSteering } from '../steering/resolve-steering.ts';
import { readResult } from '../steering/read-result.ts';
import { createRedactor, type RedactionOptions } from '../redaction/redactor.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';

/** A configuration as data, so that a worker thread can make it too. */
export interface ConfigurationSpec {
  /** Path of a configuration file; absent, with `projectFolder` too: `standardSteering()`. */
  readonly file?: string;
  /** A folder, in place of a file: what a live run there would have, by the same rules of trust. */
  readonly projectFolder?: string;
  /** One number of it set to another value. */
  readonly set?: { readonly field: string; readonly value: number };
}

/** A configuration that runs can be replayed under. */
export interface Configuration {
  readonly name: string;
  /** Nothing is replayed: what the records of a run say was advised then. */
  readonly isRecorded?: true;
  readonly steering: ResolvedSteering;
  /** What `steering` was resolved from. */
  readonly options: SteeringOptions;
  readonly deadline?: TimeSpan;
  readonly budget?: Budget;
  /** Of models, beside the built-in ones. */
  readonly prices?: ModelPrices;
  /** What live runs take out of their records; default: the built-in rules. */
  readonly redaction?: RedactionOptions | false;
  /** The same as a function; absent where nothing is taken out. */
  readonly redact?: (payload: TrajectoryPayload) => TrajectoryPayload;
  /** Of a sweep: the field's full path, and what had to follow it. */
  readonly swept?: {
    readonly path: string;
    readonly value: number;
    readonly raised?: { readonly path: string; readonly value: number };
  };
}

/**
 * A configuration of a steering that is in memory.
 *
 * @throws CoxswainError "invalid-argument" for a limit outside its range, or redaction that cannot be
 * @throws CoxswainError "invalid-definition" for a redaction rule that is not one
 */
export function configurationOf(
  steering: SteeringOptions,
  name: string,
  redaction?: RedactionOptions | false,
): Configuration {
  const redactor = redaction === false ? undefined : createRedactor(redaction, { readResult });
  return {
    name,
    steering: resolveSteering(steering),
    options: steering,
    ...present({ redaction }),
    ...(redactor === undefined ? {} : { redact: (payload) => redactor.redact(payload) }),
  };
}

/** What the records themselves hold, beside configurations that are replayed. */
export function recordedConfiguration(): Configuration {
  const made = configurationOf({}, 'recorded');
  return { ...made, isRecorded: true, steering: { ...made.steering, configurationHash: 'recorded' } };
}

/**
 * Makes a configuration. Without a file nothing on the disk is looked at; with one, the user's own configuration lies below
 * it, as it does for a live run.
 *
 * @throws CoxswainError "invalid-argument" when the file has a problem, or the field cannot be set so
 */
export async function makeConfiguration({ file, projectFolder, set }: ConfigurationSpec): Promise<Configuration> {
  const loaded =
    file === undefined && projectFolder === undefined
      ? undefined
      : await loadConfig({ projectFolder: projectFolder ?? process.cwd(), ...present({ explicitPath: file }) });
  const problem = loaded?.problems[0];
  if (problem !== undefined) {
    throw invalidArgument(`${file ?? projectFolder ?? ''}: ${problemText(problem)}; see coxswain config check`);
  }
  const base = file ?? (projectFolder === undefined ? 'standard' : 'project');
  const places = { folder: loaded?.folder ?? process.cwd(), homeFolder: homedir() };
  if (set === undefined) {
    return configured(loaded?.resolved ?? resolveConfig({}, places), base);
  }
  if (loaded?.sources.some((source) => /\.[cm]?[jt]s$/.test(source.file)) === true) {
    throw invalidArgument(`${base}: only a configuration without code can be swept; put the numbers into a .json file`);
  }
  const { config, path, raised } = sweepable(loaded?.config ?? {}, set.field, set.value);
  const made = configured(resolveConfig(config, places), `${path}=${set.value}`);
  return { ...made, swept: { path, value: set.value, ...present({ raised }) } };
}

function configured(resolved: ResolvedConfig, name: string): Configuration {
  const { steering, redaction, deadline, budget, prices } = resolved;
  return {
    ...configurationOf(steering, name, redaction),
    ...present({ deadline, budget, prices }),
  };
}
