import { invalidDefinition } from '../../base/error.ts';
import type { DecisionPoint, GuidanceInjection } from '../../records/spoken-advice.ts';
import type { GuidanceContext, GuidanceDraft, GuidanceProvider } from '../prompt/guidance-provider.ts';
import { checkInjection, completeDraft } from '../feedback/check-draft.ts';
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

/** A provider of a text, by a classifier. Throws CoxswainError "invalid-definition" for an invalid member. */
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

export interface BankInstruction extends Pick<GuidanceDraft, 'content' | 'priority'> {
  readonly category: string;
}

/** The texts from which a model-backed classifier may choose. It cannot use any other text. */
export interface GuidanceBank {
  /** The texts in order of definition; at least one. */
  readonly instructions: readonly GuidanceInjection[];
  /** Returns the instruction whose key is `id`. */
  get(id: string): GuidanceInjection | undefined;
}

/**
 * Defines a bank: `guidanceBank({ 'run-tests': { content: 'Run the tests before you go on.', category: 'testing' } })`.
 *
 * @throws CoxswainError "invalid-definition" if the bank is empty, or if an id, content, priority or category is invalid
 */
export function guidanceBank(instructions: Readonly<Record<string, BankInstruction>>): GuidanceBank {
  const byId = new Map<string, GuidanceInjection>();
  for (const [key, instruction] of Object.entries(instructions)) {
    byId.set(key, Object.freeze(checkInjection(completeDraft({ key, ...instruction }, instruction.category))));
  }
  if (byId.size === 0) throw invalidDefinition('a guidance bank needs at least one instruction', {});
  return Object.freeze({ instructions: Object.freeze([...byId.values()]), get: (id: string) => byId.get(id) });
}
