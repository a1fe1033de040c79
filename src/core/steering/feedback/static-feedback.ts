import { CoxswainError } from '../../base/error.ts';
import type { FeedbackDraft, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { checkDraft, type CheckedDraft, InvalidDraft } from './check-draft.ts';

export interface StaticFeedbackOptions extends FeedbackDraft {
  readonly name: string;
}

/**
 * Gives the same feedback each time its trigger fires, for example when a file was created.
 *
 * @throws CoxswainError "invalid-definition" if the draft is invalid: a text is empty, too long or of the wrong type
 */
export function staticFeedback({ name, ...draft }: StaticFeedbackOptions): FeedbackProvider {
  const validDraft = requireDraft(name, draft);
  return { name, shouldRun: () => true, provide: () => validDraft };
}

function requireDraft(name: string, draft: FeedbackDraft): CheckedDraft {
  try {
    return checkDraft(draft);
  } catch (cause) {
    if (!(cause instanceof InvalidDraft)) throw cause;
    throw new CoxswainError('invalid-definition', `staticFeedback ${JSON.stringify(name)}: ${cause.message}`, {
      details: { name },
      cause,
    });
  }
}
