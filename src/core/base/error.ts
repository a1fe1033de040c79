/**
 * Codes of `CoxswainError`, a closed set: callers may switch over it exhaustively.
 *
 * - `invalid-argument`: a value is outside the documented range
 * - `invalid-definition`: a slice, detector, provider or key is defined incorrectly
 * - `invalid-record`: a text or value is not a trajectory record
 * - `schema-version`: a record or store has a newer schema than this version reads
 * - `snapshot-version`: a snapshot has another version or is malformed
 * - `run-exists`: a run with this id exists; `openRun` continues it
 * - `run-unknown`: the run to continue is not stored
 * - `store-conflict`: a different record with the same `(run_id, seq)` is already stored
 * - `store-gap`: the batch does not continue the stored sequence
 * - `trajectory-rejected`: the sink rejected records, and the policy is `throw`
 * - `trajectory-io`: records could not be stored, and the policy is `throw`
 * - `store-closed`: the store was used after `close()`
 * - `store-damaged`: a stored record, summary, snapshot or page differs from what was written; `details` has `runId` and
 *   `seq` if known
 * - `store-schema`: the database contains tables, triggers, views or other objects of another program
 * - `store-io`: an error of the disk or the database
 * - `store-version`: the storage engine is too old, or the file belongs to another program
 * - `format-unknown`: no importer recognises the content
 * - `format-invalid`: an importer recognised the content, but it is invalid
 * - `input-too-large`: a document, line or archive entry exceeds the limit
 * - `input-io`: a file could not be opened or read
 * - `unsafe-path`: a file or folder is a link, has a second name, belongs to another user, or is part of a repository; it
 *   is neither read nor written
 */
export type CoxswainErrorCode =
  | 'invalid-argument'
  | 'invalid-definition'
  | 'invalid-record'
  | 'schema-version'
  | 'snapshot-version'
  | 'run-exists'
  | 'run-unknown'
  | 'store-conflict'
  | 'store-gap'
  | 'trajectory-rejected'
  | 'trajectory-io'
  | 'store-closed'
  | 'store-damaged'
  | 'store-schema'
  | 'store-io'
  | 'store-version'
  | 'format-unknown'
  | 'format-invalid'
  | 'input-too-large'
  | 'input-io'
  | 'unsafe-path';

export interface CoxswainErrorOptions {
  /** The values used in the message, for programs. Plain JSON. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The only error class of this package. The message states what happened, the value involved, and what to do. */
export class CoxswainError extends Error {
  override readonly name = 'CoxswainError';
  readonly code: CoxswainErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: CoxswainErrorCode, message: string, options: CoxswainErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

export function invalidArgument(message: string, options?: CoxswainErrorOptions): CoxswainError {
  return new CoxswainError('invalid-argument', message, options);
}

export function invalidDefinition(message: string, details: Readonly<Record<string, unknown>>): CoxswainError {
  return new CoxswainError('invalid-definition', message, { details });
}

export function messageOf(thrown: unknown): string {
  try {
    // A thrown value may be a proxy, and `message` may have any type.
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'a value without a text was thrown';
  }
}

export const MAX_FAULT_CHARS = 300;
/** Maximum characters of a message before redaction. A longer message is cut first. */
export const MAX_READ_CHARS = 16_000;

/** Redacted before it is cut to 300 characters, because redaction would not recognise half a secret. */
export function cutMessage(message: string, redact: (text: string) => string = (text) => text): string {
  return redact(message.slice(0, MAX_READ_CHARS)).slice(0, MAX_FAULT_CHARS);
}

export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

export function hasCode(thrown: unknown, code: string): boolean {
  return codeOf(thrown) === code;
}

/** Does not compile if a case is missing. Throws for invalid data at run time. */
export function assertNever(value: never): never {
  throw invalidArgument(`unexpected value ${JSON.stringify(value)}`);
}

export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(error);
}
