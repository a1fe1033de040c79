import type { BacktestReport } from '../../backtest/backtest-report.ts';
import type { EffectReport } from '../../backtest/effect-report.ts';
import type { AdviceMark } from './api-shapes.ts';

/** A configuration that runs can be replayed under. */
export interface ConfigurationChoice {
  /** `recorded`, `standard`, `project`, or `file-N`. */
  readonly id: string;
  readonly name: string;
}

/** The configurations that may be picked. `project` is there only where the folder or the user has a configuration. */
export interface ConfigurationsAnswer {
  readonly configurations: readonly ConfigurationChoice[];
}

/** What another configuration changes about a piece of advice. */
export type AdviceChange = 'same' | 'earlier' | 'later' | 'new' | 'gone';

/** A piece of advice under another configuration; of one that is gone, as it was. */
export interface TriedAdvice extends Pick<AdviceMark, 'provider' | 'speaker' | 'text'> {
  readonly change: AdviceChange;
  /** The call after which it comes, numbered from 1; what comes before the first call has 1 too. */
  readonly call: number;
  /** The record at which it comes. */
  readonly seq: number;
  /** Of one that moved: the call after which it came. */
  readonly wasCall?: number;
}

/** The advice of one run under another configuration. */
export interface TriedRunAnswer {
  /** By call; at most 1,000. */
  readonly advice: readonly TriedAdvice[];
  readonly counts: Readonly<Record<AdviceChange, number>>;
  /** Why nothing could be replayed: a classifier asks a model, and the run holds no answer of it. */
  readonly unanswered: readonly string[];
}

/** How far a trial over many runs is. */
export interface TrialProgress {
  readonly runs: number;
  readonly of: number;
}

/** Many runs under another configuration. */
export interface TrialAnswer {
  /** Of a pair, the first configuration is the one to compare with, the second the one tried; of a sweep, one for each value. */
  readonly report: BacktestReport;
  /** What followed the advice that was recorded. */
  readonly effect: EffectReport;
}
