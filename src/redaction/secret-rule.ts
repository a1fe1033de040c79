/** A form of secret. The scanner tries the expression only where one of the keywords stands, so a rule costs nothing elsewhere. */
export interface SecretRule {
  /** What placeholders show and `off` names; several rules may share one. */
  readonly id: string;
  /** Literal and case-sensitive. A dot alone is a keyword only for forms that have nothing else in common. */
  readonly keywords: readonly string[];
  /**
   * Source of an expression that must match right after the keyword. The secret is keyword and match. A group `before`, in a
   * look-behind, is added in front; a group `secret`, at the end of the match, is the secret alone. What may fail late is bounded,
   * so that the time grows with the text only.
   */
  readonly expression: string;
  /** Whether the secret must begin where a word may begin. */
  readonly atWord: boolean;
  /** The last word on a match. */
  readonly check?: (secret: string) => boolean;
  /** Where the secret ends that the expression only opens; undefined where there is no secret. */
  readonly endOf?: (text: string, from: number) => number | undefined;
  /**
   * What follows the first keyword, or with `@` the whole text in which `@` stands for the keyword. Recipes
   * (`test/support/secret-recipe.ts`), so that no text of this project looks like a secret.
   */
  readonly matches: readonly string[];
  readonly misses: readonly string[];
}

/** Prefixes of up to four characters may end a longer word; these do not. */
const TELLING = new Set(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_']);

type RuleRow = readonly [id: string, keywords: string, expression: string, match: string, miss: string];

/** A rule in one line: id, keywords parted by blanks, expression, an example that matches and one that does not. */
export function rule(...[id, keywords, expression, match, miss]: RuleRow): SecretRule {
  const words = keywords.split(' ');
  const atWord = words.some((word) => word.length < 5 && !TELLING.has(word));
  return { id, keywords: words, expression, atWord, matches: [match], misses: [miss] };
}
