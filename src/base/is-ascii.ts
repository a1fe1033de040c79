/** True for a text of nothing but the 128 characters of ASCII. Cost: a look at each unit up to the first other one. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}
