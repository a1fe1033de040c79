import { CoxswainError } from '../../base/error.ts';
import type { GuidanceInjection } from '../../records/guidance.ts';
import type { GuidanceDraft } from '../prompt/guidance-provider.ts';

export type InjectionProblem = 'invalid-key' | 'invalid-content' | 'invalid-priority' | 'invalid-category';

const KEY = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MAX_CONTENT_CHARS = 500;
const MAX_CATEGORY_CHARS = 64;
const DEFAULT_PRIORITY = 100;

/** A draft whose optional members may be undefined. */
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

/**
 * Returns the first rule that an injection breaks. It must have a key, content (1 to 500 code points), a priority (a whole
 * number) and a category (1 to 64 code points). Returns undefined if the injection is valid.
 */
export function injectionProblem(injection: GuidanceInjection): InjectionProblem | undefined {
  const { key, content, priority, category } = injection;
  if (!KEY.test(key)) return 'invalid-key';
  if (content === '' || longerThan(content, MAX_CONTENT_CHARS)) return 'invalid-content';
  if (!Number.isSafeInteger(priority)) return 'invalid-priority';
  return category === '' || longerThan(category, MAX_CATEGORY_CHARS) ? 'invalid-category' : undefined;
}

/** @throws CoxswainError "invalid-definition" if the injection is invalid (`details.problem`) */
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
  throw new CoxswainError(
    'invalid-definition',
    `guidance ${JSON.stringify(key)}: ${RULES[problem]}, got ${JSON.stringify(shownValues[problem]).slice(0, 80)}`,
    { details: { key, problem } },
  );
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
