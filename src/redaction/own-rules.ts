import { CoxswainError, messageOf } from '../base/error.ts';
import { placeholderEnd, placeholderOf } from './secret-span.ts';

/** A rule of a user's own: a pattern, or a function that finds stretches. */
export interface RedactionRule {
  /** Small letters, digits and `-`, at most 40; it stands in the placeholder. */
  readonly name: string;
  /** Every match is replaced. Keep it linear: no quantifier inside a repeated group. */
  readonly pattern?: RegExp;
  /**
   * Gives the stretches to replace, `end` exclusive; synchronous. When it throws, or gives what is no stretch of the text, the
   * whole text is replaced.
   */
  readonly find?: (text: string) => readonly { readonly start: number; readonly end: number }[];
}

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** @throws CoxswainError "invalid-definition" for a name out of form or given twice, or a rule without exactly one way to find */
export function checkOwnRules(rules: readonly RedactionRule[], taken: ReadonlySet<string>): void {
  const names = new Set(taken);
  for (const { name, pattern, find } of rules) {
    const fault = !NAME.test(name)
      ? 'needs a name of small letters, digits and "-"'
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

/** How a rule of a user's own is applied. */
export interface OwnRuleOptions {
  readonly allows: (secret: string) => boolean;
  /** Told when a rule fails. */
  readonly onFault: (rule: string, message: string) => void;
}

/**
 * The text with what the rules find replaced, the rules in order. What already is a placeholder is not shown to them. A rule that
 * fails replaces the whole text: what it would have found is not known.
 */
export function applyOwnRules(text: string, rules: readonly RedactionRule[], options: OwnRuleOptions): string {
  let redacted = text;
  for (const rule of rules) {
    try {
      redacted = betweenPlaceholders(redacted, (piece) => applyRule(piece, rule, options));
    } catch (error) {
      options.onFault(rule.name, messageOf(error));
      return placeholderOf('rule-failed');
    }
  }
  return redacted;
}

function betweenPlaceholders(text: string, change: (piece: string) => string): string {
  let at = text.indexOf('[REDACTED:');
  if (at < 0) return text === '' ? text : change(text);
  let made = '';
  let done = 0;
  while (at >= 0) {
    const end = placeholderEnd(text, at);
    if (end >= 0) {
      if (at > done) made += change(text.slice(done, at));
      made += text.slice(at, end);
      done = end;
    }
    at = text.indexOf('[REDACTED:', end < 0 ? at + 1 : end);
  }
  return done < text.length ? made + change(text.slice(done)) : made;
}

function applyRule(text: string, rule: RedactionRule, options: OwnRuleOptions): string {
  let made = '';
  let done = 0;
  for (const { start, end } of stretchesOf(text, rule)) {
    const isStretch =
      Number.isInteger(start) && Number.isInteger(end) && start >= done && end >= start && end <= text.length;
    if (!isStretch) throw new Error(`gave the stretch ${start} to ${end} of a text of ${text.length}, after ${done}`);
    const secret = text.slice(start, end);
    if (secret === '' || options.allows(secret)) continue;
    made += text.slice(done, start) + placeholderOf(rule.name);
    done = end;
  }
  return done === 0 ? text : made + text.slice(done);
}

function stretchesOf(text: string, rule: RedactionRule): readonly { readonly start: number; readonly end: number }[] {
  if (rule.find !== undefined) return rule.find(text);
  const { pattern } = rule;
  if (pattern === undefined) return [];
  // A pattern of the user's own keeps a position; a copy does not disturb it, and `matchAll` needs the flag.
  const global = new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
  return [...text.matchAll(global)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}
