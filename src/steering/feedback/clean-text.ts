import { isAscii } from '../../base/is-ascii.ts';

/** Matches printable ASCII words separated by single spaces. Most texts match, and they need no cleaning. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Removes invisible characters: control and bidirectional characters, and lone surrogates. Line breaks become `\n`. Joiners
 * are kept, because emoji and some scripts need them.
 *
 * Cost: one pass over most texts, three over others.
 */
export function cleanText(text: string): string {
  if (PLAIN_LINE.test(text)) return text;
  return removeInvisible(text.replaceAll(/\r\n?/g, '\n')).trim();
}

/** Cleans a text and puts it on one line. */
export function cleanLine(text: string): string {
  return PLAIN_LINE.test(text) ? text : cleanText(text).replaceAll(/\s+/g, ' ');
}

/**
 * Removes control characters except tab and line feed. Also removes marks that reorder or hide text, tag characters, and
 * lone surrogates.
 */
function removeInvisible(text: string): string {
  // Compiling Unicode classes takes 1 ms, which matters in a short-lived process.
  if (isAscii(text)) return text.replaceAll(/[\x00-\x08\x0B-\x1F\x7F]/g, '');
  return text.replaceAll(/[^\P{Cc}\t\n]|[^\P{Cf}\u200C\u200D]|\p{Cs}/gu, '');
}
