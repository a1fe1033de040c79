import { membersOf } from '../../core/base/json.ts';
import { type CoxswainError, invalidArgument } from '../../core/base/error.ts';
import { checkTogether } from './check-together.ts';
import { configFields, readConfig } from './decode-config.ts';
import { problemText } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { expectedText } from '../../core/base/shape.ts';
import { nearestName } from '../../core/base/check-members.ts';

/** A configuration with one changed number. Plain JSON. */
export interface SweptConfig {
  readonly config: CoxswainConfig;
  readonly path: string;
  /** A second field that was raised because the number would otherwise be invalid. */
  readonly raised?: { readonly path: string; readonly value: number };
}

/**
 * Sets a number of a configuration for a parameter sweep: `sweepable(config, 'doomLoop.maxRepetitions', 4)`. Enables the section
 * of the field. Raises a window that is too small for the number of repetitions.
 *
 * @param name  the path of the field, or a unique suffix of the path
 * @throws CoxswainError "invalid-argument" if no field or several fields match, the field is not a number, or the value is out of
 *   range
 */
export function sweepable(config: CoxswainConfig, name: string, value: number): SweptConfig {
  const path = pathOfNumber(name);
  const sweptConfig = setAt(config, path.split('.'), value);
  const { problems } = readConfig(sweptConfig);
  const problem = problems[0];
  if (problem !== undefined) throw invalidArgument(problemText(problem), { details: { path } });
  if (!checkTogether(sweptConfig).problems.some(({ path: raisedPath }) => raisedPath === path))
    return { config: sweptConfig, path };
  const raisedField = { path: path.replace(/[^.]+$/, 'windowSize'), value };
  const raisedConfig = setAt(sweptConfig, raisedField.path.split('.'), value);
  return { config: raisedConfig, path, raised: raisedField };
}

function pathOfNumber(name: string): string {
  const fields = configFields().filter(({ path, shape }) => shape.kind === 'number' && !/\[\]|\*/.test(path));
  const ending = fields.filter(({ path }) => path === name || path.endsWith(`.${name}`)).map(({ path }) => path);
  const exactPath = ending.find((path) => path === name);
  const foundPath = exactPath ?? (ending.length === 1 ? ending[0] : undefined);
  if (foundPath !== undefined) return foundPath;
  if (ending.length > 1) throw sweepError(name, `is the end of ${ending.join(' and ')}; say which`, ending);
  const otherField = configFields().find(({ path }) => path === name || path.endsWith(`.${name}`));
  if (otherField !== undefined) throw sweepError(name, `is not a number but ${expectedText(otherField.shape)}`, []);
  const ends = fields.map(({ path }) => path.split('.').slice(-name.split('.').length).join('.'));
  const nearName = nearestName(name, ends);
  const hint = nearName === undefined ? 'coxswain config show lists the fields' : `did you mean ${nearName}?`;
  throw sweepError(name, `there is no such number; ${hint}`, nearName === undefined ? [] : [nearName]);
}

function sweepError(name: string, message: string, candidates: readonly string[]): CoxswainError {
  return invalidArgument(`${name}: ${message}`, { details: { name, candidates } });
}

function setAt(config: CoxswainConfig, steps: readonly string[], value: number): CoxswainConfig {
  const [first = '', ...rest] = steps;
  // The path comes from the shape, so each field on it is an object, a boolean or absent.
  const section = (config as Readonly<Record<string, unknown>>)[first];
  return { ...config, [first]: rest.length === 0 ? value : setAt(membersOf(section), rest, value) };
}
