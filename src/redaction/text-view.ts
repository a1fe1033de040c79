/** A text as it reads once colours are gone and escapes are resolved, and where each of its characters stands in the original. */
export interface TextView {
  readonly text: string;
  /** By character of `text`, where it begins in the original; one more for the end. */
  readonly offsets: Uint32Array;
}

/** Colours; references of HTML; escapes of JSON for marks; percent escapes of ASCII, escaped any number of times. */
const ESCAPE =
  /(?:\u001B|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]{0,20}[A-Za-z]|&(?:quot|apos|amp|lt|gt|#34|#39|#x27|#x22);|\\u00(?:22|26|27|3[aAcCdDeE])|%(?:25){0,4}[0-7][0-9A-Fa-f]/g;

const REFERENCES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
};

/** Whether an escape begins at `at` that may hide a secret; escaped blanks and slashes alone do not. */
export function beginsEscape(text: string, at: number): boolean {
  const next = text.charAt(at + 1);
  switch (text.charAt(at)) {
    case '\u001B':
      return next === '[';
    case '[':
      return /\\(?:u001[bB]|x1[bB]|033|e)$/.test(text.slice(Math.max(0, at - 6), at));
    case '%':
      return /^(?:25){0,4}(?:22|27|3[0-9AaDd]|40|0[Aa]|2[Dd]|[4-7][0-9A-Fa-f])/.test(text.slice(at + 1, at + 11));
    case '&':
      return /^(?:quot|#34|#39|#x2[27]|apos);/.test(text.slice(at + 1, at + 6));
    case '\\':
      return /^u00(?:22|27|3[aAdD])/.test(text.slice(at + 1, at + 6));
    default:
      return false;
  }
}

/** Cost: one pass, and four bytes a character. */
export function viewText(text: string): TextView {
  const offsets = new Uint32Array(text.length + 1);
  let view = '';
  let done = 0;
  const keep = (part: string, from: number, isWhole: boolean): void => {
    for (let at = 0; at < part.length; at += 1) offsets[view.length + at] = isWhole ? from : from + at;
    view += part;
  };
  for (const { 0: escape, index } of text.matchAll(ESCAPE)) {
    keep(text.slice(done, index), done, false);
    keep(meaningOf(escape), index, true);
    done = index + escape.length;
  }
  keep(text.slice(done), done, false);
  offsets[view.length] = text.length;
  return { text: view, offsets };
}

function meaningOf(escape: string): string {
  if (escape.startsWith('&')) return REFERENCES[escape] ?? (/[34x]4|22/.test(escape) ? '"' : "'");
  if (escape.startsWith('%')) return String.fromCharCode(Number.parseInt(escape.slice(-2), 16));
  return /^\\u00[23]/.test(escape) ? String.fromCharCode(Number.parseInt(escape.slice(-2), 16)) : '';
}
