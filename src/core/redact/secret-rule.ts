/** A form of secret. The scanner tries the expression only at one of the keywords. */
export interface SecretRule {
  /** The id in placeholders and in `off`. Several rules may have the same id. */
  readonly id: string;
  /** Literal and case-sensitive. */
  readonly keywords: readonly string[];
  /**
   * Source of an expression that must match right after the keyword. The secret is the keyword and the match. A group `before`, in a
   * look-behind, is prepended; a group `secret`, at the end of the match, is the secret alone. Quantifiers that may fail late are
   * bounded, so that the time is linear.
   */
  readonly expression: string;
  /** True if the secret must start at the beginning of a word. */
  readonly atWord: boolean;
  /** Final check of a match. */
  readonly check?: (secret: string) => boolean;
  /** The end of a secret whose expression only matches the opening; undefined if it is not a secret. */
  readonly endOf?: (text: string, from: number) => number | undefined;
  /**
   * The text after the first keyword, or a whole text with `@` for the keyword. Recipes (`test/support/secret-recipe.ts`), so that
   * the project contains nothing that looks like a secret.
   */
  readonly matches: readonly string[];
  readonly misses: readonly string[];
}

/** Short prefixes that, unlike others of up to four characters, do not end longer words. */
const UNAMBIGUOUS = new Set(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_']);

type RuleRow = readonly [id: string, keywords: string, expression: string, match: string, miss: string];

/** A rule in one line: id, keywords separated by blanks, expression, an example that matches and one that does not. */
export function ruleFromRow(...[id, keywords, expression, match, miss]: RuleRow): SecretRule {
  const words = keywords.split(' ');
  const atWord = words.some((word) => word.length < 5 && !UNAMBIGUOUS.has(word));
  return { id, keywords: words, expression, atWord, matches: [match], misses: [miss] };
}
