import { LruMap } from '../base/lru-map.ts';
import type { ProviderRecord } from './run-path.ts';

/** What went wrong with one provider, classifier, observer or detector in this process. */
export interface ProviderHealth {
  /** Number of times that it threw or returned an invalid result. */
  readonly failures: number;
  /** Number of times that it exceeded its time limit. */
  readonly overruns: number;
  /** Number of runs in which three overruns switched it off. */
  readonly offIn: number;
  /** Number of `advice_held` records: advice that a limit held back. */
  readonly held: number;
  /** At most 300 characters. */
  readonly lastFault?: string;
}

/** Maximum number of names. Beyond it, the name that was counted longest ago is left out. */
const MAX_NAMES = 200;

const NONE: ProviderHealth = { failures: 0, overruns: 0, offIn: 0, held: 0 };

/** Counts what went wrong with providers, for `health()`. */
export class ProviderTally {
  readonly #byName = new LruMap<ProviderHealth>(MAX_NAMES);

  /** @param isOff  true if this overrun switched the provider off */
  count(about: ProviderRecord, isOff: boolean): void {
    // Overruns name the kind of provider as well, because a feedback and a guidance provider may share a name.
    const name = about.kind === 'provider_overran' ? about.provider_name.replace(/^\w+:/, '') : about.provider_name;
    const known = this.#byName.get(name) ?? NONE;
    if (about.kind === 'advice_held') this.#byName.set(name, { ...known, held: known.held + 1 });
    else if (about.kind === 'provider_failed')
      this.#byName.set(name, { ...known, failures: known.failures + 1, lastFault: about.message });
    else this.#byName.set(name, { ...known, overruns: known.overruns + 1, offIn: known.offIn + (isOff ? 1 : 0) });
  }

  /** Returns undefined if nothing went wrong. */
  health(): Readonly<Record<string, ProviderHealth>> | undefined {
    const entries = this.#byName.entries();
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
}
