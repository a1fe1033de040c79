import type { CompletionCheck } from '../run/completion-check.ts';
import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { ModelPrices } from '../records/answer-cost.ts';
import type { RedactionOptions } from '../redaction/redactor.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { DeadlineFrom, NotifySection } from './coxswain-config.ts';

/** A configuration with every default filled in, as the rest of the program takes it. */
export interface ResolvedConfig {
  /** For `createCoxswain({ ...steering, redaction, store })`. */
  readonly steering: SteeringOptions;
  readonly redaction: RedactionOptions | false;
  /** Absent: no deadline. */
  readonly deadline?: TimeSpan;
  readonly deadlineFrom: DeadlineFrom;
  /** Absent: no limit. */
  readonly budget?: Budget;
  /** Beside the built-in ones; absent: none. */
  readonly prices?: ModelPrices;
  /** Share of episodes of which advice is withheld; 0 is none. */
  readonly holdout: number;
  /** Advice may make the agent go on when it wants to stop, at most once a run. */
  readonly forceTurnAtStop: boolean;
  readonly store: ResolvedStore;
  readonly gc: ResolvedGc;
  /** Absent: nothing is checked. */
  readonly completion?: CompletionCheck;
  /** Absent: nobody is notified. */
  readonly notify?: NotifySection;
  /** Equal for configurations that say the same, whatever the order and layout of their files; 16 hexadecimal digits. */
  readonly hash: string;
}

/** Where runs are recorded. */
export interface ResolvedStore {
  readonly kind: 'sqlite' | 'postgres';
  /** An absolute path, or the URL of a database with its password: `shownAddress` gives what may be shown. */
  readonly address: string;
}

/** Which runs are deleted; what is absent deletes nothing by itself. */
export interface ResolvedGc {
  readonly olderThanMs?: number;
  readonly maxBytes?: number;
}
