import { readGuarded, replaceGuarded } from '../base/guarded-file.ts';
import { makeStateFolder, stateFile, type StatePlaces } from '../base/state-places.ts';
import type { Fingerprint } from './secret-span.ts';

/** No vowel, no hexadecimal digit: it must not read as an id, a time or a word, which comparing two answers leaves out. */
const LETTERS = 'ghjkmnpqrstvwxyz';
const MARK_BYTES = 5;
const KEY_BYTES = 32;
/** Secrets whose letters are remembered, so that one that is in every line costs one digest. */
const MAX_KNOWN = 1_000;

/** A keyed digest as letters, two a byte. */
export function lettersOf(digest: Uint8Array, bytes: number): string {
  let letters = '';
  for (const byte of digest.subarray(0, bytes)) letters += (LETTERS[byte >> 4] ?? '') + (LETTERS[byte & 15] ?? '');
  return letters;
}

/**
 * Makes the fingerprint of a process: ten letters of HMAC-SHA-256 under a key of this user, so equal secrets read alike in all of
 * their runs, and without the key nothing can be guessed and tried. The key is read, or made, at the first secret; where the state
 * folder cannot be used, it lives as long as the process.
 *
 * Cost: nothing without a secret; 5 ms at the first, then 3 µs each that is new.
 */
export function createFingerprint(places: StatePlaces = { env: process.env }): Fingerprint {
  let key: Buffer | undefined;
  const known = new Map<string, string>();
  return (secret) => {
    const seen = known.get(secret);
    if (seen !== undefined) return seen;
    key ??= keyOf(places);
    const { createHmac } = process.getBuiltinModule('node:crypto');
    const letters = lettersOf(createHmac('sha256', key).update(secret).digest(), MARK_BYTES);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(secret, letters);
    return letters;
  };
}

function keyOf(places: StatePlaces): Buffer {
  const fresh = process.getBuiltinModule('node:crypto').randomBytes(KEY_BYTES);
  try {
    const path = stateFile('redactionKey', places);
    const stored = readGuarded(path);
    if (stored?.length === KEY_BYTES) return stored;
    makeStateFolder(places);
    replaceGuarded(path, fresh);
    // Another process may have been first, or last.
    const written = readGuarded(path);
    return written?.length === KEY_BYTES ? written : fresh;
  } catch {
    // Redaction must not fail: fingerprints then agree within the process.
    return fresh;
  }
}
