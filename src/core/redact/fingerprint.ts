import { readGuarded, replaceGuarded } from '../node/guarded-file.ts';
import { makeStateFolder, stateFile, type StatePlaces } from '../node/state-places.ts';
import type { Fingerprint } from './secret-value.ts';

/** No vowels and no hexadecimal digits: text that looks like an id, a time or a word is masked when results are compared. */
const LETTERS = 'ghjkmnpqrstvwxyz';
const MARK_BYTES = 5;
const KEY_BYTES = 32;
/** Number of remembered secrets. A secret that occurs in every line then needs only one digest. */
const MAX_KNOWN = 1_000;

export function lettersOf(digest: Uint8Array, bytes: number): string {
  let letters = '';
  for (const byte of digest.subarray(0, bytes)) letters += (LETTERS[byte >> 4] ?? '') + (LETTERS[byte & 15] ?? '');
  return letters;
}

/**
 * Ten letters of HMAC-SHA-256 with a key of this user: equal secrets look alike in all runs and cannot be guessed. The
 * key is made at the first secret, and kept in memory without a usable state folder. Cost: 5 ms, then 3 µs per new
 * secret.
 */
export function createFingerprint(places: StatePlaces = { env: process.env }): Fingerprint {
  let key: Buffer | undefined;
  const fingerprints = new Map<string, string>();
  return (secret) => {
    const fingerprint = fingerprints.get(secret);
    if (fingerprint !== undefined) return fingerprint;
    key ??= keyOf(places);
    const { createHmac } = process.getBuiltinModule('node:crypto');
    const letters = lettersOf(createHmac('sha256', key).update(secret).digest(), MARK_BYTES);
    if (fingerprints.size >= MAX_KNOWN) fingerprints.clear();
    fingerprints.set(secret, letters);
    return letters;
  };
}

function keyOf(places: StatePlaces): Buffer {
  const newKey = process.getBuiltinModule('node:crypto').randomBytes(KEY_BYTES);
  try {
    const path = stateFile('redactionKey', places);
    const storedKey = readGuarded(path);
    if (storedKey?.length === KEY_BYTES) return storedKey;
    makeStateFolder(places);
    replaceGuarded(path, newKey);
    // Another process may have written another key.
    const writtenKey = readGuarded(path);
    return writtenKey?.length === KEY_BYTES ? writtenKey : newKey;
  } catch {
    // Redaction must not fail. In this case fingerprints are equal only within the process.
    return newKey;
  }
}
