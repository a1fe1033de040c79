const ERROR_MESSAGE = /\bmessage\\*"?\s*[:=]\s*\\*"((?:[^"\\]|\\(?!\\*"))+)/g;

/** What an error of the model's provider says, without the names, codes and JSON round it. */
export function errorWords(text: string): string {
  const message = [...text.matchAll(ERROR_MESSAGE)].at(-1)?.[1] ?? text;
  const words = message.replace(/^["[]?(?:(?:\w+ )?Error: )*(?:[45]\d\d\b:? ?)*"?/i, '').replace(/(?:\\n)*"$/, '');
  return words.replace(SAID_ALREADY, '').trim() || text;
}

/** Parts of an error that the name of its reason says, or that only a program reads: the path of a field, the id of a request. */
const SAID_ALREADY =
  /^[^·∙]*\blimit\b[^·∙]*[·∙] (?=resets )|^(?:messages|tools|system)(?:\.\w+)+: | \(Request ID: [^)]*\)/gi;
/** When a limit resets: a time of a day, or within a week after a date. */
const RESETS = /\bresets (?:at )?(\p{Lu}\p{Ll}+ \d{1,2}\b,?[^;–]*|\d[^;–]*)/u;
const DAY_MS = 86_400_000;

/** Does not say of a limit that it resets if that is past. */
export function withoutPastReset(text: string, silentMs = 0): string {
  return text.replace(RESETS, (whole, time: string) => {
    const isPast = silentMs > (/^\d/.test(time) ? DAY_MS : 8 * DAY_MS);
    return isPast ? 'it has reset since' : whole;
  });
}
