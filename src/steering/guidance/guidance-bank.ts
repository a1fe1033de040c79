import type { GuidanceInjection } from '../../records/guidance.ts';
import { checkInjection, completeDraft } from './check-injection.ts';
import { invalidDefinition } from './check-options.ts';

/** An instruction of a bank, without its id. */
export interface BankInstruction {
  /** 1 to 500 characters. */
  readonly content: string;
  readonly category: string;
  /** Lower comes first; default 100. */
  readonly priority?: number;
}

/** The instructions that a model-backed classifier may choose from. Nothing else is ever said in its name. */
export interface GuidanceBank {
  /** In the order of definition; at least one. */
  readonly instructions: readonly GuidanceInjection[];
  /** The instruction with this id as its key; undefined for any other text. */
  get(id: string): GuidanceInjection | undefined;
}

/**
 * Defines a bank: `guidanceBank({ 'run-tests': { content: 'Run the tests before you go on.', category: 'testing' } })`.
 *
 * @throws CoxswainError "invalid-definition" when it is empty, or an id, content, priority or category breaks a rule
 */
export function guidanceBank(instructions: Readonly<Record<string, BankInstruction>>): GuidanceBank {
  const byId = new Map<string, GuidanceInjection>();
  for (const [key, instruction] of Object.entries(instructions)) {
    byId.set(key, Object.freeze(checkInjection(completeDraft({ key, ...instruction }, instruction.category))));
  }
  if (byId.size === 0) throw invalidDefinition('a guidance bank needs at least one instruction', {});
  return Object.freeze({ instructions: Object.freeze([...byId.values()]), get: (id: string) => byId.get(id) });
}
