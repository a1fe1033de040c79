import { slotText } from './slot-text.ts';

/** Words by which a text gives orders to whoever reads it. */
const ORDER =
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:instruct|previous|prior|above|earlier|rules?|prompt|guidelines)|\b(?:new|system|developer) (?:instructions?|prompt|message)|\byou(?: are now| must| should| have to| need to| will now|['’]re now)\b|\bas an? (?:ai|assistant|agent)\b|\b(?:dear|attention),? (?:ai|assistant|agent|model)\b/i;
/** The name of a speaker or of a rank at the start, as transcripts and prompts have it. */
const SPEAKER = /^\W*(?:system|assistant|human|user|developer|tool|important|instructions?)\s*[:\-–>]\s*/i;

/**
 * Text out of a trajectory as a quotation inside advice: one line in double quotes, without control characters, tags,
 * brackets or quotes of its own. An agent reads it, so a text that gives orders is not quoted at all.
 *
 * @param maxChars  most UTF-16 units between the quotes, from 4; of what is longer, the beginning and the end
 * @returns undefined for a text that is empty or gives orders
 * Cost: linear in at most `4 * maxChars + 256` units.
 */
export function quoted(text: string, maxChars: number): string | undefined {
  // The whole is read before it is cut: an order must not hide behind the end of the quotation.
  const read = slotText(text, 4 * maxChars + 256).replaceAll(/["“”„«»→•]/g, "'");
  const bare = read.replace(SPEAKER, '').trim();
  return bare === '' || ORDER.test(read) ? undefined : `"${shortened(bare, maxChars)}"`;
}

/** The beginning and the end: the words that tell one error from another often come last. */
function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const tail = Math.floor(maxChars / 3);
  return `${slotText(text, maxChars - tail)}${text.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '')}`;
}
