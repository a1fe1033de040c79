/** A rule that matches text. `reading-rules.test.ts` has examples of matching and non-matching texts. */
export interface ReadingRule {
  /** Unique id in kebab case. `coxswain explain` prints it. */
  readonly id: string;
  readonly form: RegExp;
}
