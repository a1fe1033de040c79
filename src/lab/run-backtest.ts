import { present } from '../core/base/present.ts';
import { CoxswainError, invalidArgument } from '../core/base/error.ts';
import type { BacktestOptions, BacktestResult } from './backtest-options.ts';
import { buildReport } from './build-report.ts';
import { configurationOf, makeConfiguration, type Configuration, type ConfigurationSpec } from './configuration.ts';
import { joinShards, type JoinedRuns } from './join-shards.ts';
import { shownAddress } from '../stores/store-address.ts';
import { listShards, shownSource } from './list-shards.ts';
import type { ShardResult } from './run-row.ts';
import { runShards } from './run-shards.ts';
import { jobKey, ShardJournal } from './shard-journal.ts';
import { truthOfLabels, truthOfOutcomes } from './truth.ts';

/** The name that selects `standardSteering()` instead of a file. */
const STANDARD = 'standard';

export async function runBacktest(paths: readonly string[], options: BacktestOptions): Promise<BacktestResult> {
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
    throw new CoxswainError('input-io', `no label matches a run (${example}); use the ids that --json prints`);
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
