/** A rule that reads text; `reading-rules.test.ts` has examples that match and examples that do not. */
export interface ReadingRule {
  /** Unique, in kebab case: `coxswain explain` names it. */
  readonly id: string;
  readonly form: RegExp;
}
