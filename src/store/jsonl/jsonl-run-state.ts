import { basename } from 'node:path';

import { messageOf } from '../../base/error.ts';
import type { FileFacts } from '../file-system.ts';
import { readCheckpoint } from './jsonl-checkpoint.ts';
import { segmentsIn } from './jsonl-names.ts';
import { holdsLine } from './jsonl-holds-line.ts';
import type { RunProgress } from './jsonl-progress.ts';
import { isDamage, readRunLines } from './jsonl-read-run.ts';
import type { ReadStart } from './jsonl-read-run.ts';
import { namesIn, nextSegmentPath, pathOf } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { runIdInFolderName } from './run-folder-name.ts';
import { RunCounter, type RunSummary } from '../run-summary.ts';

/** What is known of a run as it was at one moment. */
export interface RunState {
  /** Absent while there is no whole append. */
  readonly progress?: RunProgress;
  /** Set when the run cannot be read to its end: what is wrong and where. */
  readonly problem?: string;
  /** Name and facts of the last segment: they tell whether it changed since. Absent when there is none. */
  readonly last?: { readonly name: string; readonly facts: FileFacts };
}

/** The summary that a list shows of a state. */
export function summaryOf(run: RunFiles, state: RunState): RunSummary | undefined {
  const summary = state.progress?.summary;
  if (state.problem === undefined) return summary;
  return { ...(summary ?? emptySummary(run)), problem: state.problem };
}

/**
 * The run's present state. Cost: two looks at the folder when nothing changed since `known`; when it only grew, a
 * read of what is new; else a read from the last checkpoint, or of everything.
 */
export async function refreshRun(run: RunFiles, known: RunState | undefined): Promise<RunState> {
  if (known !== undefined && (await isUnchanged(run, known))) return known;
  const last = segmentsIn(await namesIn(run)).at(-1);
  if (last === undefined) return foldFrom(run, undefined);
  const facts = await run.fileSystem.facts(pathOf(run, last.name));
  const begin = await beginning(run, known);
  return { ...(await foldFrom(run, begin)), ...(facts !== undefined && { last: { name: last.name, facts } }) };
}

async function isUnchanged(run: RunFiles, known: RunState): Promise<boolean> {
  if (known.last === undefined) return false;
  const now = await run.fileSystem.facts(pathOf(run, known.last.name));
  const { facts } = known.last;
  if (now?.inode !== facts.inode || now.sizeBytes !== facts.sizeBytes || now.modifiedMs !== facts.modifiedMs) {
    return false;
  }
  const next = nextSegmentPath(run, known.progress?.summary.lastSeq ?? -1);
  return next === pathOf(run, known.last.name) || (await run.fileSystem.facts(next)) === undefined;
}

/** What was known, if its last line still lies where it did; else what the checkpoint says. */
async function beginning(run: RunFiles, known: RunState | undefined): Promise<RunProgress | undefined> {
  const progress = known?.problem === undefined ? known?.progress : undefined;
  if (progress !== undefined && (await holdsLine(run, progress.place))) return progress;
  return readCheckpoint(run);
}

async function foldFrom(run: RunFiles, begin: RunProgress | undefined): Promise<RunState> {
  // A checkpoint is of what was on disk: a run that ends before it has lost records.
  if (begin !== undefined && !(await holdsLine(run, begin.place))) {
    const folded = await foldFrom(run, undefined);
    const lost = `record ${begin.summary.lastSeq} was stored and is not where it was`;
    return { ...folded, problem: folded.problem ?? `${run.folder}: ${lost}` };
  }
  const counter = new RunCounter(begin?.summary);
  let progress = begin;
  try {
    for await (const lines of readRunLines(run, startAfter(begin))) {
      for (const { record } of lines) counter.fold(record);
      const place = lines.at(-1)?.place;
      if (place !== undefined) progress = { place, summary: counter.summary() };
    }
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
    return { ...(progress !== undefined && { progress }), problem: messageOf(thrown) };
  }
  return progress === undefined ? {} : { progress };
}

function startAfter(begin: RunProgress | undefined): ReadStart {
  if (begin === undefined) return { fromSeq: 0 };
  return { after: begin.place, lastSeq: begin.summary.lastSeq, runId: begin.summary.runId };
}

function emptySummary(run: RunFiles): RunSummary {
  const runId = runIdInFolderName(basename(run.folder));
  return { runId, depth: 0, startedAtMs: 0, lastAtMs: 0, records: 0, lastSeq: -1, turns: 0, calls: 0, errors: 0 };
}
