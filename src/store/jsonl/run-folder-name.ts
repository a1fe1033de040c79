import { Buffer } from 'node:buffer';

const PREFIX = 'run-';
const MAX_ENCODED_CHARS = 180;
const READABLE_CHARS = 100;

/**
 * Returns the folder name of a run, which is unique per id on every file system. Lower-case ASCII letters, digits, `-` and
 * `_` are unchanged. Every other UTF-8 byte becomes `%xx`. Upper case is escaped because some file systems ignore case; the
 * prefix avoids names that Windows reserves. ` and its SHA-256.~` and its SHA-256. At most 184 bytes.
 */
export function runFolderName(runId: string): string {
  let encoded = '';
  for (const byte of Buffer.from(runId)) {
    const char = String.fromCharCode(byte);
    encoded += /[a-z0-9_-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  }
  if (encoded.length > MAX_ENCODED_CHARS) {
    encoded = `${encoded.slice(0, READABLE_CHARS)}~${process.getBuiltinModule('node:crypto').createHash('sha256').update(runId).digest('hex')}`;
  }
  return PREFIX + encoded;
}

/** Returns true for a name of the form that `runFolderName` returns. */
export function isRunFolderName(name: string): boolean {
  return /^run-[a-z0-9_%~-]*$/.test(name);
}

/** Returns the run id of a folder name. If the id was too long, returns the encoded name. */
export function runIdInFolderName(name: string): string {
  const encoded = name.slice(PREFIX.length);
  if (encoded.includes('~')) return encoded;
  const bytes = encoded.replaceAll(/%([0-9a-f]{2})/g, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
