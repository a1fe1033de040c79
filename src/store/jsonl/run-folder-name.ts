import { Buffer } from 'node:buffer';

const PREFIX = 'run-';
const MAX_ENCODED_CHARS = 180;
const KEPT_CHARS = 100;

/**
 * The name of the folder that holds a run, different for different ids on every file system: lower-case ASCII
 * letters, digits, `-` and `_` stay, every other UTF-8 byte becomes `%xx`. Upper case is escaped because some
 * file systems do not tell it apart; the prefix keeps clear of names that Windows reserves. An id too long for a
 * name keeps its beginning and ends in `~` and its SHA-256. At most 184 bytes.
 */
export function runFolderName(runId: string): string {
  let encoded = '';
  for (const byte of Buffer.from(runId)) {
    const char = String.fromCharCode(byte);
    encoded += /[a-z0-9_-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  }
  if (encoded.length > MAX_ENCODED_CHARS) {
    encoded = `${encoded.slice(0, KEPT_CHARS)}~${process.getBuiltinModule('node:crypto').createHash('sha256').update(runId).digest('hex')}`;
  }
  return PREFIX + encoded;
}

/** True for a name that `runFolderName` may have given. */
export function isRunFolderName(name: string): boolean {
  return /^run-[a-z0-9_%~-]*$/.test(name);
}

/** The id that a folder name says: exact for a short one, the name's own middle part where the id was too long. */
export function runIdInFolderName(name: string): string {
  const encoded = name.slice(PREFIX.length);
  if (encoded.includes('~')) return encoded;
  const bytes = encoded.replaceAll(/%([0-9a-f]{2})/g, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
