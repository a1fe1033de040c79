import { safeText } from '../base/shown-text.ts';

const MAX_PATH_CHARS = 200;
const MAX_MESSAGE_CHARS = 500;

/** An error in a configuration. Plain JSON. */
export interface ConfigProblem {
  /** The field, such as `guidance.doomLoop.maxRepetitions` or `feedback.static[0].name`; empty: the file as a whole. */
  readonly path: string;
  /** The value found, and the values allowed. */
  readonly message: string;
  /** The value probably intended, if known. */
  readonly suggestion?: string;
  /**
   * - `syntax`: the text is not JSON
   * - `unknown-field`: there is no such field
   * - `value`: the value has a wrong type or is out of range
   * - `together`: each value is valid, but they conflict
   * - `file`: the file cannot be read, or its code fails
   */
  readonly kind: 'syntax' | 'unknown-field' | 'value' | 'together' | 'file';
  /** Absent if the configuration did not come from a file. */
  readonly file?: string;
  /** For `syntax`: from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** A problem safe for logs and terminals: text from a file is bounded and has no control characters. */
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
