/** Matches complete terminal escape sequences. `unseen` matches the escape character of an incomplete sequence. */
const TERMINAL_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-Z\\^-~]/g;

/** Removes colours and other sequences for a terminal. */
export function withoutTerminalSequences(text: string): string {
  return text.includes('\u001b') ? text.replaceAll(TERMINAL_SEQUENCES, '') : text;
}

/** Control characters from U+007F on, marks that reorder text, characters without width, tags. */
const UNSEEN_RANGES = String.raw`\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;

/** Terminals and pages both use this list. `keptClasses`: allowed control characters, such as `\t\n`. */
export function unseen(keptClasses = ''): RegExp {
  return new RegExp(`[${classOf(keptClasses)}]`, 'gu');
}

function classOf(keptCharacters: string): string {
  const controls = Array.from({ length: 32 }, (_, unit) => String.fromCharCode(unit));
  return controls.filter((control) => !keptCharacters.includes(control)).join('') + UNSEEN_RANGES;
}

const HIDDEN_CHARACTERS = unseen('\t\n');
const HAS_ANY = new RegExp(String.raw`[${classOf('\t\n')}\ud800-\udfff]`, 'u');

/** Removes terminal sequences, normalises line breaks, and shows hidden or reordering characters. Does not escape HTML. */
export function safeText(text: string): string {
  if (!HAS_ANY.test(text)) return text;
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(TERMINAL_SEQUENCES, '')
    .replaceAll(HIDDEN_CHARACTERS, namedCharacter)
    .toWellFormed();
}

function namedCharacter(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  return `⟨U+${number.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

const UNSEEN = unseen();

/** Line breaks become `⏎`, tabs a blank. Cost: linear in the length of the text. Truncate long texts first. */
export function printable(text: string): string {
  return text
    .replaceAll(/\r\n|[\n\r\u2028\u2029]/g, '⏎')
    .replaceAll('\t', ' ')
    .replaceAll(TERMINAL_SEQUENCES, '')
    .replaceAll(UNSEEN, '')
    .toWellFormed();
}

/** Applies `printable` and truncates the text to `chars` UTF-16 code units, with `…` at the end. */
export function printableCut(text: string, chars: number): string {
  const shown = printable(text.slice(0, 4 * chars));
  return shown.length <= chars ? shown : `${shown.slice(0, chars - 1).toWellFormed()}…`;
}

/** A path begins after one of these characters, so that no address is one. */
const LONG_PATH =
  /(?<![^\s"'`(),;=|<>])(?:[A-Za-z]:)?(?:[^\s"'`(),;:=|<>\\/]{0,120}([\\/])){3,}([^\s"'`(),;:=|<>\\/]+)/g;
const PATH_CHARS = 30;

/** Long paths become their last part: `…/screen.ts`. */
export function shortPaths(text: string): string {
  return text.replaceAll(LONG_PATH, (path, slash: string, last: string) =>
    path.length > PATH_CHARS ? `…${slash}${last}` : path,
  );
}

/** Cuts as `printableCut`. Of names that would look alike, the beginning that they share is cut out instead. */
export function distinctCuts(names: readonly string[], chars: number): readonly string[] {
  const alike = Map.groupBy(new Set(names), (name) => printableCut(name, chars));
  return names.map((name) => {
    const cut = printableCut(name, chars);
    const others = alike.get(cut) ?? [];
    if (others.length < 2) return cut;
    const { length } = others.reduce(sharedPart);
    const rests = others.map((one) => one.slice(length));
    const rest = distinctCuts(rests, chars)[others.indexOf(name)] ?? '';
    return `${printable(name.slice(0, chars / 2)).slice(0, chars / 2 - 1)}…${rest}`;
  });
}

/** Returns the beginning that two texts share. */
export function sharedPart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

/** Characters that `printable` removes become `\u` escapes, so parsing returns the same value. */
export function jsonLine(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/** Version of the JSON that commands print. It increases when a field is removed or changes its meaning. */
const OUTPUT_SCHEMA = 2;

export function outputLine(value: object): string {
  return jsonLine({ schema: OUTPUT_SCHEMA, ...value });
}

/** For JSON text without line breaks. Tabs between tokens are kept. */
export function printableJson(json: string): string {
  return `${json.replaceAll(UNSEEN, (character) => (character === '\t' ? character : escaped(character)))}\n`;
}

function escaped(character: string): string {
  let text = '';
  for (let index = 0; index < character.length; index += 1) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return text;
}
