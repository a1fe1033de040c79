import { isAscii } from '../../base/is-ascii.ts';

/** Matches ASCII words separated by single spaces, without any of the characters below. Most names match. */
const HARMLESS_LINE = /^[!-;=?-Z\\^_a-}]+(?: [!-;=?-Z\\^_a-}]+)*$/;
const ASCII_BLANKS = /[\x00-\x20\x7F]+/g;
const TILDE_FENCE = /~{3,}/g;
/** Characters that could end a quotation, open a tag or imitate a heading, and their replacements. */
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
 * Makes text from the agent's calls (a tool name, a path, a line of output) safe to insert into a sentence for the model.
 * The result is one line without invisible characters, backticks, tags, fences or brackets.
 *
 * @param maxChars  maximum UTF-16 units, from 1; a longer text ends in `…`
 *
 * Cost: one pass over most names, else a few passes over at most `4 * maxChars + 256` units.
 */
export function slotText(value: string, maxChars: number): string {
  if (value.length <= maxChars && HARMLESS_LINE.test(value)) return value;
  const line = withoutHiddenCharacters(value.slice(0, 4 * maxChars + 256))
    .replace(TILDE_FENCE, '~')
    .replace(DELIMITERS, (found) => HARMLESS[found] ?? ' ')
    .trim();
  if (line.length <= maxChars) return line;
  return `${line.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Removes characters that are invisible or reorder text (bidi marks, zero-width and tag characters, lone surrogates). */
function withoutHiddenCharacters(text: string): string {
  // Compiling Unicode classes takes 1 ms, which matters in a short-lived process.
  if (isAscii(text)) return text.replace(ASCII_BLANKS, ' ');
  return text
    .replace(/[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Variation_Selector}]+/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ');
}
