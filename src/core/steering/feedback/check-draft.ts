import { isJsonObject } from '../../base/json.ts';
import { type Observation, SEVERITIES, type Severity } from '../../records/feedback.ts';
import type { PatternReference } from '../../records/guidance.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';

/** Maximum characters of each text in a draft, and of the complete rendered text. */
export const MAX_FEEDBACK_CHARS = 2_000;
const MAX_ITEMS = 20;
const LEVELS: readonly PatternLevel[] = ['hint', 'warn', 'strong'];

/** A copy of a draft with all defaults. */
export interface CheckedDraft {
  readonly summary: string;
  readonly severity: Severity;
  readonly observations: readonly Observation[];
  readonly suggestions: readonly string[];
  readonly pattern?: PatternReference;
}

/** Thrown for an invalid draft. Code outside this folder never sees it. */
export class InvalidDraft extends Error {}

/**
 * Decodes the response of a provider.
 *
 * @throws InvalidDraft for the first part that has the wrong type, is empty or is too long
 */
export function checkDraft(answer: unknown): CheckedDraft {
  if (!isJsonObject(answer)) throw new InvalidDraft(`expected { summary, … }, got ${describeValue(answer)}`);
  const pattern = answer['pattern'];
  return {
    summary: requireText('summary', answer['summary']),
    severity: requireSeverity(answer['severity'] ?? 'info'),
    observations: requireList('observations', answer['observations'] ?? []).map(requireObservation),
    suggestions: requireList('suggestions', answer['suggestions'] ?? []).map((item, index) =>
      requireLine(`suggestions[${index}]`, item),
    ),
    ...(pattern === undefined ? {} : { pattern: requireReference(pattern) }),
  };
}

function requireText(path: string, value: unknown): string {
  if (typeof value !== 'string') throw new InvalidDraft(`${path} must be a string, got ${describeValue(value)}`);
  if (value.length > MAX_FEEDBACK_CHARS) {
    throw new InvalidDraft(`${path} has ${value.length} characters, at most ${MAX_FEEDBACK_CHARS} are allowed`);
  }
  // Parsers of some hosts reject a lone surrogate.
  const text = value.toWellFormed().trim();
  if (text === '') throw new InvalidDraft(`${path} is empty`);
  return text;
}

/** Puts the text on one line. */
function requireLine(path: string, value: unknown): string {
  return requireText(path, value).replaceAll(/\s+/g, ' ');
}

function requireList(path: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidDraft(`${path} must be a list, got ${describeValue(value)}`);
  if (value.length > MAX_ITEMS)
    throw new InvalidDraft(`${path} has ${value.length} items, at most ${MAX_ITEMS} are allowed`);
  return value;
}

function requireSeverity(value: unknown): Severity {
  const severity = SEVERITIES.find((item) => item === value);
  if (severity === undefined)
    throw new InvalidDraft(`severity must be info, caution or warning, got ${describeValue(value)}`);
  return severity;
}

function requireObservation(value: unknown, index: number): Observation {
  const path = `observations[${index}]`;
  if (!isJsonObject(value)) throw new InvalidDraft(`${path} must be an object, got ${describeValue(value)}`);
  const { evidence } = value;
  return {
    category: requireLine(`${path}.category`, value['category']),
    description: requireLine(`${path}.description`, value['description']),
    ...(evidence === undefined ? {} : { evidence: requireText(`${path}.evidence`, evidence) }),
  };
}

function requireReference(value: unknown): PatternReference {
  if (!isJsonObject(value)) throw new InvalidDraft(`pattern must be an object, got ${describeValue(value)}`);
  const level = LEVELS.find((item) => item === value['level']);
  const { occurrences } = value;
  if (level === undefined) throw new InvalidDraft('pattern.level must be hint, warn or strong');
  if (typeof occurrences !== 'number' || !Number.isFinite(occurrences)) {
    throw new InvalidDraft('pattern.occurrences must be a number');
  }
  return { identity: requireText('pattern.identity', value['identity']), level, occurrences };
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Promise) return 'a promise (providers are synchronous)';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value;
}
