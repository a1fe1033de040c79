import { homedir } from 'node:os';

import { messageOf } from '../../../core/base/error.ts';
import { findSessions } from '../../../formats/find-sessions.ts';
import { findSources, type FoundSource } from '../../../formats/find-sources.ts';
import { importers } from '../../../formats/importers.ts';

import { present } from '../../../core/base/json.ts';
import { RunIds } from '../../../formats/run-ids.ts';
import type { ReadRunsItem } from '../../../formats/read-runs.ts';
import { runsOfSources } from '../../runs/runs-from.ts';
import { openStoreNamed } from '../../runs/open-store.ts';
import { choiceOption } from '../../terminal/option-values.ts';
import { printable } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { Progress } from '../../terminal/progress.ts';
import { PrintedOutput, type ReportOutput } from './report-output.ts';
import { GROUPS, TableOutput } from './table-output.ts';
import { RunRecorder, type RefusedRun } from '../../runs/run-recorder.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface AnalyzeOptions {
  readonly json?: boolean;
  readonly hints?: boolean;
  readonly recompute?: boolean;
  readonly stuck?: boolean;
  readonly summary?: boolean;
  readonly all?: boolean;
  readonly by?: string;
  readonly csv?: string;
  readonly verbose?: boolean;
  readonly format?: string;
  readonly store?: string;
}

/**
 * @param paths  files, folders, globs and `-`; default: the sessions of every agent program of this user, newest first
 * @returns the exit code: 1 if something could not be read or recorded
 * @throws CoxswainError `invalid-argument`, `store-io`, `store-version`
 */
export async function analyzeCommand(
  paths: readonly string[],
  options: AnalyzeOptions,
  terminal: Terminal,
): Promise<number> {
  const formats = [...new Set(importers.map((importer) => importer.format))].sort();
  const format = options.format === undefined ? undefined : choiceOption('--format', options.format, formats);
  // The keys of GROUPS are known from its type.
  const groups = Object.keys(GROUPS) as (keyof typeof GROUPS)[];
  const by = options.by === undefined ? undefined : choiceOption('--by', options.by, groups);
  const problems = new Problems(terminal);
  const progress = new Progress(terminal);
  const print = {
    stuckOnly: options.stuck === true,
    summaryOnly: options.summary === true,
    all: options.all === true,
    json: options.json === true,
  };
  const table = (by ?? options.csv) === undefined ? undefined : new TableOutput();
  const printedOutput = new PrintedOutput(terminal, print);
  const output = table === undefined ? printedOutput : by === undefined ? bothOutputs(printedOutput, table) : table;
  const store = options.store === undefined ? undefined : await openStoreNamed(options.store);
  const recorder = store && new RunRecorder(store, (refused) => problems.fault({ message: refusalText(refused) }));
  const { hints = false, recompute = false, verbose = false } = options;
  const ids = new RunIds();
  try {
    const sources = await countSources(paths.length === 0 ? installedSessions(terminal) : findSources(paths), progress);
    const query = {
      problems,
      ids,
      format,
      hints,
      recompute,
      reportsDamage: true,
      isVerbose: verbose,
      onSource: progress.source.bind(progress),
      onBytes: progress.bytes.bind(progress),
      ...present({ onItem: recorder && recordItems(recorder) }),
    };
    for await (const run of runsOfSources(sources, query)) {
      progress.run();
      await output.add(run);
    }
  } finally {
    progress.end();
    await store?.close();
  }
  if (paths.length > 0) problems.endSources(ids.repeated);
  await output.finish();
  if (by !== undefined) await table?.write(by, options.json === true, terminal);
  if (options.csv !== undefined) await table?.save(options.csv);
  if (output.runs === 0 && !problems.any) {
    if (paths.length > 0) terminal.complain(`coxswain: ${printable(paths.join(', '))}: no run found`);
    return 1;
  }
  return problems.any ? 1 : 0;
}

/** Finds all sources before reading the first one, so that the progress bar knows the total. */
async function countSources(
  sources: AsyncIterable<FoundSource>,
  progress: Progress,
): Promise<AsyncIterable<FoundSource>> {
  const all: FoundSource[] = [];
  for await (const source of sources) {
    all.push(source);
    progress.found(all.length);
  }
  progress.total(all.map(({ path, sizeBytes }) => [path, sizeBytes ?? 0]));
  return (async function* () {
    yield* all;
  })();
}

function bothOutputs(first: ReportOutput, second: ReportOutput): ReportOutput {
  return {
    async add(report) {
      await first.add(report);
      await second.add(report);
    },
    finish: () => first.finish(),
    get runs() {
      return first.runs;
    },
  };
}

/**
 * Finds the sessions of each agent program and prints their number. A session without runs, such as an empty one, is not a
 * problem.
 */
async function* installedSessions(terminal: Terminal): AsyncGenerator<FoundSource> {
  const hosts = await findSessions({ home: homedir(), env: process.env });
  const installed = hosts.filter(({ sessions }) => sessions.length > 0);
  if (installed.length === 0) {
    const folders = hosts.map(({ title, folder }) => `${title} ${printable(folder)}`).join(', ');
    terminal.complain(`coxswain: no session of an agent program found in ${folders}. Name the files to read`);
    return;
  }
  const counts = installed.map(
    ({ title, folder, sessions }) => `${sessions.length} of ${title} in ${printable(folder)}`,
  );
  terminal.complain(`coxswain: session files: ${counts.join(', ')}`);
  const sessions = installed.flatMap((host) => host.sessions);
  for (const { path } of sessions.sort((a, b) => b.modifiedAtMs - a.modifiedAtMs)) {
    for await (const found of findSources([path])) yield { ...found, named: false };
  }
}

/** Returns a function that records the items of runs. */
function recordItems(recorder: RunRecorder): (item: ReadRunsItem) => Promise<void> {
  return async (item) => {
    if (item.type === 'record') await recorder.add(item.run.id, item.record);
    else if (item.type === 'end') await recorder.end(item.run.id);
  };
}

function refusalText({ runId, error }: RefusedRun): string {
  const reason =
    error.code === 'store-conflict'
      ? 'the store holds another run with that id; use another store for this one'
      : messageOf(error);
  return `run ${runId} is not recorded: ${reason}`;
}
