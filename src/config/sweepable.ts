import { type CoxswainError, invalidArgument } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';
import { checkTogether } from './check-together.ts';
import { configFields, type ConfigField } from './config-fields.ts';
import { problemText } from './config-problem.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { readConfig } from './decode-config.ts';
import { expectedText } from '../base/describe-shape.ts';
import { nearestName } from '../base/nearest-name.ts';

/** A configuration with one number changed. Plain JSON. */
export interface SweptConfig {
  readonly config: CoxswainConfig;
  /** The field's full path. */
  readonly path: string;
  /** A field that had to follow, because the number would make no sense without. */
  readonly raised?: { readonly path: string; readonly value: number };
}

/**
 * Sets a number of a configuration, as a sweep does: `sweepable(config, 'doomLoop.maxRepetitions', 4)`. What was switched
 * off is on afterwards. A window that could not hold so many repetitions is raised to hold them.
 *
 * @param name the field's path, or the end of it where no other ends so
 * @throws CoxswainError "invalid-argument" when no field or more than one ends so, the field is no number, or the value
 *   is outside its range
 */
export function sweepable(config: CoxswainConfig, name: string, value: number): SweptConfig {
  const path = pathOfNumber(name);
  const swept = setAt(config, path.split('.'), value);
  const { problems } = readConfig(swept);
  const problem = problems[0];
  if (problem !== undefined) throw invalidArgument(problemText(problem), { details: { path } });
  if (!checkTogether(swept).problems.some(({ path: at }) => at === path)) return { config: swept, path };
  const raised = { path: path.replace(/[^.]+$/, 'windowSize'), value };
  const both = setAt(swept, raised.path.split('.'), value);
  return { config: both, path, raised };
}

/** Fields that a sweep can set. */
function numbers(): readonly ConfigField[] {
  return configFields().filter(({ path, shape }) => shape.kind === 'number' && !/\[\]|\*/.test(path));
}

function pathOfNumber(name: string): string {
  const fields = numbers();
  const ending = fields.filter(({ path }) => path === name || path.endsWith(`.${name}`)).map(({ path }) => path);
  const exact = ending.find((path) => path === name);
  const found = exact ?? (ending.length === 1 ? ending[0] : undefined);
  if (found !== undefined) return found;
  if (ending.length > 1) throw wrong(name, `is the end of ${ending.join(' and ')}; say which`, ending);
  const other = configFields().find(({ path }) => path === name || path.endsWith(`.${name}`));
  if (other !== undefined) throw wrong(name, `is no number but ${expectedText(other.shape)}`, []);
  const ends = fields.map(({ path }) => path.split('.').slice(-name.split('.').length).join('.'));
  const near = nearestName(name, ends);
  const hint = near === undefined ? 'coxswain config show lists the fields' : `did you mean ${near}?`;
  throw wrong(name, `there is no such number; ${hint}`, near === undefined ? [] : [near]);
}

function wrong(name: string, message: string, candidates: readonly string[]): CoxswainError {
  return invalidArgument(`${name}: ${message}`, { details: { name, candidates } });
}

/** @param steps names of object members */
function setAt(config: CoxswainConfig, steps: readonly string[], value: number): CoxswainConfig {
  const [first = '', ...rest] = steps;
  // The path was found in the shape, so what lies on it is an object, a switch or nothing.
  const inside = (config as Readonly<Record<string, unknown>>)[first];
  return {
    ...config,
    [first]: rest.length === 0 ? value : setAt(isJsonObject(inside) ? inside : {}, rest, value),
  };
}
