import { Buffer } from 'node:buffer';

const PREFIX = 'run-';
const MAX_ENCODED_CHARS = 180;
const READABLE_CHARS = 100;

/**
 * The folder name of a run, unique per id on every file system: lower-case ASCII letters, digits, `-` and `_` stay, every
 * other UTF-8 byte becomes `%xx`. Upper case is escaped because some file systems ignore case; the prefix avoids names that
 * Windows reserves. An id too long for a name is cut and ends in `~` and its SHA-256. At most 184 bytes.
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

/** True for a name of the form that `runFolderName` returns. */
export function isRunFolderName(name: string): boolean {
  return /^run-[a-z0-9_%~-]*$/.test(name);
}

/** The run id of a folder name; for an id that was too long, the encoded name. */
export function runIdInFolderName(name: string): string {
  const encoded = name.slice(PREFIX.length);
  if (encoded.includes('~')) return encoded;
  const bytes = encoded.replaceAll(/%([0-9a-f]{2})/g, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
