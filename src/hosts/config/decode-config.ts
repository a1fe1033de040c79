import { checkTogether } from './check-together.ts';
import { configFields } from './config-fields.ts';
import type { ConfigProblem } from './config-problem.ts';
import { configShape } from './config-shape.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { decodeShape } from './decode-shape.ts';
import { readJson } from './read-json.ts';
import { nearestName } from '../../core/base/nearest-name.ts';

/** A valid configuration, or up to 100 problems. */
export type DecodedConfig = { readonly config: CoxswainConfig } | { readonly problems: readonly ConfigProblem[] };

/**
 * Decodes a configuration and checks it completely. A run can start with the returned configuration.
 *
 * @param json  the result of `JSON.parse`
 * Cost: one traversal of the value.
 */
export function decodeConfig(json: unknown): DecodedConfig {
  const { config, problems } = readConfig(json);
  if (problems.length > 0) return { problems };
  const checked = checkTogether(config);
  return checked.problems.length > 0 ? { problems: checked.problems } : { config: checked.config };
}

/** The valid part of a configuration, and the problems of the invalid part. */
export interface ConfigReading {
  readonly config: CoxswainConfig;
  readonly problems: readonly ConfigProblem[];
}

/** Decodes the fields of one file and checks each field on its own. `checkTogether` checks the merged files. */
export function readConfig(json: unknown): ConfigReading {
  const problems: ConfigProblem[] = [];
  const decoded = decodeShape(json, configShape, { report: (problem) => problems.push(problem), suggestName });
  // `satisfies ShapesOf` guarantees that the shape matches the type.
  return { config: decoded ?? {}, problems };
}

/** Like `readConfig`, for the text of a file. Comments are allowed. Syntax problems contain line and column numbers. */
export function readConfigText(text: string): ConfigReading {
  const reading = readJson(text);
  if ('value' in reading) return readConfig(reading.value);
  const { message, line, column } = reading;
  return {
    config: {},
    problems: [{ path: '', kind: 'syntax', message: `line ${line}, column ${column}: ${message}`, line, column }],
  };
}

/** Names of patterns that another detector finds: `cycle` also finds `ping_pong`. */
const OTHER_NAMES: Readonly<Record<string, string>> = { ping_pong: 'cycle', pingPong: 'cycle' };

/** Suggests a similar name at the same level, or the path of a field with this name. */
function suggestName(name: string, names: readonly string[]): string | undefined {
  const otherName = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  if (otherName !== undefined && names.includes(otherName)) return JSON.stringify(otherName);
  const nearName = nearestName(name, names);
  if (nearName !== undefined) return JSON.stringify(nearName);
  return otherPlace(name);
}

function otherPlace(name: string): string | undefined {
  const places = configFields()
    .map(({ path }) => path)
    .filter((path) => path.endsWith(`.${name}`) && !path.includes('[]'));
  const fewestParts = Math.min(...places.map((path) => path.split('.').length));
  const shortestPlaces = places.filter((path) => path.split('.').length === fewestParts);
  return shortestPlaces.length === 0 || shortestPlaces.length > 3
    ? undefined
    : shortestPlaces.map((path) => JSON.stringify(path)).join(' or ');
}
