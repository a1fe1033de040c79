import { isAscii } from '../../base/is-ascii.ts';

/** Printable ASCII words separated by single spaces: most texts, which need no cleaning. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Removes invisible characters: control and bidirectional characters, lone surrogates. Line breaks become `\n`; joiners,
 * which emoji and some scripts need, stay.
 *
 * Cost: one pass over most texts, three over others.
 */
export function cleanText(text: string): string {
  if (PLAIN_LINE.test(text)) return text;
  return withoutUnseen(text.replaceAll(/\r\n?/g, '\n')).trim();
}

/** The same, on one line. */
export function cleanLine(text: string): string {
  return PLAIN_LINE.test(text) ? text : cleanText(text).replaceAll(/\s+/g, ' ');
}

/** Removes control characters except tab and line feed, marks that reorder or hide text, tag characters, lone surrogates. */
function withoutUnseen(text: string): string {
  // Unicode classes take 1 ms to compile, which matters in a short-lived process.
  if (isAscii(text)) return text.replaceAll(/[\x00-\x08\x0B-\x1F\x7F]/g, '');
  return text.replaceAll(/[^\P{Cc}\t\n]|[^\P{Cf}\u200C\u200D]|\p{Cs}/gu, '');
}
