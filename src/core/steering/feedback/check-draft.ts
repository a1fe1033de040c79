import { isJsonObject } from '../../base/json.ts';
import {
  type Observation,
  SEVERITIES,
  type Severity,
  type SpokenAdvice,
  type StoredAssessment,
  type StoredFeedback,
  type PatternReference,
  type GuidanceInjection,
} from '../../records/spoken-advice.ts';
import type { PatternLevel } from '../../records/trajectory-pattern.ts';
import { invalidDefinition } from '../../base/error.ts';
import type { FeedbackDraft } from '../prompt/feedback-provider.ts';
import type { GuidanceDraft } from '../prompt/guidance-provider.ts';

export type InjectionProblem = 'invalid-key' | 'invalid-content' | 'invalid-priority' | 'invalid-category';

const KEY = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MAX_CONTENT_CHARS = 500;
const MAX_CATEGORY_CHARS = 64;
const DEFAULT_PRIORITY = 100;

type DraftParts = { readonly [Part in keyof GuidanceDraft]: GuidanceDraft[Part] | undefined } & Pick<
  GuidanceDraft,
  'key' | 'content'
>;

/** Fills in the defaults of a draft: priority 100 and the given category. */
export function completeDraft(draft: DraftParts, category: string): GuidanceInjection {
  return {
    key: draft.key,
    content: draft.content,
    priority: draft.priority ?? DEFAULT_PRIORITY,
    category: draft.category ?? category,
  };
}

/** A key, content (1 to 500 code points), a priority (a whole number) and a category (1 to 64 code points). */
export function injectionProblem(injection: GuidanceInjection): InjectionProblem | undefined {
  const { key, content, priority, category } = injection;
  if (!KEY.test(key)) return 'invalid-key';
  if (content === '' || longerThan(content, MAX_CONTENT_CHARS)) return 'invalid-content';
  if (!Number.isSafeInteger(priority)) return 'invalid-priority';
  return category === '' || longerThan(category, MAX_CATEGORY_CHARS) ? 'invalid-category' : undefined;
}

export function checkInjection(injection: GuidanceInjection): GuidanceInjection {
  const problem = injectionProblem(injection);
  if (problem === undefined) return injection;
  const { key, content, priority, category } = injection;
  const shownValues = {
    'invalid-key': key,
    'invalid-content': content,
    'invalid-priority': priority,
    'invalid-category': category,
  };
  const got = JSON.stringify(shownValues[problem]).slice(0, 80);
  throw invalidDefinition(`guidance ${JSON.stringify(key)}: ${RULES[problem]}, got ${got}`, { key, problem });
}

const RULES: Readonly<Record<InjectionProblem, string>> = {
  'invalid-key': 'the key must be 1 to 64 of a-z, 0-9, ".", "_", "-", beginning with a letter or digit',
  'invalid-content': 'the content must have 1 to 500 characters',
  'invalid-priority': 'the priority must be a whole number',
  'invalid-category': 'the category must have 1 to 64 characters',
};

function longerThan(text: string, maxChars: number): boolean {
  // A code point has one or two units, so code points are rarely counted.
  if (text.length <= maxChars) return false;
  return text.length > 2 * maxChars || Array.from(text).length > maxChars;
}

export const MAX_FEEDBACK_CHARS = 2_000;
const MAX_ITEMS = 20;
const LEVELS: readonly PatternLevel[] = ['hint', 'warn', 'strong'];

/** A copy of a draft with all defaults. */
export type CheckedDraft = FeedbackDraft & Required<Omit<FeedbackDraft, 'pattern'>>;

/** Thrown for an invalid draft. Code outside this folder never sees it. */
export class InvalidDraft extends Error {}

/** @throws InvalidDraft for the first part that has the wrong type, is empty or is too long */
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

type Rendered<Advice extends SpokenAdvice, Name extends keyof Advice> = Pick<Advice, Name | 'summary'> &
  Partial<Pick<Advice, 'observations' | 'suggestions'>>;

/** Renders feedback for the agent: heading, summary, observations, suggestions. */
export function renderFeedback(feedback: Rendered<StoredFeedback, 'providerName'>): string {
  return render(`[Feedback - ${feedback.providerName}]`, feedback);
}

/** Renders an assessment in the same way, with its own heading. */
export function renderAssessment(assessment: Rendered<StoredAssessment, 'observerName'>): string {
  return render(`[Trajectory Assessment - ${assessment.observerName}]`, assessment);
}

function render(
  heading: string,
  { summary, observations = [], suggestions = [] }: Rendered<SpokenAdvice, 'summary'>,
): string {
  const lines = [heading, '', summary];
  if (observations.length > 0) {
    lines.push('', ...observations.map(({ category, description }) => `• ${category}: ${description}`));
  }
  if (suggestions.length > 0) lines.push('', ...suggestions.map((suggestion) => `→ ${suggestion}`));
  return lines.join('\n');
}
