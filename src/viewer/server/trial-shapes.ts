import type { BacktestReport } from '../../backtest/backtest-report.ts';
import type { EffectReport } from '../../backtest/effect-report.ts';
import type { AdviceMark } from './api-shapes.ts';

/** A configuration for replays. */
export interface ConfigurationChoice {
  /** `recorded`, `standard`, `project`, or `file-N`. */
  readonly id: string;
  readonly name: string;
}

/** The configurations on offer. `project` is included if the folder or the user has a configuration. */
export interface ConfigurationsAnswer {
  readonly configurations: readonly ConfigurationChoice[];
}

/** The change of a piece of advice under another configuration. */
export type AdviceChange = 'same' | 'earlier' | 'later' | 'new' | 'gone';

/** A piece of advice under another configuration; one that is gone is as before. */
export interface TriedAdvice extends Pick<AdviceMark, 'provider' | 'speaker' | 'text'> {
  readonly change: AdviceChange;
  /** The call after which it comes, from 1; also 1 before the first call. */
  readonly call: number;
  /** The record at which it comes. */
  readonly seq: number;
  /** The earlier call, if it moved. */
  readonly wasCall?: number;
}

/** The advice of one run under another configuration. */
export interface TriedRunAnswer {
  /** By call; at most 1,000. */
  readonly advice: readonly TriedAdvice[];
  readonly counts: Readonly<Record<AdviceChange, number>>;
  /** Classifiers that ask a model whose answers the run does not contain: the run was not replayed. */
  readonly unanswered: readonly string[];
}

export interface TrialProgress {
  readonly runs: number;
  readonly of: number;
}

export interface TrialAnswer {
  /** Of a pair, the first configuration is the one to compare with, the second the one tried; of a sweep, one for each value. */
  readonly report: BacktestReport;
  /** The effect of the recorded advice. */
  readonly effect: EffectReport;
}
