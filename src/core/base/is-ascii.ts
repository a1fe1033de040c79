/** Returns true if the text contains only ASCII characters. Cost: one pass up to the first other character. */
export function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 127) return false;
  return true;
}
