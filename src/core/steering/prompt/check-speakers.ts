import { CoxswainError } from '../../base/error.ts';
import { checkTrigger, type FeedbackTrigger } from './feedback-trigger.ts';

/** The ASCII part of `isName`. Compiling Unicode classes takes 1 ms, which matters in a short-lived process. */
const ASCII_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

interface ConfiguredSpeaker {
  readonly name: string;
  readonly trigger: FeedbackTrigger | undefined;
}

/**
 * Checks the providers or the observers of one prompt or run.
 *
 * @throws CoxswainError "invalid-definition" if a name is not 1 to 64 letters, digits, spaces, `.`, `_` and `-` or is not
 *   unique, or a trigger is missing or out of range
 */
export function checkSpeakers(kind: 'feedback provider' | 'observer', speakers: readonly ConfiguredSpeaker[]): void {
  const names = new Set<string>();
  for (const { name, trigger } of speakers) {
    const owner = `${kind} ${JSON.stringify(name)}`;
    if (!isName(name))
      throw invalidDefinition(name, `${owner}: a name is 1 to 64 letters, digits, spaces, ".", "_" or "-"`);
    if (names.has(name)) throw invalidDefinition(name, `${owner} is configured twice; give each its own name`);
    if (trigger === undefined)
      throw invalidDefinition(name, `${owner} has no trigger; say when it runs, as in { everyNCalls: 10 }`);
    names.add(name);
    checkTrigger(owner, trigger);
  }
}

function invalidDefinition(name: string, message: string): CoxswainError {
  return new CoxswainError('invalid-definition', message, { details: { name } });
}

function isName(name: string): boolean {
  return ASCII_NAME.test(name) || /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(name);
}
