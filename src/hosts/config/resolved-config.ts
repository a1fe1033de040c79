import type { CompletionCheck } from '../../core/run/completion-check.ts';
import type { Budget } from '../../core/base/budget.ts';
import type { TimeSpan } from '../../core/base/deadline.ts';
import type { ModelPrices } from '../../core/records/answer-cost.ts';
import type { RedactionOptions } from '../../core/redact/redactor.ts';
import type { StoreKind } from '../../stores/store-address.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';
import type { DeadlineFrom, NotifySection } from './coxswain-config.ts';

/** A configuration with all defaults filled in. */
export interface ResolvedConfig {
  /** Options for `createCoxswain({ ...steering, redaction, store })`. */
  readonly steering: SteeringOptions;
  readonly redaction: RedactionOptions | false;
  /** Absent if there is no deadline. */
  readonly deadline?: TimeSpan;
  readonly deadlineFrom: DeadlineFrom;
  /** Absent if there is no limit. */
  readonly budget?: Budget;
  /** Configured prices, in addition to the built-in prices. */
  readonly prices?: ModelPrices;
  /** Share (0 to 1) of episodes whose advice is withheld. */
  readonly holdout: number;
  /** True if advice may prevent the agent from stopping, at most once per run. */
  readonly forceTurnAtStop: boolean;
  readonly store: ResolvedStore;
  readonly gc: ResolvedGc;
  /** Absent if nothing is checked. */
  readonly completion?: CompletionCheck;
  /** Absent if notifications are disabled. */
  readonly notify?: NotifySection;
  /** 16 hexadecimal digits. Equal for equal configurations, regardless of the order and layout of the files. */
  readonly hash: string;
}

/** The location of recorded runs. */
export interface ResolvedStore {
  readonly kind: StoreKind;
  /** An absolute path, or a database URL including its password. `shownAddress` removes the password. */
  readonly address: string;
}

/** Selects the runs to delete. An absent limit deletes nothing. */
export interface ResolvedGc {
  readonly olderThanMs?: number;
  readonly maxBytes?: number;
}
