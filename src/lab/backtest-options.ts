import type { SteeringOptions } from '../core/steering/steering-options.ts';
import type { BacktestReport } from './backtest-report.ts';
import type { Gates, Split } from './judge-gates.ts';
import type { Label } from './labels.ts';
import type { ShardProblem } from './run-row.ts';
import type { Sweep } from './sweep-report.ts';

export interface BacktestOptions {
  /** Path of a configuration file. Default: `standardSteering()`. */
  readonly config?: string | undefined;
  /** A steering object to use instead of `config`. It cannot be sent to worker threads, so the backtest uses one thread. */
  readonly steering?: SteeringOptions | undefined;
  /** The configuration to compare with `config`: a path, or `standard`. Reports show `config` first. */
  readonly against?: string | undefined;
  /** Tries several values of one numeric field of the configuration. */
  readonly sweep?: Sweep | undefined;
  /** The expected results of runs. They replace the recorded outcomes. */
  readonly labels?: readonly Label[] | undefined;
  readonly split?: Split | undefined;
  readonly gates?: Gates | undefined;
  /** Measures what is saved and lost if runs are stopped after a stuck warning. Default: false. */
  readonly stopEarly?: boolean | undefined;
  /** Number of threads. Default: 1. */
  readonly workers?: number | undefined;
  /** A file that stores finished work, so that an interrupted backtest can resume. */
  readonly resume?: string | undefined;
  /**
   * The address `postgres://…` of a queue. It shares the shards among all machines that run the same backtest on the same input. Each
   * machine receives the whole report. This option needs the package `pg-boss`.
   */
  readonly queue?: string | undefined;
  readonly onProgress?: ((progress: BacktestProgress) => void) | undefined;
}

export interface BacktestProgress {
  readonly shards: number;
  readonly of: number;
  readonly runs: number;
}

export interface BacktestResult {
  readonly report: BacktestReport;
  readonly problems: readonly ShardProblem[];
  /** Ids of labels for which no run was found. */
  readonly unknownLabels: readonly string[];
}
