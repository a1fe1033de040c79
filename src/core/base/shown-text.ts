/** Matches complete terminal escape sequences. `unseen` matches the escape character of an incomplete sequence. */
export const TERMINAL_SEQUENCES: RegExp =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-Z\\^-~]/g;

/** Control characters from U+007F on, marks that reorder text, characters without width, tags. */
const UNSEEN_RANGES = String.raw`\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;

/**
 * Matches invisible characters: control characters, marks that reorder text, zero-width characters, and tags. Terminals and
 * pages both use this list.
 *
 * @param keptClasses  allowed control characters, such as `\t\n`
 */
export function unseen(keptClasses = ''): RegExp {
  return new RegExp(`[${classOf(keptClasses)}]`, 'gu');
}

function classOf(keptCharacters: string): string {
  const controls = Array.from({ length: 32 }, (_, unit) => String.fromCharCode(unit));
  return controls.filter((control) => !keptCharacters.includes(control)).join('') + UNSEEN_RANGES;
}

const UNSEEN = unseen('\t\n');
const HAS_ANY = new RegExp(String.raw`[${classOf('\t\n')}\ud800-\udfff]`, 'u');

/**
 * Makes an untrusted text safe to display. It removes terminal sequences and normalises line breaks. It replaces each
 * character that would reorder or hide others by its code point, such as `⟨U+202E⟩`. It does not escape HTML.
 *
 * Cost: linear; one pass if nothing changes.
 */
export function safeText(text: string): string {
  if (!HAS_ANY.test(text)) return text;
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(TERMINAL_SEQUENCES, '')
    .replaceAll(UNSEEN, namedCharacter)
    .toWellFormed();
}

function namedCharacter(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  return `⟨U+${number.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
