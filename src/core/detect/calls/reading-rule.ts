/** A rule that matches text. `reading-rules.test.ts` has examples of matching and non-matching texts. */
export interface ReadingRule {
  /** Unique id in kebab case. `coxswain show RUN --call N` prints it. */
  readonly id: string;
  readonly form: RegExp;
}

export interface QuickRule extends ReadingRule {
  /** Matches every text that `form` matches, and takes a fraction of its time. Default: no such test. */
  readonly mentions?: RegExp;
}
