import { CoxswainError, messageOf } from '../base/error.ts';
import { redactText, type RedactTextOptions } from '../redact/redact-text.ts';

/** `retry`: may succeed later; `hole`: needs earlier records; `spoiled`: cannot be stored; `refused`: other records; `over`: no more. */
type AppendFault = 'retry' | 'hole' | 'spoiled' | 'refused' | 'over';

export function appendFault(error: unknown): AppendFault {
  if (!(error instanceof CoxswainError)) return 'retry';
  switch (error.code) {
    case 'store-gap':
      return 'hole';
    case 'store-conflict':
    case 'run-exists':
      return 'refused';
    case 'store-closed':
    case 'store-version':
      return 'over';
    case 'store-io':
    case 'trajectory-io':
      return 'retry';
    default:
      return 'spoiled';
  }
}

export function expectedSeqOf(error: unknown): number | undefined {
  if (!(error instanceof CoxswainError) || error.code !== 'store-gap') return undefined;
  const expected = error.details['expected'];
  return typeof expected === 'number' ? expected : undefined;
}

const EVERY_RULE: RedactTextOptions = { off: new Set(), allows: () => false, named: true };

/** All built-in rules redact it: the message of a store may contain credentials, that of user code any text. */
export function faultText(error: unknown): string {
  return redactText(messageOf(error), EVERY_RULE);
}
