import { isAscii } from '../../base/is-ascii.ts';

/** Words of printable ASCII with one space between, as most texts are: there is nothing to clean. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/**
 * A text without what a reader does not see: control and bidirectional characters, half surrogate pairs. Line breaks
 * become `\n`; the joiners that emoji and some scripts need stay.
 *
 * Cost: one pass over most texts, three over others.
 */
export function cleanText(text: string): string {
  if (PLAIN_LINE.test(text)) return text;
  return withoutUnseen(text.replaceAll(/\r\n?/g, '\n')).trim();
}

/** The same on one line. */
export function cleanLine(text: string): string {
  return PLAIN_LINE.test(text) ? text : cleanText(text).replaceAll(/\s+/g, ' ');
}

/** Control characters but tab and line feed; marks that reorder or hide text; tag characters; half characters. */
function withoutUnseen(text: string): string {
  // The classes of Unicode take a short-lived process a millisecond to compile, and most text needs none of them.
  if (isAscii(text)) return text.replaceAll(/[\x00-\x08\x0B-\x1F\x7F]/g, '');
  return text.replaceAll(/[^\P{Cc}\t\n]|[^\P{Cf}\u200C\u200D]|\p{Cs}/gu, '');
}
