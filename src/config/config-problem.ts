import { safeText } from '../base/shown-text.ts';

const MAX_PATH_CHARS = 200;
const MAX_MESSAGE_CHARS = 500;

/** One thing that is wrong with a configuration. Plain JSON. */
export interface ConfigProblem {
  /** The field, such as `guidance.doomLoop.maxRepetitions` or `feedback.static[0].name`; empty: the file as a whole. */
  readonly path: string;
  /** What is wrong: what was found, and what is allowed. */
  readonly message: string;
  /** What was probably meant, where that can be told. */
  readonly suggestion?: string;
  /**
   * - `syntax`: the text is no JSON
   * - `unknown-field`: there is no such field
   * - `value`: the value is of a wrong type or out of range
   * - `together`: each value is fine, and they do not fit each other
   * - `file`: the file cannot be read, or its code fails
   */
  readonly kind: 'syntax' | 'unknown-field' | 'value' | 'together' | 'file';
  /** The file; absent for what was no file. */
  readonly file?: string;
  /** For `syntax`: 1-based. */
  readonly line?: number;
  readonly column?: number;
}

/** A problem as logs and terminals may show it: names and values from a file are bounded and have no control characters. */
export function shownProblem(problem: ConfigProblem): ConfigProblem {
  const shown = (text: string, chars: number): string =>
    safeText(text.slice(0, chars)).replaceAll('\n', '⏎').replaceAll('\t', ' ');
  const { path, message, suggestion } = problem;
  return {
    ...problem,
    path: shown(path, MAX_PATH_CHARS),
    message: shown(message, MAX_MESSAGE_CHARS),
    ...(suggestion === undefined ? {} : { suggestion: shown(suggestion, MAX_PATH_CHARS) }),
  };
}

/** The problem in one line, without the file: `guidance.doomLoop: …; did you mean …?` */
export function problemText({ path, message, suggestion }: ConfigProblem): string {
  const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  return `${path === '' ? '' : `${path}: `}${message}${hint}`;
}
