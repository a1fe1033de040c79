import type { InputCounts, InputFault } from '../base/input-fault.ts';
import type { Mutable } from '../base/mutable.ts';

/** Counts faults in the input of a process's runs. */
export class InputTally {
  readonly #counts: Mutable<InputCounts> = {};
  #isClean = true;

  note(fault: InputFault, times = 1): void {
    this.#isClean = false;
    this.#counts[fault] = (this.#counts[fault] ?? 0) + times;
  }

  /** Returns the counts for `health`. Empty if there were no faults. */
  health(): { readonly input?: InputCounts } {
    return this.#isClean ? {} : { input: { ...this.#counts } };
  }
}
