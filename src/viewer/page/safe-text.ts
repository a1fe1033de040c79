/** Colours and moves of a terminal, whole sequences: they say nothing here. */
const TERMINAL_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-Z\\^-~]/g;

/** What reorders or hides text, and control characters but for line breaks and tabs. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const HAS_ANY =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/u;

/**
 * A text of a trajectory as it may be shown: terminal sequences are taken out, line breaks are made `\n`, and each character
 * that would reorder or hide what stands around it is shown by its number, such as `⟨U+202E⟩`.
 *
 * Cost: linear in the text; one look where there is nothing to change.
 */
export function safeText(text: string): string {
  if (!HAS_ANY.test(text)) return text;
  return text.replaceAll('\r\n', '\n').replaceAll(TERMINAL_SEQUENCES, '').replaceAll(UNSEEN, named).toWellFormed();
}

/** The same in one line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .trim();
}

function named(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  return `⟨U+${number.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
