import { slotText } from './slot-text.ts';

/** Matches phrases of a prompt injection. */
const ORDER =
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:instruct|previous|prior|above|earlier|rules?|prompt|guidelines)|\b(?:new|system|developer) (?:instructions?|prompt|message)|\byou(?: are now| must| should| have to| need to| will now|['’]re now)\b|\bas an? (?:ai|assistant|agent)\b|\b(?:dear|attention),? (?:ai|assistant|agent|model)\b/i;
/** Signs that could open or close structure. A replacement would read like other code, so they are left out. */
const STRUCTURE = /[`[\]→•]+|~{3,}/g;
/** Matches a role at the start of a text, as in transcripts and prompts. */
const SPEAKER = /^\W*(?:system|assistant|human|user|developer|tool|important|instructions?)\s*[:\-–>]\s*…?/i;

/**
 * Quotes text from the agent's calls in advice. The result is one line in double quotes, without control characters, tags,
 * brackets or inner quotes. Omissions are marked with `…`. The model reads the advice, so text that contains instructions is not
 * quoted.
 *
 * @param maxChars  maximum UTF-16 units between the quotes, from 4; a longer text is reduced to its beginning and end
 * @returns undefined for text that contains instructions, or nothing to quote
 *
 * Cost: linear in at most `4 * maxChars + 256` units.
 */
export function quoted(text: string, maxChars: number): string | undefined {
  // The text is checked before it is cut, so that instructions in the removed part are also found.
  const length = 4 * maxChars + 256;
  const quotedText = slotText(text.slice(0, length).replaceAll(STRUCTURE, '…'), length).replaceAll(/["“”„«»]/g, "'");
  const bare = quotedText.replace(SPEAKER, '…').replaceAll(/…(?: ?…)+| …$/g, '…');
  const isOrder = ORDER.test(quotedText.replaceAll('…', ''));
  return isOrder || /^…?$/.test(bare) ? undefined : `"${shortened(bare, maxChars)}"`;
}

/** Keeps the beginning and the end, because the words that distinguish errors are often at the end. */
function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const tail = Math.floor(maxChars / 3);
  return `${slotText(text, maxChars - tail)}${text.slice(-tail).replace(/^[\uDC00-\uDFFF…]/, '')}`;
}
