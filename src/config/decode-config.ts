import { checkTogether } from './check-together.ts';
import { configFields } from './config-fields.ts';
import type { ConfigProblem } from './config-problem.ts';
import { configShape } from './config-shape.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { decodeShape } from './decode-shape.ts';
import { readJson } from './read-json.ts';
import { nearestName } from '../base/nearest-name.ts';

/** A configuration, or everything that is wrong with it: at most 100 problems. */
export type DecodedConfig = { readonly config: CoxswainConfig } | { readonly problems: readonly ConfigProblem[] };

/**
 * Decodes a configuration. A run can start with one that decodes.
 *
 * @param json what `JSON.parse` gave
 * Cost: one walk over the value; the schema is not read.
 */
export function decodeConfig(json: unknown): DecodedConfig {
  const { config, problems } = readConfig(json);
  if (problems.length > 0) return { problems };
  const together = checkTogether(config);
  return together.problems.length > 0 ? { problems: together.problems } : { config: together.config };
}

/** What of a value counts, and what is wrong with the rest. */
export interface ConfigReading {
  readonly config: CoxswainConfig;
  readonly problems: readonly ConfigProblem[];
}

/** Takes from a value all fields that are in order by themselves. What one file says; `checkTogether` comes after all of them. */
export function readConfig(json: unknown): ConfigReading {
  const problems: ConfigProblem[] = [];
  const decoded = decodeShape(json, configShape, { report: (problem) => problems.push(problem), suggestName });
  // The shape is that of the type: its objects are checked against the type's members where they are written.
  return { config: decoded ?? {}, problems };
}

/** The same of a file's text, which may have comments. Problems of its syntax have a line and a column. */
export function readConfigText(text: string): ConfigReading {
  const reading = readJson(text);
  if ('value' in reading) return readConfig(reading.value);
  const { message, line, column } = reading;
  return {
    config: {},
    problems: [{ path: '', kind: 'syntax', message: `line ${line}, column ${column}: ${message}`, line, column }],
  };
}

/** `ping_pong` is a kind of pattern that has no detector of its own. */
const OTHER_NAMES: Readonly<Record<string, string>> = { ping_pong: 'cycle', pingPong: 'cycle' };

/** A name beside it, or the place where a field of that name is. */
function suggestName(name: string, names: readonly string[]): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  if (other !== undefined && names.includes(other)) return JSON.stringify(other);
  const near = nearestName(name, names);
  if (near !== undefined) return JSON.stringify(near);
  return elsewhere(name);
}

function elsewhere(name: string): string | undefined {
  const places = configFields()
    .map(({ path }) => path)
    .filter((path) => path.endsWith(`.${name}`) && !path.includes('[]'));
  const least = Math.min(...places.map((path) => path.split('.').length));
  const found = places.filter((path) => path.split('.').length === least);
  return found.length === 0 || found.length > 3 ? undefined : found.map((path) => JSON.stringify(path)).join(' or ');
}
