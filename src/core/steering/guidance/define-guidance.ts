import type { DecisionPoint } from '../../records/guidance.ts';
import type { GuidanceContext, GuidanceDraft, GuidanceProvider } from '../prompt/guidance-provider.ts';
import { checkInjection, completeDraft } from './check-injection.ts';
import type { Classifier } from './classifier.ts';

export interface GuidanceDefinition {
  /** 1 to 64 characters. */
  readonly name: string;
  readonly category: string;
  /** Default: every decision point. */
  readonly decisionPoints?: readonly DecisionPoint[];
  readonly classifier: Classifier;
  /** Matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly key: string;
  /** 1 to 500 characters. The result of a function is checked each time. */
  readonly content: string | ((context: GuidanceContext) => string);
  /** Guidance with a lower number comes first; default 100. */
  readonly priority?: number;
}

/**
 * Creates a provider from a classifier and a text.
 *
 * @throws CoxswainError "invalid-definition" if the key, content, priority or category is invalid
 */
export function defineGuidance(definition: GuidanceDefinition): GuidanceProvider {
  const { name, category, decisionPoints, classifier, key, content, priority } = definition;
  const draftOf = (text: string): GuidanceDraft =>
    priority === undefined ? { key, content: text } : { key, content: text, priority };
  checkInjection(completeDraft(draftOf(typeof content === 'string' ? content : '-'), category));
  return Object.freeze({
    name,
    category,
    ...(decisionPoints === undefined ? {} : { decisionPoints: Object.freeze([...decisionPoints]) }),
    afterRefusals: classifier.afterRefusals,
    classify: (context: GuidanceContext) => classifier.classify(context),
    provide: (context: GuidanceContext) => draftOf(typeof content === 'string' ? content : content(context)),
  });
}
