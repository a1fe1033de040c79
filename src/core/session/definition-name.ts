import { CoxswainError } from '../base/error.ts';

const MAX_CHARS = 64;

/** Checks the name of an event type or slice: `^[a-z0-9][a-z0-9._/-]{0,63}$`. */
export function isDefinitionName(name: string): boolean {
  if (name.length === 0 || name.length > MAX_CHARS) return false;
  // The code uses no regular expression, because every process defines its slices at start, and compiling a pattern would
  // take longer.
  for (let index = 0; index < name.length; index += 1) {
    const unit = name.charCodeAt(index);
    const isWord = (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
    // `-`, `.` and `/` have consecutive character codes.
    if (!isWord && (index === 0 || !((unit >= 0x2d && unit <= 0x2f) || unit === 0x5f))) return false;
  }
  return true;
}

/** @throws CoxswainError "invalid-definition" unless `isDefinitionName(name)` */
export function checkDefinitionName(kind: 'event' | 'slice', name: string): void {
  if (isDefinitionName(name)) return;
  throw new CoxswainError(
    'invalid-definition',
    `${kind} name ${JSON.stringify(name)} must be 1 to 64 of a-z, 0-9, ".", "_", "/", "-", beginning with a letter or digit`,
    { details: { kind, name } },
  );
}
