import { ALNUM, isOf, runStart } from './char-class.ts';
import { CALL, isQuote, isReference, isSecretValue } from './secret-value.ts';
import { endsLikeName, MAX_NAME_CHARS, NAME_UNITS, nameStrength, type NameStrength } from './secret-names.ts';
import { placeholderEnd, type SecretSpan } from './secret-span.ts';

const ELEMENT = /<(?:[\w-]{1,40}:)?([\w.-]{2,64})((?:\s[^<>]{0,300})?)$/;
const ATTRIBUTE = /(?:name|key|id)\s{0,2}=\s{0,2}\\{0,8}["']([\w.:/-]{3,64})\\{0,8}["']/i;

/** `<password>…</password>`, `<string name="api_key">…</string>`. */
export function findElement(text: string, at: number, done: number): SecretSpan | undefined {
  const before = text.charCodeAt(at - 1);
  if (!isQuote(before) && !isOf(text, at - 1, ALNUM)) return undefined;
  const near = text.slice(Math.max(done, at - 400), at);
  const open = near.lastIndexOf('<');
  if (open < 0) return undefined;
  const [, tag = '', attributes = ''] = ELEMENT.exec(near.slice(open)) ?? [];
  const attribute = ATTRIBUTE.exec(attributes)?.[1] ?? '';
  const strength = [nameStrength(tag), nameStrength(attribute)].find((one) => one === 'strong' || one === 'weak');
  return strength === undefined ? undefined : elementValue(text, at + 1, strength);
}

const NEXT_ELEMENT = /<\/[\w:-]{1,40}>\s{0,40}<[\w:-]{1,40}(?:\s[^<>]{0,100})?>/y;

/** `<key>Password</key><string>…</string>`, `<td>password</td><td>…</td>`. */
export function findNextElement(text: string, at: number, done: number): SecretSpan | undefined {
  if (!endsLikeName(text, at)) return undefined;
  const nameStart = runStart(text, at, NAME_UNITS, Math.max(done, at - MAX_NAME_CHARS - 1));
  const strength = nameStrength(text.slice(nameStart, at));
  if (text[nameStart - 1] !== '>' || (strength !== 'strong' && strength !== 'weak')) return undefined;
  NEXT_ELEMENT.lastIndex = at;
  return NEXT_ELEMENT.test(text) ? elementValue(text, NEXT_ELEMENT.lastIndex, strength) : undefined;
}

const ELEMENT_VALUE = /\s{0,40}(?:<!\[CDATA\[)?([^<>\s]{3,2000})(?=(?:\]\]>)?\s{0,40}<\/)/y;

function elementValue(text: string, from: number, strength: NameStrength): SecretSpan | undefined {
  ELEMENT_VALUE.lastIndex = from;
  const value = ELEMENT_VALUE.exec(text)?.[1]?.replace(/\]\]$/, '');
  if (value === undefined) return undefined;
  const start = text.indexOf(value, from);
  const end = start + value.length;
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  const standing = { ...CALL, separator: '>', strength } as const;
  return isSecretValue(text, { ...standing, start, end, quoted: true })
    ? { start, end, rule: 'named-secret' }
    : undefined;
}
