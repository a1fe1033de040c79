import type { CompletionCheck } from '../run/completion-check.ts';
import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { ModelPrices } from '../records/answer-cost.ts';
import type { RedactionOptions } from '../redaction/redactor.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { DeadlineFrom, NotifySection } from './coxswain-config.ts';

/** A configuration with every default filled in. */
export interface ResolvedConfig {
  /** For `createCoxswain({ ...steering, redaction, store })`. */
  readonly steering: SteeringOptions;
  readonly redaction: RedactionOptions | false;
  /** Absent: no deadline. */
  readonly deadline?: TimeSpan;
  readonly deadlineFrom: DeadlineFrom;
  /** Absent: no limit. */
  readonly budget?: Budget;
  /** In addition to the built-in prices. */
  readonly prices?: ModelPrices;
  /** Share of episodes whose advice is withheld. */
  readonly holdout: number;
  /** Advice may keep the agent from stopping, at most once per run. */
  readonly forceTurnAtStop: boolean;
  readonly store: ResolvedStore;
  readonly gc: ResolvedGc;
  /** Absent: no checks. */
  readonly completion?: CompletionCheck;
  /** Absent: no notifications. */
  readonly notify?: NotifySection;
  /** 16 hexadecimal digits, equal for equal configurations, whatever the order and layout of their files. */
  readonly hash: string;
}

/** Where runs are recorded. */
export interface ResolvedStore {
  readonly kind: 'sqlite' | 'postgres';
  /** An absolute path, or the URL of a database with its password, which `shownAddress` removes. */
  readonly address: string;
}

/** Which runs are deleted; absent limits delete nothing. */
export interface ResolvedGc {
  readonly olderThanMs?: number;
  readonly maxBytes?: number;
}
