import { CoxswainError, messageOf } from '../base/error.ts';
import { placeholderEnd, placeholderOf } from './secret-span.ts';

/** A custom rule: a pattern, or a function that finds spans. */
export interface RedactionRule {
  /** Lower-case letters, digits and `-`, at most 40; shown in the placeholder. */
  readonly name: string;
  /** Every match is replaced. Avoid quantifiers inside repeated groups, which take more than linear time. */
  readonly pattern?: RegExp;
  /**
   * Returns the spans to replace, `end` exclusive; synchronous. If it throws or returns an invalid span, the whole text is
   * replaced.
   */
  readonly find?: (text: string) => readonly { readonly start: number; readonly end: number }[];
}

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** @throws CoxswainError "invalid-definition" for an invalid or duplicate name, or a rule without exactly one of `pattern` and `find` */
export function checkOwnRules(rules: readonly RedactionRule[], builtIn: ReadonlySet<string>): void {
  const names = new Set(builtIn);
  for (const { name, pattern, find } of rules) {
    const fault = !NAME.test(name)
      ? 'needs a name of lower-case letters, digits and "-"'
      : names.has(name)
        ? 'has the name of another rule'
        : (pattern === undefined) === (find === undefined)
          ? 'needs either a pattern or a find function'
          : undefined;
    if (fault !== undefined) {
      throw new CoxswainError('invalid-definition', `the redaction rule ${JSON.stringify(name)} ${fault}`, {
        details: { name },
      });
    }
    names.add(name);
  }
}

/** Options for applying custom rules. */
export interface OwnRuleOptions {
  readonly allows: (secret: string) => boolean;
  /** Called when a rule fails. */
  readonly onFault: (rule: string, message: string) => void;
}

/**
 * Applies custom rules in order. The rules do not see existing placeholders. If a rule fails, the whole text is replaced,
 * because the matches are unknown.
 */
export function applyOwnRules(text: string, rules: readonly RedactionRule[], options: OwnRuleOptions): string {
  let result = text;
  for (const rule of rules) {
    try {
      result = betweenPlaceholders(result, (piece) => applyRule(piece, rule, options));
    } catch (error) {
      options.onFault(rule.name, messageOf(error));
      return placeholderOf('rule-failed');
    }
  }
  return result;
}

function betweenPlaceholders(text: string, change: (piece: string) => string): string {
  let position = text.indexOf('[REDACTED:');
  if (position < 0) return text === '' ? text : change(text);
  let result = '';
  let copiedEnd = 0;
  while (position >= 0) {
    const end = placeholderEnd(text, position);
    if (end >= 0) {
      if (position > copiedEnd) result += change(text.slice(copiedEnd, position));
      result += text.slice(position, end);
      copiedEnd = end;
    }
    position = text.indexOf('[REDACTED:', end < 0 ? position + 1 : end);
  }
  return copiedEnd < text.length ? result + change(text.slice(copiedEnd)) : result;
}

function applyRule(text: string, rule: RedactionRule, options: OwnRuleOptions): string {
  let result = '';
  let copiedEnd = 0;
  for (const { start, end } of spansOf(text, rule)) {
    const isSpan =
      Number.isInteger(start) && Number.isInteger(end) && start >= copiedEnd && end >= start && end <= text.length;
    if (!isSpan)
      throw new Error(`returned the span ${start} to ${end} of a text of ${text.length}, after ${copiedEnd}`);
    const secret = text.slice(start, end);
    if (secret === '' || options.allows(secret)) continue;
    result += text.slice(copiedEnd, start) + placeholderOf(rule.name);
    copiedEnd = end;
  }
  return copiedEnd === 0 ? text : result + text.slice(copiedEnd);
}

function spansOf(text: string, rule: RedactionRule): readonly { readonly start: number; readonly end: number }[] {
  if (rule.find !== undefined) return rule.find(text);
  const { pattern } = rule;
  if (pattern === undefined) return [];
  // A copy leaves the pattern's `lastIndex` unchanged, and `matchAll` needs the flag.
  const global = new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
  return [...text.matchAll(global)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}
