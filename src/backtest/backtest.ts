import { present } from '../base/present.ts';
import { CoxswainError, invalidArgument } from '../base/error.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { BacktestReport } from './backtest-report.ts';
import { buildReport } from './build-report.ts';
import { configurationOf, makeConfiguration, type Configuration, type ConfigurationSpec } from './configuration.ts';
import { joinShards, type JoinedRuns } from './join-shards.ts';
import type { Gates } from './judge-gates.ts';
import type { Label } from './labels.ts';
import { shownAddress } from '../store/store-address.ts';
import { listShards, shownSource } from './list-shards.ts';
import type { ShardProblem, ShardResult } from './run-row.ts';
import { runShards } from './run-shards.ts';
import { jobKey, ShardJournal } from './shard-journal.ts';
import type { Split } from './split-runs.ts';
import type { Sweep } from './sweep-report.ts';
import { truthOfLabels, truthOfOutcomes } from './truth.ts';

/** Options of a backtest. */
export interface BacktestOptions {
  /** Path of a configuration file. Default: `standardSteering()`. */
  readonly config?: string | undefined;
  /** A steering object to use instead of `config`. It cannot be sent to worker threads, so the backtest uses one thread. */
  readonly steering?: SteeringOptions | undefined;
  /** Compares `config` with the configuration at another path, or with `standard`. `config` comes first. */
  readonly against?: string | undefined;
  /** Tries several values of one numeric field of the configuration. */
  readonly sweep?: Sweep | undefined;
  /** The signal that the sweep reports: a provider, a kind of pattern, or `advice`. Default: the one that changes most. */
  readonly signal?: string | undefined;
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
  /** Called after each shard. */
  readonly onProgress?: ((progress: BacktestProgress) => void) | undefined;
}

/** Progress of a backtest. */
export interface BacktestProgress {
  readonly shards: number;
  readonly of: number;
  readonly runs: number;
}

/** The report and the read errors. */
export interface BacktestResult {
  readonly report: BacktestReport;
  readonly problems: readonly ShardProblem[];
  /** Ids of labels for which no run was found. */
  readonly unknownLabels: readonly string[];
}

/** The name that selects `standardSteering()` instead of a file. */
const STANDARD = 'standard';

/**
 * Replays recorded runs under a configuration, and compares the advice with how the runs ended. The replay uses the same code as a live
 * run and the timestamps of the records. The result is deterministic: the report does not depend on the number of threads.
 *
 * @param paths stores, files of any import format, folders, globs, or `-`
 * @throws CoxswainError "invalid-argument" for an invalid configuration, sweep or number of threads, or for a model-backed classifier
 * without a recorded verdict; "input-io" if no run was read or no label belongs to a run; also the errors of opening a store
 * Memory: the state of open runs, and a row of about 500 bytes per run.
 */
export async function backtest(paths: readonly string[], options: BacktestOptions = {}): Promise<BacktestResult> {
  const { workers = 1, labels } = options;
  if (!Number.isSafeInteger(workers) || workers < 1 || workers > 256) {
    throw invalidArgument(`workers must be a whole number from 1 to 256, got ${workers}`);
  }
  const specs = specsOf(options);
  const configurations =
    options.steering === undefined
      ? await Promise.all(specs.map(makeConfiguration))
      : [configurationOf(options.steering, 'given')];
  const joinedRuns = await replayAll(
    paths,
    configurations,
    options.steering === undefined ? specs : undefined,
    options,
  );
  mustBeUsable(paths, joinedRuns, configurations);
  const truth = labels === undefined ? truthOfOutcomes() : truthOfLabels(labels);
  const report = buildReport(joinedRuns, {
    paths: paths.map(shownAddress),
    configurations,
    truth,
    split: options.split,
    gates: options.gates ?? {},
    compares: options.against !== undefined,
    stopEarly: options.stopEarly === true,
    signal: options.signal,
  });
  const unknownLabels = truth.unknownIds();
  if (labels !== undefined && unknownLabels.length === new Set(labels.map(({ id }) => id)).size) {
    const example = labels[0] === undefined ? 'the file is empty' : `such as ${JSON.stringify(labels[0].id)}`;
    throw new CoxswainError('input-io', `no label matches a run (${example}); ids are those of --json`);
  }
  return { report, problems: joinedRuns.problems, unknownLabels };
}

function specsOf({ config, against, steering, sweep }: BacktestOptions): readonly ConfigurationSpec[] {
  const selectedOptions = [config ?? steering, against, sweep].filter((one) => one !== undefined).length;
  if (steering !== undefined && selectedOptions > 1) {
    throw invalidArgument('config, against and sweep cannot be combined with a steering in memory');
  }
  if (against !== undefined && sweep !== undefined) {
    throw invalidArgument('a comparison and a sweep cannot be combined');
  }
  const first = specOf(config);
  if (sweep !== undefined) return sweep.values.map((value) => ({ ...first, set: { field: sweep.field, value } }));
  return against === undefined ? [first] : [first, specOf(against)];
}

function specOf(path: string | undefined): ConfigurationSpec {
  return path === undefined || path === STANDARD ? {} : { file: path };
}

async function replayAll(
  paths: readonly string[],
  configurations: readonly Configuration[],
  specs: readonly ConfigurationSpec[] | undefined,
  { workers = 1, resume, queue: queueAddress, onProgress }: BacktestOptions,
): Promise<JoinedRuns> {
  const shards = await listShards(paths);
  const isPiped = shards.some((shard) => shard.kind === 'file' && shard.path === '-');
  if (queueAddress !== undefined && (resume !== undefined || isPiped || specs === undefined)) {
    const reason = 'it resumes by itself, and other machines cannot read standard input or a steering in memory';
    throw invalidArgument(`--queue cannot be combined with --resume or -: ${reason}`);
  }
  const key = jobKey(shards, configurations);
  const journal = resume === undefined ? undefined : new ShardJournal(resume, key);
  const results = new Map<number, ShardResult>(journal?.done);
  let runs = [...results.values()].reduce((sum, { rows }) => sum + rows.length, 0);
  const onResult = (number: number, result: ShardResult): void => {
    results.set(number, result);
    runs += result.rows.length;
    onProgress?.({ shards: results.size, of: shards.length, runs });
  };
  const queue =
    queueAddress === undefined
      ? undefined
      : await (
          await import('./shard-queue.ts')
        ).ShardQueue.open(queueAddress, { key, shards: shards.length, onResult });
  const unfinished = [...shards.keys()].filter((number) => !results.has(number));
  try {
    await runShards(shards, {
      configurations,
      ...present({ specs }),
      // Standard input can be read only once.
      workers: isPiped ? 1 : Math.min(workers, unfinished.length),
      take: queue === undefined ? async () => unfinished.shift() : async () => queue.take(),
      onDone: async (number, result) => {
        if (queue !== undefined) return queue.done(number, result);
        journal?.add(number, result);
        onResult(number, result);
      },
    });
  } finally {
    await queue?.close();
  }
  return joinShards(
    shards.flatMap((shard, number) => {
      const result = results.get(number);
      return result === undefined ? [] : [{ path: shownSource(shard), result }];
    }),
  );
}

function mustBeUsable(
  paths: readonly string[],
  { rows, problems }: JoinedRuns,
  configurations: readonly Configuration[],
): void {
  if (rows.length === 0) {
    const [problem] = problems;
    const reason = problem === undefined ? 'no run found' : `no run could be read: ${problem.message}`;
    throw new CoxswainError('input-io', `${problem?.path ?? paths.map(shownAddress).join(', ')}: ${reason}`);
  }
  if (rows.some(({ unanswered }) => unanswered.length === 0)) return;
  const names = [...new Set(rows.flatMap(({ unanswered }) => unanswered))].sort().join(', ');
  const configurationNames = configurations.map(({ name }) => name).join(', ');
  throw invalidArgument(
    `${configurationNames}: the model-backed classifier ${names} has no recorded verdict (model_answered) in any of these runs, and a backtest asks no model; take runs that were recorded with it, or leave it out`,
  );
}
