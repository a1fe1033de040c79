import { dirname } from 'node:path';
import { messageOf } from '../../../core/base/error.ts';
import { findSources, type FoundSource } from '../../../formats/find-sources.ts';
import { importers } from '../../../formats/importers.ts';
import { present } from '../../../core/base/json.ts';
import { RunIds } from '../../../formats/run-ids.ts';
import type { ReadRunsItem } from '../../../formats/read-runs.ts';
import { runsOfSources } from '../../runs/runs-from.ts';
import { machineSessions, openStoreNamed } from '../../runs/open-store.ts';
import { choiceOption } from '../../terminal/option-values.ts';
import { distinctCuts, printable, printableCut, outputLine } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { Progress } from '../../terminal/progress.ts';
import { RunRecorder, type RefusedRun } from '../../runs/run-recorder.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { checkReplaceable, writeOutput } from '../../runs/write-output.ts';
import { countText, rangeText, usdText, callNumber } from '../../../core/base/number-text.ts';
import { inWords } from '../../../core/records/words.ts';
import { type RunFacts, factsJson } from '../../../core/facts/run-facts.ts';
import { allTokens } from '../../../core/facts/usage-text.ts';
import { isFlagged } from '../../../core/facts/seen-pattern.ts';
import { csvField } from '../../../core/base/csv-field.ts';
import { linesOf, listBlock, sectionOf, type Block } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { ratioOf } from '../../../lab/statistics.ts';
import { intervalText, runBlocks, totalsBlocks } from '../../runs/run-blocks.ts';
import { RunTotals } from '../../runs/run-totals.ts';

export const GROUPS = {
  model: ['model', 'not known'],
  task: ['task', 'no task on record'],
  tool: ['first_stuck_tool', 'not stuck, or of no tool'],
  folder: ['folder', '.'],
} as const;

const MAX_PRINTED = 40;
const NAME_CHARS = 40;
const SAMPLES = 3;

class TableOutput {
  readonly #rows: AnalysedRow[] = [];

  add(run: RunFacts): void {
    this.#rows.push(analysedRow(run));
  }

  async write(by: keyof typeof GROUPS, isJson: boolean, terminal: Terminal): Promise<void> {
    const [key, unknown] = GROUPS[by];
    const groups = [...Map.groupBy(this.#rows, (row) => row[key] ?? unknown)]
      .map(([name, rows]) => groupOf(name, rows))
      .sort((a, b) => b.runs - a.runs || (a.name < b.name ? -1 : 1));
    if (isJson) {
      for (const group of groups) await terminal.write(outputLine({ by, ...group }));
      return;
    }
    const hiddenGroups = groups.length - MAX_PRINTED;
    const names = distinctCuts(
      groups.map(({ name }) => name),
      NAME_CHARS,
    );
    const shown = groups.slice(0, MAX_PRINTED);
    const examples = shown.flatMap(({ samples }, at) =>
      samples.length === 0 ? [] : [{ head: names[at] ?? '', lines: samples.map(sampleText) }],
    );
    const blocks: readonly Block[] = [
      {
        type: 'table',
        head: [by, 'runs', 'stuck', 'succeeded', 'calls', 'after first flag', 'cost', 'after first flag'],
        rows: shown.map((group, at) => cellsOf(names[at] ?? '', group)),
      },
      ...(hiddenGroups > 0 ? [linesOf([`and ${countText(hiddenGroups)} more; --json has all`])] : []),
      ...sectionOf('Examples of stuck runs', listBlock(examples)),
    ];
    await terminal.write(terminalText({ blocks }, terminal));
  }

  async save(file: string): Promise<void> {
    await writeOutput(file, CSV_START, csvText(this.#rows));
  }
}

type Group = ReturnType<typeof groupOf>;

/** The totals of a group. A sum covers only the runs with a known value. */
function groupOf(name: string, rows: readonly AnalysedRow[]) {
  const sum = (values: readonly (number | null)[]): number | null =>
    values.reduce((total, value) => (value === null ? total : (total ?? 0) + value), null);
  const judgedRows = rows.filter(({ success }) => success !== null);
  const stuckRows = rows.filter((row) => row.stuck);
  return {
    name,
    runs: rows.length,
    stuck: stuckRows.length,
    succeeded: judgedRows.filter(({ success }) => success === true).length,
    judged: judgedRows.length,
    calls: sum(rows.map(({ calls }) => calls)) ?? 0,
    callsAfterFlag: sum(rows.map((row) => row.calls_after_flag)) ?? 0,
    // `callsAfterFlag` as a share of `calls`, with its 95 % interval over runs.
    afterFlag: ratioOf(rows.map((row) => ({ part: row.calls_after_flag ?? 0, whole: row.calls }))),
    costUsd: sum(rows.map((row) => row.cost_usd)),
    costAfterFlagUsd: sum(rows.map((row) => row.cost_after_flag_usd)),
    samples: stuckRows.slice(0, SAMPLES).map(({ first_stuck_call, first_stuck_pattern, id, source }) => ({
      id,
      source,
      first_stuck_call,
      first_stuck_pattern,
    })),
  };
}

function cellsOf(name: string, { afterFlag, calls, costAfterFlagUsd, costUsd, judged, runs, stuck, succeeded }: Group) {
  const costText = (cost: number | null): string => (cost === null ? '–' : usdText(cost));
  return [
    name,
    countText(runs),
    intervalText(stuck, runs),
    intervalText(succeeded, judged),
    countText(calls),
    `${rangeText(afterFlag)} of ${countText(calls)}`,
    costText(costUsd),
    costText(costAfterFlagUsd),
  ];
}

function sampleText({
  first_stuck_call: call,
  first_stuck_pattern: kind,
  id,
  source,
}: Group['samples'][number]): string {
  return `call ${call ?? '?'}: ${printableCut(inWords('pattern', kind ?? ''), 60)}, run ${printable(id)} in ${printable(source)}`;
}

type AnalysedRow = ReturnType<typeof analysedRow>;

/** A run as one flat row for CSV. Null means unknown. */
function analysedRow(run: RunFacts) {
  const { afterFlag, calls, costUsd, durationMs, ending, errors, format, id, modelId, source, task, tokens, turns } =
    run;
  const { cacheTokens, cacheWriteTokens = 0 } = run;
  const stuck = run.patterns.filter((pattern) => pattern.stuck && isFlagged(pattern));
  const [first] = stuck.toSorted((a, b) => (a.flaggedAt ?? 0) - (b.flaggedAt ?? 0));
  return {
    id,
    source,
    folder: dirname(source),
    format,
    model: modelId ?? null,
    task: task ?? null,
    calls,
    turns,
    errors,
    duration_ms: durationMs ?? null,
    tokens: tokens ?? null,
    cost_usd: costUsd ?? null,
    outcome: ending?.outcome ?? null,
    reason: ending?.reason ?? null,
    success: ending?.success ?? null,
    reward: ending?.reward ?? null,
    verdict: run.verdict.verdict,
    stuck: first !== undefined,
    // Number (from 1) of the first call at which a stuck pattern was flagged.
    first_stuck_call: first?.flaggedAt === undefined || first.flaggedAt === null ? null : callNumber(first.flaggedAt),
    first_stuck_pattern: first?.kind ?? null,
    first_stuck_tool: first?.tool ?? null,
    calls_after_flag: afterFlag?.calls ?? null,
    cost_after_flag_usd: afterFlag?.costUsd ?? null,
    parent_id: run.parentId ?? null,
    refused: run.refused ?? 0,
    cancelled: run.cancelled ?? 0,
    all_tokens: allTokens(run) ?? null,
    cached_tokens: cacheTokens === undefined ? null : cacheTokens - cacheWriteTokens,
    cache_written_tokens: cacheTokens === undefined ? null : cacheWriteTokens,
    tokens_at_least: run.answersCountedEarly !== undefined,
  };
}

/** The first columns of every version. */
const CSV_START = 'id,source,folder,format,model,task,';

/** Formats rows as CSV (RFC 4180 with LF line ends), with a header row. An empty field means unknown. */
function csvText(rows: readonly AnalysedRow[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  // A row has exactly the fields of its type.
  const names = Object.keys(first) as (keyof AnalysedRow)[];
  const lines = rows.map((row) => names.map((name) => csvField(row[name] ?? '')).join(','));
  return `${[names.join(','), ...lines].join('\n')}\n`;
}

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

/** @returns the exit code: 1 if something could not be read or recorded */
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
  if (options.csv !== undefined) checkReplaceable(options.csv, CSV_START);
  const problems = new Problems(terminal);
  const progress = new Progress(terminal);
  const print = {
    stuckOnly: options.stuck === true,
    summaryOnly: options.summary === true,
    all: options.all === true,
    json: options.json === true,
  };
  const table = (by ?? options.csv) === undefined ? undefined : new TableOutput();
  const printed = by === undefined ? new PrintedOutput(terminal, print) : undefined;
  const store = options.store === undefined ? undefined : await openStoreNamed(options.store);
  const recorder = store && new RunRecorder(store, (refused) => problems.fault({ message: refusalText(refused) }));
  const { hints = false, recompute = false, verbose = false } = options;
  const ids = new RunIds();
  let runs = 0;
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
      runs += 1;
      table?.add(run);
      await printed?.add(run);
    }
  } finally {
    progress.end();
    await store?.close();
  }
  if (paths.length > 0) problems.endSources(ids.repeated);
  await printed?.finish();
  if (by !== undefined) await table?.write(by, options.json === true, terminal);
  if (options.csv !== undefined) await table?.save(options.csv);
  if (runs === 0 && !problems.any) {
    if (paths.length > 0) terminal.complain(`coxswain: ${printable(paths.join(', '))}: no run found`);
    return 1;
  }
  return problems.any ? 1 : 0;
}

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

/** A session without runs, such as an empty one, is not a problem. */
async function* installedSessions(terminal: Terminal): AsyncGenerator<FoundSource> {
  const hosts = machineSessions();
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

const MAX_HELD = 50;
const MAX_TOP = 20;

interface PrintOptions {
  readonly stuckOnly: boolean;
  readonly summaryOnly: boolean;
  readonly all: boolean;
  /** Prints one line of JSON per run immediately. With `summaryOnly`: one line with the totals. */
  readonly json: boolean;
}

/** Up to 50 runs are printed in full, of more only the 20 with the most stuck patterns; with `all`, every run at once. */
export class PrintedOutput {
  readonly #terminal: Terminal;
  readonly #options: PrintOptions;
  readonly #totals = new RunTotals();
  /** Texts to print; undefined if there are too many runs. */
  #held: string[] | undefined = [];
  #top: readonly { readonly rank: number; readonly run: RunFacts }[] = [];

  constructor(terminal: Terminal, options: PrintOptions) {
    this.#terminal = terminal;
    this.#options = options;
  }

  async add(run: RunFacts): Promise<void> {
    this.#totals.add(run);
    const { all, json, stuckOnly, summaryOnly } = this.#options;
    const isStuck = run.stuck;
    if (summaryOnly || (stuckOnly && !isStuck)) return;
    if (json || all) {
      await this.#terminal.write(json ? outputLine(factsJson(run)) : this.#textOf(run));
      return;
    }
    if (isStuck) this.#addToTop(run);
    this.#held?.push(this.#textOf(run));
    if (this.#held !== undefined && this.#held.length > MAX_HELD) this.#held = undefined;
  }

  async finish(): Promise<void> {
    const { json, summaryOnly } = this.#options;
    if (this.#held === undefined) await this.#writeTop();
    else for (const text of this.#held) await this.#terminal.write(text);
    if (json) {
      if (summaryOnly) await this.#terminal.write(outputLine(this.#totals.toJson()));
    } else if (this.#totals.all.runs > 1 || summaryOnly) {
      const text = terminalText({ blocks: totalsBlocks(this.#totals) }, this.#terminal);
      await this.#terminal.write((summaryOnly ? '' : '\n') + text);
    }
  }

  #textOf(run: RunFacts): string {
    return terminalText({ blocks: runBlocks(run) }, this.#terminal) + (run.patterns.length > 0 ? '\n' : '');
  }

  #addToTop(run: RunFacts): void {
    const { patterns } = run;
    const stuckPatterns = patterns.filter(({ stuck, level }) => stuck && level !== 'hint');
    const rank = stuckPatterns.reduce((sum, { occurrences }) => sum + occurrences, 0);
    const last = this.#top.at(-1);
    if (this.#top.length >= MAX_TOP && last !== undefined && last.rank >= rank) return;
    this.#top = [...this.#top, { rank, run }].sort((a, b) => b.rank - a.rank).slice(0, MAX_TOP);
  }

  async #writeTop(): Promise<void> {
    const { runs, stuck } = this.#totals.all;
    for (const { run } of this.#top) await this.#terminal.write(this.#textOf(run));
    const shownCount = this.#top.length;
    const stuckNote =
      stuck === 0
        ? 'none of them got stuck'
        : shownCount === stuck
          ? `only the ${countText(stuck)} that got stuck are shown`
          : `only the ${shownCount} stuck the most are shown, of ${countText(stuck)} that got stuck`;
    await this.#terminal.write(`${countText(runs)} runs: ${stuckNote}. --all shows every run.\n`);
  }
}
