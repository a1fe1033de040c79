/** Returns true if the text contains only ASCII characters. Cost: one pass up to the first other character. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}
