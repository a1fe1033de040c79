import { isAscii } from '../../base/is-ascii.ts';

/** Words of ASCII with one space between and nothing below in them, as most names are. */
const HARMLESS_LINE = /^[!-;=?-Z\\^_a-}]+(?: [!-;=?-Z\\^_a-}]+)*$/;
/** Blanks, line breaks and control characters of ASCII, which has nothing invisible. */
const ASCII_BLANKS = /[\x00-\x20\x7F]+/g;
const TILDE_FENCE = /~{3,}/g;
/** Characters that could end a quotation, open a tag or imitate a head line, and what stands for them. */
const DELIMITERS = /[`<>[\]\uFF1C\uFF1E]/g;
const HARMLESS: Readonly<Record<string, string>> = {
  '`': "'",
  '<': '‹',
  '>': '›',
  '\uFF1C': '‹',
  '\uFF1E': '›',
  '[': '(',
  ']': ')',
};

/**
 * Makes text that came out of a trajectory (a tool's name, a path, a line of output) fit for a slot in a sentence
 * that the model reads: one line, nothing invisible, no backticks, tags, fences or brackets.
 *
 * @param maxChars  most UTF-16 units, from 1; what is longer ends in `…`
 * Cost: one pass over most names, else a few linear passes over at most `4 * maxChars + 256` units.
 */
export function slotText(value: string, maxChars: number): string {
  if (value.length <= maxChars && HARMLESS_LINE.test(value)) return value;
  const line = oneLine(value.slice(0, 4 * maxChars + 256))
    .replace(TILDE_FENCE, '~')
    .replace(DELIMITERS, (found) => HARMLESS[found] ?? ' ')
    .trim();
  if (line.length <= maxChars) return line;
  return `${line.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Without what does not show or changes how the rest shows (bidi marks, zero-width and tag characters, half characters). */
function oneLine(text: string): string {
  // The classes of Unicode take a short-lived process a millisecond to compile, and most text needs none of them.
  if (isAscii(text)) return text.replace(ASCII_BLANKS, ' ');
  return text
    .replace(/[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Variation_Selector}]+/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ');
}
