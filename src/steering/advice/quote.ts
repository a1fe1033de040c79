import { slotText } from './slot-text.ts';

/** Phrases of a prompt injection. */
const ORDER =
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:instruct|previous|prior|above|earlier|rules?|prompt|guidelines)|\b(?:new|system|developer) (?:instructions?|prompt|message)|\byou(?: are now| must| should| have to| need to| will now|['’]re now)\b|\bas an? (?:ai|assistant|agent)\b|\b(?:dear|attention),? (?:ai|assistant|agent|model)\b/i;
/** A role at the start, as in transcripts and prompts. */
const SPEAKER = /^\W*(?:system|assistant|human|user|developer|tool|important|instructions?)\s*[:\-–>]\s*/i;

/**
 * Quotes trajectory text in advice: one line in double quotes, without control characters, tags, brackets or inner quotes.
 * The model reads it, so text with instructions is not quoted.
 *
 * @param maxChars  maximum UTF-16 units between the quotes, from 4; longer text keeps its beginning and end
 * @returns undefined for text that is empty or contains instructions
 * Cost: linear in at most `4 * maxChars + 256` units.
 */
export function quoted(text: string, maxChars: number): string | undefined {
  // Checked before it is cut: instructions must not hide in the part that is cut off.
  const read = slotText(text, 4 * maxChars + 256).replaceAll(/["“”„«»→•]/g, "'");
  const bare = read.replace(SPEAKER, '').trim();
  return bare === '' || ORDER.test(read) ? undefined : `"${shortened(bare, maxChars)}"`;
}

/** Keeps the beginning and the end: the words that distinguish errors often come last. */
function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const tail = Math.floor(maxChars / 3);
  return `${slotText(text, maxChars - tail)}${text.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '')}`;
}
