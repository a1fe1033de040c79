import { randomBytes } from 'node:crypto';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { readGuarded, replaceGuarded } from '../../core/node/guarded-file.ts';
import { makeStateFolder, stateFile, type StateOwner } from '../../core/node/state-places.ts';

const TOKEN_BYTES = 32;

/**
 * Returns the token that exporters of a project send. Creates it at the first call; only its owner can read the file. It is
 * not the token of the hooks, because every command of an agent inherits the environment that names it.
 *
 * @throws CoxswainError `input-io` if the file cannot be read or written, or if another user could have read it
 */
export function otlpToken(owner: StateOwner): { readonly token: string; readonly file: string } {
  const file = stateFile('otlpToken', owner);
  try {
    const stored = readToken(file);
    if (stored !== undefined) return { token: stored, file };
    makeStateFolder(owner);
    replaceGuarded(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
    // Another process may have written another token.
    const token = readToken(file);
    if (token === undefined) throw new Error('it was deleted');
    return { token, file };
  } catch (error) {
    throw new CoxswainError('input-io', `${file} cannot be used as the token of exporters: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function readToken(file: string): string | undefined {
  const token = readGuarded(file)?.toString('utf8').trim();
  if (token === undefined) return undefined;
  if (token.length < TOKEN_BYTES) throw new Error('it is damaged; remove it, and the next start writes another');
  return token;
}
