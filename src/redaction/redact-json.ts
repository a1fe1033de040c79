import type { Json } from '../base/json.ts';
import { nameStrength } from './secret-names.ts';
import { isPlaceholder, placeholderOf } from './secret-span.ts';

/** What is done with the strings of a JSON value. */
export interface JsonRedaction {
  /** For any string. */
  readonly text: (text: string) => string;
  /** For a string by its own form alone: keys, and values under a telling name. */
  readonly token: (text: string) => string;
  /** Whether a value under a telling name is replaced whole. */
  readonly named: (secret: string) => boolean;
}

/** Deeper than any record that can be stored; also ends a value that holds itself. */
const MAX_DEPTH = 256;

/**
 * The value with the secrets in its strings replaced. A member whose name a secret would have (`password`, `apiKey`) loses its
 * whole value, also in the form `{ name: 'API_KEY', value: '…' }`. Keys stay, unless a key is a token itself. Nothing is
 * copied where nothing changes: the value itself comes back.
 */
export function redactJson(value: Json, redaction: JsonRedaction): Json {
  return walk(value, redaction, []);
}

function walk(value: Json, redaction: JsonRedaction, path: object[]): Json {
  if (typeof value === 'string') return redaction.text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (path.length >= MAX_DEPTH || path.includes(value)) return placeholderOf('rule-failed');
  path.push(value);
  const redacted = Array.isArray(value) ? walkItems(value, redaction, path) : walkMembers(value, redaction, path);
  path.pop();
  return redacted;
}

function walkItems(items: readonly Json[], redaction: JsonRedaction, path: object[]): Json {
  let changed: Json[] | undefined;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] ?? null;
    const redacted = walk(item, redaction, path);
    if (redacted === item) continue;
    changed ??= [...items];
    changed[at] = redacted;
  }
  return changed ?? items;
}

function walkMembers(source: object, redaction: JsonRedaction, path: object[]): Json {
  // `source` is a JSON object: neither null nor a list.
  const members = source as Readonly<Record<string, Json>>;
  const pairName = nameOfPair(members);
  let changed: Record<string, Json> | undefined;
  let renamed = false;
  for (const key in members) {
    if (!Object.hasOwn(members, key)) continue;
    const value = members[key];
    if (value === undefined) continue;
    const name = key === 'value' && pairName !== undefined ? pairName : key;
    const redacted = walkMember(name, value, redaction, path);
    if (redaction.token(key) !== key) renamed = true;
    if (redacted === value) continue;
    changed ??= { ...members };
    changed[key] = redacted;
  }
  if (renamed) return renameKeys(changed ?? members, redaction);
  return changed ?? members;
}

function walkMember(name: string, value: Json, redaction: JsonRedaction, path: object[]): Json {
  const strength = nameStrength(name);
  if (strength === 'none') return walk(value, redaction, path);
  if (typeof value === 'number')
    return strength === 'strong' && value > 999 ? redactNamed(String(value), value, redaction) : value;
  if (typeof value === 'string')
    return strength === 'set-cookie' ? setCookie(value, redaction) : namedText(value, strength === 'weak', redaction);
  if (!Array.isArray(value)) return walk(value, redaction, path);
  let changed: Json[] | undefined;
  for (const [at, item] of (value as readonly Json[]).entries()) {
    const redacted = walkMember(name, item, redaction, path);
    if (redacted === item) continue;
    changed ??= [...value];
    changed[at] = redacted;
  }
  return changed ?? value;
}

/** Variables, templates and masks name a secret and are none. */
const REFERENCE = /^(?:\$[\w{(]|<|\{\{|%|\*+$|[xX]+$|\.+$)/;
const NO_VALUE = /^(?:true|false|null|none|undefined|required|optional|missing)?$/i;

function namedText(value: string, weak: boolean, redaction: JsonRedaction): string {
  if (REFERENCE.test(value) || NO_VALUE.test(value) || value.length < 3) return redaction.text(value);
  const inner = redaction.token(value);
  if (isPlaceholder(inner)) return inner;
  const scheme = /^(?:bearer|basic|token|digest|negotiate|apikey) +(?=\S)/i.exec(value)?.[0] ?? '';
  // A sentence under `token` speaks of one.
  if (weak && scheme === '' && /\s/.test(value.trim())) return redaction.text(value);
  const secret = value.slice(scheme.length);
  const rest = redaction.token(secret);
  if (isPlaceholder(rest)) return scheme + rest;
  if (!redaction.named(secret)) return redaction.text(value);
  const rule = scheme === '' ? 'named-secret' : /^basic/i.test(scheme) ? 'basic-auth' : 'bearer-token';
  return scheme + placeholderOf(rule);
}

function redactNamed(secret: string, value: Json, redaction: JsonRedaction): Json {
  return redaction.named(secret) ? placeholderOf('named-secret') : value;
}

/** `name=value; attributes`, of which the value goes. */
function setCookie(value: string, redaction: JsonRedaction): string {
  const header = 'Set-Cookie: ';
  const redacted = redaction.text(header + value);
  return redacted.startsWith(header) ? redacted.slice(header.length) : redacted;
}

/** The name of a pair such as `{ name: 'API_KEY', value: '…' }`, when a secret would have it. */
function nameOfPair(members: Readonly<Record<string, Json>>): string | undefined {
  if (members['value'] === undefined) return undefined;
  for (const key of ['name', 'key', 'header', 'variable']) {
    const name = members[key];
    if (typeof name === 'string' && nameStrength(name) !== 'none') return name;
  }
  return undefined;
}

/** Keys that became equal are told apart by a number, so that no member is lost. */
function renameKeys(members: Readonly<Record<string, Json>>, redaction: JsonRedaction): Json {
  const renamed: Record<string, Json> = {};
  for (const [key, value] of Object.entries(members)) {
    const name = redaction.token(key);
    let free = name;
    for (let number = 2; Object.hasOwn(renamed, free); number += 1) free = `${name}#${number}`;
    renamed[free] = value;
  }
  return renamed;
}
