import { CoxswainError } from '../../base/error.ts';
import { isDefinitionName } from '../../session/definition-name.ts';

/** @throws CoxswainError "invalid-definition" when `key` is not 1 to 64 of `a-z 0-9 . _ -`, a letter or digit first */
export function checkPromptKey(what: string, key: string): void {
  if (isDefinitionName(key) && !key.includes('/')) return;
  throw new CoxswainError(
    'invalid-definition',
    `${what} ${JSON.stringify(key)} must be 1 to 64 of a-z, 0-9, ".", "_", "-", beginning with a letter or digit`,
    { details: { what, key } },
  );
}
