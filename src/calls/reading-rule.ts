/** A rule of reading as data; `reading-rules.test.ts` holds texts that each matches and texts that it passes over. */
export interface ReadingRule {
  /** Unique, in kebab case: `coxswain explain` names it. */
  readonly id: string;
  readonly form: RegExp;
}
