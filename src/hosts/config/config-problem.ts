import { safeText } from '../../core/base/printable.ts';

const MAX_PATH_CHARS = 200;
const MAX_MESSAGE_CHARS = 500;

/** An error in a configuration. Plain JSON. */
export interface ConfigProblem {
  /** Such as `guidance.doomLoop.maxRepetitions` or `feedback.static[0].name`. Empty for the whole file. */
  readonly path: string;
  /** The invalid value and the allowed values. */
  readonly message: string;
  /** A suggested value, if one is known. */
  readonly suggestion?: string;
  /**
   * - `syntax`: the text is not JSON
   * - `unknown-field`: the field does not exist
   * - `value`: the type or the range of the value is wrong
   * - `together`: each value is valid, but the combination is not
   * - `file`: the file cannot be read, or its code throws an error
   */
  readonly kind: 'syntax' | 'unknown-field' | 'value' | 'together' | 'file';
  /** Absent if the configuration did not come from a file. */
  readonly file?: string;
  /** Line number from 1; only for the kind `syntax`. */
  readonly line?: number;
  readonly column?: number;
}

/** Makes a problem safe for logs and terminals: limits the length of text from a file and removes control characters. */
export function shownProblem(problem: ConfigProblem): ConfigProblem {
  const shownPart = (text: string, chars: number): string =>
    safeText(text.slice(0, chars)).replaceAll('\n', '⏎').replaceAll('\t', ' ');
  const { path, message, suggestion } = problem;
  return {
    ...problem,
    path: shownPart(path, MAX_PATH_CHARS),
    message: shownPart(message, MAX_MESSAGE_CHARS),
    ...(suggestion === undefined ? {} : { suggestion: shownPart(suggestion, MAX_PATH_CHARS) }),
  };
}

/** Returns the problem in one line, without the file: `guidance.doomLoop: …; did you mean …?` */
export function problemText({ path, message, suggestion }: ConfigProblem): string {
  const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  return `${path === '' ? '' : `${path}: `}${message}${hint}`;
}
