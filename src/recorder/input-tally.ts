import type { InputCounts, InputFault } from '../base/input-fault.ts';
import type { Mutable } from '../base/mutable.ts';

/** Counts what was wrong with the input of a process's runs. */
export class InputTally {
  readonly #counts: Mutable<InputCounts> = {};
  #isClean = true;

  note(fault: InputFault, times = 1): void {
    this.#isClean = false;
    this.#counts[fault] = (this.#counts[fault] ?? 0) + times;
  }

  /** For a report of health: nothing while nothing was wrong. */
  health(): { readonly input?: InputCounts } {
    return this.#isClean ? {} : { input: { ...this.#counts } };
  }
}
