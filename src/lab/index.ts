/** Public entry point `coxswain/backtest`. */
export { backtest } from './backtest.ts';
export type { BacktestOptions, BacktestProgress, BacktestResult } from './backtest-options.ts';
export {
  BACKTEST_REPORT_VERSION,
  type BacktestReport,
  type ChangeCounts,
  type ComparisonReport,
  type ConfigurationReport,
  type ExamplesReport,
  type GateReport,
  type InputReport,
  type MomentReport,
  type PartFigures,
  type PartReport,
  type PlaceReport,
  type QuartilesReport,
  type GroupReport,
  type RateRatioReport,
  type SavedReport,
  type ShareReport,
  type SignalReport,
  type StopEarlyReport,
  type StopFigures,
  type StopPolicyReport,
  type SweepPointReport,
  type SweepReport,
} from './backtest-report.ts';
export type {
  Delivery,
  AdviceOutcome,
  AdviceOutcomeOptions,
  HeldAdvice,
  NextCall,
} from '../core/facts/advice-outcome.ts';
export { effect, type EffectOptions } from './effect.ts';
export type { ArmFigures, EffectExperiment, EffectOutcome, EffectReport, EffectRuns } from './effect-row.ts';
export { formatLabels, parseLabels, readLabels, type Label, type LabelTarget } from './labels.ts';
export type { OnReadProblem } from './read-shard.ts';
export type { Gates, Split } from './judge-gates.ts';
export type { ShardProblem } from './run-row.ts';
export type { Sweep } from './sweep-report.ts';
export { verifyRuns, type DerivedMismatch, type RunVerification, type VerifyOptions } from './verify-runs.ts';
