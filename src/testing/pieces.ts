/** Splits a text into up to three chunks of similar length, as in a stream. Does not split characters. */
export function pieces(text: string): readonly string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / 3));
  const parts: string[] = [];
  for (let from = 0; from < characters.length; from += size) parts.push(characters.slice(from, from + size).join(''));
  return parts;
}
