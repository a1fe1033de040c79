import { type Json, isJsonObject } from '../base/json.ts';
import { lettersOf } from './fingerprint.ts';
import type { FieldWriter } from './payload-fields.ts';

/** A classification of a text by fixed words, so that detection works without the text. */
export interface TextReading {
  /** The text without times and other noise. Results with the same `plain` text are treated as equal. */
  readonly plain: string;
  /** Words before the fingerprint, such as `Error: timed out`; may be empty. */
  readonly says: string;
}

export interface StructureOptions {
  readonly key: string;
  readonly readResult: (text: string) => TextReading;
  readonly redact: (text: string) => string;
}

const MARK_BYTES = 8;

const TOKEN = /^[A-Za-z0-9_.:/@+#-]{1,128}$/;
const KEY = /^[A-Za-z_$][A-Za-z0-9_-]{0,39}$/;
const FINGERPRINT = /^(?:text_\d+|number|id|key)_[ghjkmnpqrstvwxyz]{16}$/;
const CLASSIFIED = /^(.{1,60}) text_\d+_[ghjkmnpqrstvwxyz]{16}$/;
const MAX_DEPTH = 256;

/**
 * A text becomes `text_412_` (its length) and 16 letters, a number `number_` and 16 letters; true, false, null, empty
 * texts and names of members stay. Equal content has equal fingerprints under one key, without which it cannot be
 * guessed. Cost: one HMAC-SHA-256 (about 3 µs) per string or number.
 */
export function structureWriter(options: StructureOptions): FieldWriter {
  const { redact, readResult } = options;
  // Loaded on demand, because loading takes 4 ms and only this mode needs it.
  const { createHmac, createSecretKey } = process.getBuiltinModule('node:crypto');
  const key = createSecretKey(Buffer.from(options.key, 'utf8'));

  const mark = (text: string): string => {
    return lettersOf(createHmac('sha256', key).update(text).digest(), MARK_BYTES);
  };
  const text = (value: string): string =>
    value === '' || FINGERPRINT.test(value) ? value : `text_${value.length}_${mark(value)}`;
  const resultText = (value: string): string => {
    if (value === '' || FINGERPRINT.test(value)) return value;
    const { plain, says } = readResult(value);
    if (says !== '' && CLASSIFIED.exec(value)?.[1] === says) return value;
    const fingerprint = `text_${plain.length}_${mark(plain)}`;
    return says === '' ? fingerprint : `${says} ${fingerprint}`;
  };
  const name = (value: string): string => (TOKEN.test(value) && redact(value) === value ? value : text(value));
  const id = (value: string): string =>
    redact(value) === value && TOKEN.test(value) ? value : FINGERPRINT.test(value) ? value : `id_${mark(value)}`;

  const json = (value: Json, ofText: (text: string) => string, depth: number): Json => {
    if (typeof value === 'string') return ofText(value);
    if (typeof value === 'number') return `number_${mark(String(value))}`;
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) return 'text_0_toodeep';
    if (Array.isArray(value)) return (value as readonly Json[]).map((item) => json(item, ofText, depth + 1));
    const shape: Record<string, Json> = {};
    for (const [member, inner] of Object.entries(value)) {
      const isKnownKey = (KEY.test(member) && redact(member) === member) || FINGERPRINT.test(member);
      shape[isKnownKey ? member : `key_${mark(member)}`] = json(inner, ofText, depth + 1);
    }
    return shape;
  };
  const result = (value: Json): Json => {
    if (typeof value === 'string') return resultText(value);
    if (Array.isArray(value)) return value.map((part: Json) => partOf(part));
    return json(value, text, 0);
  };
  /** A part of a content list, whose text the model sees. */
  const partOf = (part: Json): Json => {
    if (typeof part === 'string') return resultText(part);
    if (!isJsonObject(part) || typeof part['text'] !== 'string') return json(part, text, 1);
    const { text: shown, type, ...rest } = part;
    const shape = json(rest, text, 1);
    const kind = typeof type === 'string' ? { type: name(type) } : {};
    // The shape of an object is an object.
    return { ...(shape as Readonly<Record<string, Json>>), ...kind, text: resultText(shown) };
  };
  return { text, json: (value) => json(value, text, 0), result, name, id, configured: redact };
}
