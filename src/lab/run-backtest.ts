import { dirname } from 'node:path';
import { present } from '../core/base/json.ts';
import { CoxswainError, invalidArgument } from '../core/base/error.ts';
import type { BacktestOptions, BacktestResult } from './backtest-options.ts';
import { configurationOf, makeConfiguration, type Configuration, type ConfigurationSpec } from './configuration.ts';
import { shownAddress } from '../stores/store-address.ts';
import { listShards, shownSource, type Shard } from './list-shards.ts';
import { jobKey, ShardJournal } from './shard-journal.ts';
import { type ShardResult, type FiringKey, FiringKeys, type RunRow, type ShardProblem } from './run-row.ts';
import {
  truthOfLabels,
  truthOfOutcomes,
  type TruthSource,
  judgedTruths,
  type LabelledMoment,
  measureSignals,
  type MeasuredRun,
  measureStops,
  type StoppableRun,
} from './measure-signals.ts';
import { countOf, shareText } from '../core/base/number-text.ts';
import { copiesNote, judgeGates, type Gates, partNames, partOf } from './judge-gates.ts';
import {
  BACKTEST_REPORT_VERSION,
  type GroupReport,
  type BacktestReport,
  type InputReport,
  type PartReport,
} from './backtest-report.ts';
import { compareFirings, sweepReport } from './sweep-report.ts';
import { RunIds } from '../formats/run-ids.ts';
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../core/node/thread-entry.ts';
import { replayShard } from './replay-shard.ts';
import type { ShardAnswer, ShardRequest } from './shard-worker.ts';

/** The minimum number of labelled runs with a firing that a statement about a signal needs. */
const MIN_JUDGED_RUNS = 5;

const MAX_DEPTH = 16;

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
  });
  const unknownLabels = truth.unknownIds();
  if (labels !== undefined && unknownLabels.length === new Set(labels.map(({ id }) => id)).size) {
    const example = labels[0] === undefined ? 'the file is empty' : `such as ${JSON.stringify(labels[0].id)}`;
    throw new CoxswainError(
      'input-io',
      `no label matches a run or a call of one (${example}); use the ids that --json prints`,
    );
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

/** `standard` selects `standardSteering()`. */
function specOf(path: string | undefined): ConfigurationSpec {
  return path === undefined || path === 'standard' ? {} : { file: path };
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

interface ReportSetup extends Pick<BacktestOptions, 'split'> {
  readonly paths: readonly string[];
  readonly configurations: readonly Configuration[];
  readonly truth: TruthSource;
  readonly gates: Gates;
  /** True if the second configuration is compared with the first. */
  readonly compares: boolean;
  /** True if the report includes the savings of stopping after a warning. */
  readonly stopEarly: boolean;
}

interface KnownRun {
  readonly row: JoinedRow;
  readonly positive: boolean | null;
  readonly moments?: readonly LabelledMoment[];
  readonly part: string;
  readonly task: string;
}

/** Builds the report. The function is pure: the same runs in the same order give the same bytes. */
function buildReport(joined: JoinedRuns, setup: ReportSetup): BacktestReport {
  const { configurations, split, truth } = setup;
  const runs = joined.rows.filter(({ unanswered }) => unanswered.length === 0).map((row) => toKnownRun(row, setup));
  const { stopEarly } = setup;
  const parts = partNames(split).map((name) => partReport(name, runs, { joined, configurations, stopEarly }));
  const input = inputReport(joined, runs);
  const comparison = setup.compares
    ? compareFirings(
        runs.map(({ row }) => ({ id: row.id, before: row.fired[0] ?? [], after: row.fired[1] ?? [] })),
        joined.keys,
      )
    : undefined;
  const sweep = sweepReport(configurations, parts[0]);
  return {
    version: BACKTEST_REPORT_VERSION,
    paths: setup.paths,
    configurations: configurations.map(({ name, hash }) => ({ name, hash })),
    input,
    truth: truth.kind,
    parts,
    ...present({ comparison, sweep }),
    gates: judgeGates(setup.gates, parts.at(-1)),
    notes: notesOf(input, parts, {
      ...setup,
      repeated: joined.repeated,
      hasMoments: runs.some(({ moments = [] }) => moments.length > 0),
    }),
  };
}

function toKnownRun(row: JoinedRow, { truth, split }: ReportSetup): KnownRun {
  const { moments, positive, split: splitName } = truth.of(row);
  const task = row.task === '' ? `run ${row.id}` : row.task;
  const isPart = split !== undefined && splitName !== undefined && partNames(split).includes(splitName);
  return { row, positive, ...present({ moments }), task, part: isPart ? splitName : partOf(task, split) };
}

function partReport(
  name: string,
  knownRuns: readonly KnownRun[],
  {
    joined,
    configurations,
    stopEarly,
  }: Pick<ReportSetup, 'configurations' | 'stopEarly'> & { readonly joined: JoinedRuns },
): PartReport {
  const runs = knownRuns.filter(({ part }) => part === name);
  return {
    name,
    runs: runs.length,
    calls: runs.reduce((sum, { row }) => sum + row.calls, 0),
    ...truthCounts(runs),
    tasks: new Set(runs.map(({ task }) => task)).size,
    groups: groupReports(runs, { joined, configurations }),
    byConfiguration: configurations.map((_, index) => {
      const figures = measureSignals(measuredRuns(runs, index), joined.keys);
      if (!stopEarly) return figures;
      const stoppable = runs.map(({ row, positive }): StoppableRun => {
        return { calls: row.calls, use: row.use, positive, stops: row.stops[index] ?? [] };
      });
      return { ...figures, stopEarly: measureStops(stoppable) };
    }),
  };
}

function measuredRuns(runs: readonly KnownRun[], configuration: number): readonly MeasuredRun[] {
  return runs.map(({ moments, positive, row }) => {
    const { calls, group, id, source } = row;
    return { id, source, group, calls, positive, ...present({ moments }), fired: row.fired[configuration] ?? [] };
  });
}

function truthCounts(runs: readonly KnownRun[]): Pick<PartReport, 'positive' | 'negative' | 'unlabelled'> {
  const truths = runs.map(judgedTruths);
  return {
    positive: truths.flat().filter((positive) => positive).length,
    negative: truths.flat().filter((positive) => !positive).length,
    unlabelled: truths.filter((judged) => judged.length === 0).length,
  };
}

function groupReports(
  runs: readonly KnownRun[],
  { configurations, joined }: Pick<ReportSetup, 'configurations'> & { readonly joined: JoinedRuns },
): readonly GroupReport[] {
  return [...Map.groupBy(runs, ({ row }) => row.group)]
    .map(([name, members]) => ({ name, members, counts: truthCounts(members) }))
    .map(({ counts, members, name }) => ({
      name,
      runs: members.length,
      positive: counts.positive,
      negative: counts.negative,
      advice: configurations.map((_, index) => {
        const { advice } = measureSignals(measuredRuns(members, index), joined.keys);
        const { atSameCall, falseRate, precision } = advice;
        return { runs: advice.runs, precision, falseRate, atSameCall };
      }),
    }))
    .toSorted((left, right) => right.runs - left.runs || (left.name < right.name ? -1 : 1));
}

function inputReport({ rows, problems }: JoinedRuns, runs: readonly KnownRun[]): InputReport {
  const count = (holds: (run: KnownRun) => boolean): number => runs.filter(holds).length;
  return {
    runs: runs.length,
    calls: runs.reduce((sum, { row }) => sum + row.calls, 0),
    ...truthCounts(runs),
    ownEvaluations: count(({ row }) => row.own),
    neverAsked: count(({ row }) => row.own && !row.evaluated),
    advised: count(({ row }) => row.advised),
    withGap: count(({ row }) => row.gap),
    withoutVerdicts: rows.length - runs.length,
    problems: new Set(problems.map(({ path }) => path)).size,
  };
}

function notesOf(
  input: InputReport,
  parts: readonly PartReport[],
  { hasMoments, repeated, ...setup }: ReportSetup & { readonly hasMoments: boolean; readonly repeated: number },
): readonly string[] {
  const notes: string[] = [
    'A recording shows where a configuration would have given advice, not what the agent would have done with it: after the first new advice in a run, its figures are uncertain.',
  ];
  const judgedRuns = input.positive + input.negative;
  const isByOutcome = setup.truth.kind === 'outcomes';
  if (judgedRuns > 0 && isByOutcome) {
    notes.push(
      'A positive run is one that failed. A run may fail without ever being stuck, so recall against outcomes has a low ceiling.',
    );
  }
  if (judgedRuns === 0) {
    const reason = isByOutcome ? 'No run records whether it succeeded' : 'No label marks these runs as stuck or ok';
    notes.push(`${reason}, so precision, recall and rates are unknown; give labels with --labels FILE.`);
  } else {
    if (input.positive === 0) notes.push('No run is positive, so recall is unknown.');
    if (input.negative === 0) notes.push('No run is negative, so the false rate is unknown.');
  }
  if (judgedRuns > 0 && input.unlabelled > 0) {
    notes.push(`${input.unlabelled} of ${input.runs} runs are unlabelled: no precision, recall or rate includes them.`);
  }
  for (const [index, { name }] of setup.configurations.entries()) {
    const isSilent = parts.every(({ byConfiguration }) => byConfiguration[index]?.advice.fired === 0);
    if (isSilent) notes.push(`The configuration ${name} gives no advice in any of these runs.`);
  }
  if (hasMoments) {
    notes.push(
      'The label of a call judges what fires at that call. Recall is of the labelled calls only: label calls without a flag too.',
    );
  } else notes.push(...chanceNotes(parts.at(-1), setup));
  if (input.neverAsked > 0) {
    notes.push(
      `${input.neverAsked} runs were recorded by a host that never evaluated the steering, so nothing can fire in them.`,
    );
  }
  if (input.advised > 0) {
    notes.push(
      `${input.advised} of ${countOf(input.runs, 'run')} got advice while they were recorded (${input.ownEvaluations} were steered), so what they did and how they ended includes its effect.`,
    );
  }
  notes.push(...copiesNote(repeated));
  if (input.withGap > 0) notes.push(`${input.withGap} runs have a gap; lost records are not evaluated.`);
  if (input.withoutVerdicts > 0) {
    notes.push(
      `${input.withoutVerdicts} runs are left out: a model-backed classifier has no recorded verdict in them.`,
    );
  }
  return notes;
}

function chanceNotes(part: PartReport | undefined, { configurations }: ReportSetup): readonly string[] {
  if (part === undefined || part.positive === 0 || part.negative === 0) return [];
  const base = part.positive / (part.positive + part.negative);
  return part.byConfiguration.flatMap(({ advice, providers }, index) => {
    const qualifier = configurations.length === 1 ? '' : ` under ${configurations[index]?.name ?? ''}`;
    return [advice, ...providers].flatMap(({ by, name, precision: { high, hits, low, of } }) => {
      // The interval of another signal leaves the base rate out.
      if (of < MIN_JUDGED_RUNS || low === null || high === null || low > base || high < base) return [];
      const who = by === 'advice' ? 'Advice as a whole' : name;
      return [
        `${who}${qualifier} is no better than chance on these runs: ${hits} of the ${of} runs in which it spoke failed (95 % interval ${shareText(low)} to ${shareText(high)}), and ${shareText(base)} of all runs failed.`,
      ];
    });
  });
}

interface JoinedRow extends RunRow {
  readonly source: string;
  /** Source (file, folder of sessions, or session of a subagent), agent and model, whether or not in a store. */
  readonly group: string;
}

interface JoinedRuns {
  readonly keys: readonly FiringKey[];
  /** The rows in input order. Their ids are unique across all shards. */
  readonly rows: readonly JoinedRow[];
  readonly problems: readonly ShardProblem[];
  readonly repeated: number;
}

/** Joins the results of shards in shard order, so the order of completion does not matter. */
function joinShards(shards: readonly { readonly path: string; readonly result: ShardResult }[]): JoinedRuns {
  const keys = new FiringKeys();
  const ids = new RunIds();
  const rows: JoinedRow[] = [];
  const problems: ShardProblem[] = [];
  const placeOf = placesOf(shards.flatMap(({ result }) => result.rows));
  for (const { path, result } of shards) {
    const numbers = result.keys.map((key) => keys.numberOf(key));
    for (const row of result.rows) {
      const place = placeOf(row) ?? path;
      const fired = row.fired.map((pairs) =>
        pairs.map((value, index) => (index % 2 === 0 ? (numbers[value] ?? 0) : value)),
      );
      rows.push({
        ...row,
        id: ids.take(row.id),
        fired,
        source: path,
        group: row.agent === '' ? place : `${place}: ${row.agent}`,
      });
    }
    problems.push(...result.problems);
  }
  return { keys: keys.keys, rows, problems, repeated: ids.repeated };
}

/** Returns a function that gives the source of an imported run; undefined for one that was recorded live. */
function placesOf(rows: readonly RunRow[]): (row: RunRow) => string | undefined {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const sessions = new Map<string, number>();
  for (const { origin, parent } of rows) if (parent === '') sessions.set(origin, (sessions.get(origin) ?? 0) + 1);
  return (row) => {
    let session = row;
    // A damaged file may name runs as each other's parents.
    for (let depth = 0; depth < MAX_DEPTH; depth += 1) session = byId.get(session.parent) ?? session;
    const { origin } = session;
    if (origin === '') return undefined;
    return (sessions.get(origin) ?? 0) > 1 ? origin : dirname(origin);
  };
}

interface RunShardsOptions {
  readonly configurations: readonly Configuration[];
  /** The same configurations as plain data. Absent if they cannot be sent to threads; then the current thread does the work. */
  readonly specs?: readonly ConfigurationSpec[];
  /** Number of threads. With 1, only the current thread works. */
  readonly workers: number;
  /** Returns the number of the next shard, or undefined when none is left. */
  readonly take: () => Promise<number | undefined>;
  /** Called after each shard. The order of the calls is not fixed. */
  readonly onDone: (number: number, result: ShardResult) => Promise<void>;
}

/** A thread takes its next shard when it has finished one. Throws CoxswainError "input-io" if one stops unexpectedly. */
async function runShards(shards: readonly Shard[], options: RunShardsOptions): Promise<void> {
  const { configurations, specs, take, onDone, workers: threads } = options;
  const nextRequest = async (): Promise<ShardRequest | undefined> => {
    const number = await take();
    const shard = number === undefined ? undefined : shards[number];
    return number === undefined || shard === undefined ? undefined : { number, shard };
  };
  if (specs === undefined || threads <= 1) {
    for (let request = await nextRequest(); request !== undefined; request = await nextRequest()) {
      await onDone(request.number, await replayShard(request.shard, configurations));
    }
    return;
  }
  const workers = Array.from({ length: threads }, () => {
    return new Worker(threadEntry('shard-worker', import.meta.url), { workerData: specs, execArgv: [] });
  });
  try {
    await Promise.all(workers.map((worker) => feedWorker(worker, nextRequest, onDone)));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function feedWorker(
  worker: Worker,
  next: () => Promise<ShardRequest | undefined>,
  onDone: RunShardsOptions['onDone'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const requestNext = async (): Promise<void> => {
      const request = await next();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      if (request !== undefined) worker.postMessage(request);
      else resolve();
    };
    const handleAnswer = async (answer: ShardAnswer): Promise<void> => {
      if ('fault' in answer) {
        throw new CoxswainError('input-io', answer.fault.message, { details: { shard: answer.number } });
      }
      await onDone(answer.number, answer.result);
      await requestNext();
    };
    worker.on('message', (answer: ShardAnswer) => void handleAnswer(answer).catch(reject));
    worker.on('error', (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      reject(new CoxswainError('input-io', `a worker thread failed: ${reason}`, { cause: error }));
    });
    worker.on('exit', (code) => reject(new CoxswainError('input-io', `a worker thread stopped with code ${code}`)));
    requestNext().catch(reject);
  });
}
