import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { shareOf } from '../../src/lab/statistics.ts';
import { hashText } from '../../src/core/base/hash.ts';
import { CoxswainError } from '../../src/core/base/error.ts';
import { present } from '../../src/core/base/json.ts';
import { importSource } from '../../src/formats/import-source.ts';
import { readRuns } from '../../src/formats/read-runs.ts';
import { defaultDetectors } from '../../src/core/detect/detectors/default-detectors.ts';
import type { PatternDetector } from '../../src/core/detect/patterns/pattern-detector.ts';
import { TrajectoryAnalysis } from '../../src/core/detect/patterns/trajectory-analysis.ts';
import type { TrajectoryPattern } from '../../src/core/records/trajectory-pattern.ts';
import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';

/** Recorded runs of one harness, and when their models came out. */
export interface Corpus {
  /** As `moments.jsonl` names it. */
  readonly name: string;
  readonly harness: string;
  readonly years: string;
  /** True for models of 2025 and later in coding agents: the runs that the targets speak of. */
  readonly modern: boolean;
  /** Below the folder of the trajectories; a glob. */
  readonly files: string;
  /** Ids of its runs in files that it shares with others; default all. */
  readonly runs?: RegExp;
  /** True if its runs belong to the build or the judge part by a hash of their id. Default: all belong to both. */
  readonly isSplit?: boolean;
}

/** The groups of models in General-AgentBench: their names in the ids of runs. */
const GROUPS: readonly (readonly [name: string, runs: RegExp])[] = [
  ['Claude 4.5', /claude/i],
  ['GPT-5', /gpt-5/i],
  ['Gemini 2.5', /gemini/i],
  ['DeepSeek', /deepseek/i],
  ['Qwen3', /qwen3/i],
  ['gpt-oss', /oss-120b/i],
];

export const CORPORA: readonly Corpus[] = [
  { name: 'sql', harness: 'InterCode SQL', years: '2023', modern: false, files: 'intercode_sql.jsonl.gz' },
  { name: 'bash', harness: 'InterCode shell', years: '2023', modern: false, files: 'intercode_bash.jsonl.gz' },
  { name: 'ctf', harness: 'InterCode CTF', years: '2023', modern: false, files: 'intercode_ctf.jsonl.gz' },
  { name: 'python', harness: 'InterCode Python', years: '2023', modern: false, files: 'intercode_python.jsonl.gz' },
  { name: 'sweagent', harness: 'SWE-agent', years: '2024', modern: false, files: 'sweagent_demos.jsonl.gz' },
  { name: 'openhands', harness: 'OpenHands', years: '2025', modern: false, files: 'openhands_examples.jsonl.gz' },
  {
    name: 'mini-gemini3',
    harness: 'mini-SWE-agent',
    years: '2025-26',
    modern: true,
    files: 'mini_swe_gemini3.jsonl.gz',
  },
  {
    name: 'claude-code',
    harness: 'Claude Code',
    years: '2025-26',
    modern: true,
    files: 'claude-code-sessions/*.jsonl.gz',
  },
  { name: 'codex', harness: 'Codex', years: '2025-26', modern: true, files: 'raw/codex/*.jsonl' },
  ...GROUPS.map(([group, runs]) => ({
    name: `general-agentbench ${group}`,
    harness: `General-AgentBench, ${group}`,
    years: '2025-26',
    modern: true,
    files: 'general_agentbench.jsonl.gz',
    runs,
    isSplit: true,
  })),
];

/** The part of a run in a split corpus. */
function partOf(run: string): Moment['part'] {
  return /[0-7]$/.test(hashText(`half:${run}`)) ? 'build' : 'judge';
}

/** A labelled moment of a run, as `test/truth/README.md` describes it. */
export interface Moment {
  readonly corpus: string;
  readonly run: string;
  /** From 1. */
  readonly call: number;
  readonly part: 'build' | 'judge';
  readonly label: 'stuck' | 'fine' | 'debatable';
  /** From 1; absent where nothing is stuck. */
  readonly since?: number;
  readonly kind?: string;
}

/** A recorded run as far as the score needs it. */
export interface FoldedRun {
  readonly corpus: string;
  readonly run: string;
  readonly calls: number;
  /** Undefined where the source does not say. */
  readonly success?: boolean;
  /** Flagged patterns with `stuck`. */
  readonly flags: readonly TrajectoryPattern[];
}

/** @param part  only moments of this part; default both */
export function readMoments(path: string, part?: Moment['part']): readonly Moment[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  // The file is our own and has this form.
  const moments = lines.map((line) => JSON.parse(line) as Moment);
  return moments.filter((moment) => part === undefined || moment.part === part);
}

export interface RecordedRun extends Pick<FoldedRun, 'corpus' | 'run' | 'success'> {
  readonly records: readonly TrajectoryRecord[];
}

/**
 * Reads the runs of a corpus, main thread only; a corpus that is not there, or that no importer reads, has none.
 *
 * @param part  of a split corpus; default both
 */
export async function* recordedRuns(
  corpus: Corpus,
  folder: string,
  part?: Moment['part'],
): AsyncGenerator<RecordedRun> {
  for (const path of globSync(join(folder, corpus.files)).sort()) {
    if (!(await isReadable(path))) continue;
    const open = new Map<string, TrajectoryRecord[]>();
    for await (const item of readRuns(importSource(path), { source: path })) {
      if (item.type === 'diagnostic' || item.run.depth > 0) continue;
      const { id } = item.run;
      if (corpus.runs?.test(id) === false) continue;
      if (corpus.isSplit === true && part !== undefined && partOf(id) !== part) continue;
      const records = open.get(item.run.key) ?? [];
      open.set(item.run.key, records);
      if (item.type === 'record') {
        records.push(item.record);
        continue;
      }
      open.delete(item.run.key);
      const ends = records.map(({ payload }) => (payload.kind === 'run_ended' ? payload.success : undefined));
      yield {
        corpus: corpus.name,
        // A source of one run a file is known by its file.
        run: corpus.files.includes('*') ? basename(path) : item.run.id,
        records,
        ...present({ success: ends.findLast((success) => success !== undefined) }),
      };
    }
  }
}

/**
 * Folds the runs of a corpus.
 *
 * @param part  of a split corpus; default both
 * @param detectors  makes the detectors of one run; default all built-in ones
 */
export async function* foldCorpus(
  corpus: Corpus,
  folder: string,
  { part, detectors }: { readonly part?: Moment['part']; readonly detectors?: () => readonly PatternDetector[] } = {},
): AsyncGenerator<FoldedRun> {
  for await (const run of recordedRuns(corpus, folder, part)) yield foldRecorded(run, detectors).run;
}

/** Folds a run; `patterns` are those that are not `stuck` too. */
export function foldRecorded(
  { records, ...run }: RecordedRun,
  detectors: () => readonly PatternDetector[] = defaultDetectors,
): { readonly run: FoldedRun; readonly patterns: readonly TrajectoryPattern[] } {
  const analysis = new TrajectoryAnalysis({ detectors: detectors() });
  for (const record of records) analysis.fold(record);
  const [fault] = analysis.faults;
  if (fault !== undefined) throw new Error(`${run.run}: ${fault.detector} threw ${fault.message}`);
  const patterns = analysis.patterns();
  const flags = patterns.filter((pattern) => pattern.stuck && pattern.flaggedAt !== null);
  return { run: { ...run, calls: analysis.calls, flags }, patterns };
}

export async function isReadable(path: string): Promise<boolean> {
  try {
    for await (const item of importSource(path)) return item.type !== undefined;
    return true;
  } catch (error) {
    if (error instanceof CoxswainError && error.code === 'format-unknown') return false;
    throw error;
  }
}

/** Whether a stuck pattern is open and flagged after a call, counted from 1. */
export function isFlaggedAt(run: FoldedRun, call: number): boolean {
  return run.flags.some((flag) => flaggedFrom(flag) <= call && (flag.clearedAt ?? Infinity) + 1 > call);
}

function flaggedFrom(flag: TrajectoryPattern): number {
  return (flag.flaggedAt ?? Infinity) + 1;
}

/** Calls from the labelled start of a stuck stretch to its flag; null where none is raised up to the moment. */
export function delayOf(run: FoldedRun, moment: Moment): number | null {
  const since = moment.since ?? moment.call;
  const covering = run.flags.filter(
    (flag) => flaggedFrom(flag) <= moment.call && (flag.clearedAt ?? Infinity) + 1 > since,
  );
  return covering.length === 0 ? null : Math.min(...covering.map(flaggedFrom)) - since;
}

/** The figures of one corpus or of several together. */
export interface TruthScore {
  readonly runs: number;
  readonly calls: number;
  readonly alarms: number;
  readonly succeeded: number;
  readonly succeededFlagged: number;
  /** Clear moments (stuck or fine) at which a stuck pattern is flagged, and those of them that are stuck. */
  readonly flagged: number;
  readonly flaggedStuck: number;
  /** The same in runs that succeeded. */
  readonly flaggedInSuccess: number;
  readonly flaggedStuckInSuccess: number;
  readonly flaggedDebatable: number;
  readonly stretches: number;
  readonly found: number;
  /** Calls, one entry per found stretch. */
  readonly delays: readonly number[];
}

/** Adds up runs and the moments that lie in them. */
export function scoreTruth(runs: readonly FoldedRun[], moments: readonly Moment[]): TruthScore {
  const byRun = new Map(runs.map((run) => [`${run.corpus}\n${run.run}`, run]));
  const pairs = moments.flatMap((moment) => {
    const run = byRun.get(`${moment.corpus}\n${moment.run}`);
    return run === undefined ? [] : [{ run, moment }];
  });
  const succeeded = runs.filter((run) => run.success === true && !goesOnAfterSuccess(run));
  const flagged = pairs.filter(({ run, moment }) => isFlaggedAt(run, moment.call));
  const clear = flagged.filter(({ moment }) => moment.label !== 'debatable');
  const inSuccess = clear.filter(({ run }) => run.success === true);
  const stretches = new Map<string, number | null>();
  for (const { run, moment } of pairs) {
    if (moment.label !== 'stuck') continue;
    const key = `${run.corpus}\n${run.run}\n${moment.since}`;
    stretches.set(key, stretches.get(key) ?? delayOf(run, moment));
  }
  const delays = [...stretches.values()].filter((delay) => delay !== null);
  return {
    runs: runs.length,
    calls: sum(runs.map((run) => run.calls)),
    alarms: sum(runs.map((run) => run.flags.length)),
    succeeded: succeeded.length,
    succeededFlagged: succeeded.filter((run) => run.flags.length > 0).length,
    flagged: clear.length,
    flaggedStuck: clear.filter(({ moment }) => moment.label === 'stuck').length,
    flaggedInSuccess: inSuccess.length,
    flaggedStuckInSuccess: inSuccess.filter(({ moment }) => moment.label === 'stuck').length,
    flaggedDebatable: flagged.length - clear.length,
    stretches: stretches.size,
    found: delays.length,
    delays,
  };
}

/** Plans that are carried on after the reward of 1: they repeat what has succeeded. */
function goesOnAfterSuccess({ run }: FoldedRun): boolean {
  return run.includes('plan_solve');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The columns of `truthCells`. */
export const TRUTH_COLUMNS: readonly string[] = [
  'runs',
  'calls',
  'alarms per 1,000 calls',
  'successful runs flagged',
  'precision',
  'precision in successful runs',
  'debatable flagged',
  'recall',
  'median delay',
  'within 1 call',
];

/** A score as cells of text: shares with their 95 % Wilson interval and denominator. */
export function truthCells(score: TruthScore): readonly string[] {
  const delays = [...score.delays].sort((a, b) => a - b);
  const median = delays[Math.floor((delays.length - 1) / 2)];
  return [
    String(score.runs),
    String(score.calls),
    score.calls === 0 ? '-' : ((1_000 * score.alarms) / score.calls).toFixed(2),
    shareText(score.succeededFlagged, score.succeeded),
    shareText(score.flaggedStuck, score.flagged),
    shareText(score.flaggedStuckInSuccess, score.flaggedInSuccess),
    String(score.flaggedDebatable),
    shareText(score.found, score.stretches),
    median === undefined ? '-' : String(median),
    shareText(delays.filter((delay) => delay <= 1).length, delays.length),
  ];
}

function shareText(hits: number, of: number): string {
  const { share, low, high } = shareOf(hits, of);
  if (share === null || low === null || high === null) return '-';
  const [percent, from, to] = [share, low, high].map((value) => (100 * value).toFixed(1));
  return `${hits}/${of} ${percent} % (${from}-${to})`;
}
