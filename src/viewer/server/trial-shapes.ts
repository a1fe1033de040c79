import type { BacktestReport } from '../../backtest/backtest-report.ts';
import type { EffectReport } from '../../backtest/effect-report.ts';
import type { AdviceMark } from './api-shapes.ts';

/** A configuration that can be chosen for replays. */
export interface ConfigurationChoice {
  /** `recorded`, `standard`, `project`, or `file-N`. */
  readonly id: string;
  readonly name: string;
}

/** The configurations that the page offers. `project` is included if the project folder or the user has a configuration. */
export interface ConfigurationsAnswer {
  readonly configurations: readonly ConfigurationChoice[];
}

/** How advice changes under another configuration. */
export type AdviceChange = 'same' | 'earlier' | 'later' | 'new' | 'gone';

/** Advice under another configuration. If it is gone, the fields describe the original advice. */
export interface TriedAdvice extends Pick<AdviceMark, 'provider' | 'speaker' | 'text'> {
  readonly change: AdviceChange;
  /** 1-based number of the call after which the advice fires. It is also 1 for advice before the first call. */
  readonly call: number;
  /** The record at which the advice fires. */
  readonly seq: number;
  /** The original call, if the advice moved. */
  readonly wasCall?: number;
}

/** The advice of one run under another configuration. */
export interface TriedRunAnswer {
  /** Sorted by call, at most 1,000. */
  readonly advice: readonly TriedAdvice[];
  readonly counts: Readonly<Record<AdviceChange, number>>;
  /** Model-backed classifiers whose verdicts the run does not contain. If there are any, the run was not replayed. */
  readonly unanswered: readonly string[];
}

export interface TrialProgress {
  readonly runs: number;
  readonly of: number;
}

export interface TrialAnswer {
  /**
   * For a pair, the first configuration is the baseline and the second is the one being tried. For a sweep, there is one configuration
   * per value.
   */
  readonly report: BacktestReport;
  /** The effect of the recorded advice. */
  readonly effect: EffectReport;
}
