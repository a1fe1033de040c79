import type { GuidanceInjection } from '../../records/guidance.ts';
import { checkInjection, completeDraft } from './check-injection.ts';
import { invalidDefinition } from '../prompt/check-options.ts';

export interface BankInstruction {
  /** 1 to 500 characters. */
  readonly content: string;
  readonly category: string;
  /** Guidance with a lower number comes first; default 100. */
  readonly priority?: number;
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
