import { existsSync } from 'node:fs';

import { invalidArgument, messageOf } from '../../../core/base/error.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { openStoreNamed, requireStore, shownStore } from '../../runs/open-store.ts';
import { jsonLine, printableCut } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { recoverRun, type LostRange, type RecoveredRun } from './recover-run.ts';
import { foldSpills } from './fold-spills.ts';
import { openRecoverSource } from './recover-source.ts';
import { RunRecorder } from '../../runs/run-recorder.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { storePath } from '../../../stores/store-address.ts';
import { storeProblemText } from '../verify/verify-command.ts';

export interface RecoverOptions {
  /** Path of the new store; undefined: records waiting events instead. */
  readonly to?: string;
  readonly json?: boolean;
}

const MAX_RANGES = 5;

/** Runs `coxswain recover`. @returns the exit code: 1 if records were lost or may have been lost */
export async function recoverCommand(path: string, options: RecoverOptions, terminal: Terminal): Promise<number> {
  const { to } = options;
  if (to === undefined) return foldSpills(path, options, terminal);
  await requireStore(path);
  await requireNew(to);
  const problems = new Problems(terminal);
  problems.source(shownStore(path));
  const source = await openRecoverSource(path);
  const { problems: sourceProblems } = source;
  try {
    const target = await openStoreNamed(to);
    try {
      const recorder = new RunRecorder(
        target,
        ({ runId, error }) => problems.fault({ message: `run ${runId} is not saved: ${messageOf(error)}` }),
        { isCopy: true },
      );
      const totals = {
        runs: 0,
        saved: 0,
        lost: 0,
        interrupted: 0,
        endUnknown: 0,
        sourceProblems,
        problems: 0,
      };
      for await (const { runId, lastSeq, isEndKnown, items } of source.runs()) {
        const run = { ...(await recoverRun(runId, items, { recorder, lastSeq })), isEndKnown };
        totals.runs += 1;
        totals.saved += run.saved;
        totals.lost += lostOf(run);
        if (run.interrupted) totals.interrupted += 1;
        if (!isEndKnown) totals.endUnknown += 1;
        await terminal.write(options.json === true ? jsonLine(run) : runText(run, terminal));
      }
      for await (const problem of target.verify()) {
        totals.problems += 1;
        problems.fault({ message: `the new store is damaged: ${storeProblemText(problem)}` });
      }
      problems.endSource();
      await terminal.write(options.json === true ? jsonLine(totals) : `${shownStore(to)}: ${totalsText(totals)}\n`);
      return problems.any || totals.lost + totals.endUnknown + sourceProblems > 0 ? 1 : 0;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** @throws CoxswainError `invalid-argument` if the path exists, or if the database contains runs */
async function requireNew(to: string): Promise<void> {
  const path = storePath(to);
  const isThere = path === undefined ? await holdsRuns(to) : existsSync(path);
  if (!isThere) return;
  throw invalidArgument(`--to ${shownStore(to)}: it already exists; give a new path`);
}

async function holdsRuns(address: string): Promise<boolean> {
  const store = await openStoreNamed(address);
  try {
    return (await store.listRuns({ limit: 1 })).runs.length > 0;
  } finally {
    await store.close();
  }
}

interface RecoveryTotals {
  readonly runs: number;
  readonly saved: number;
  readonly lost: number;
  readonly endUnknown: number;
  readonly sourceProblems: number;
  readonly problems: number;
}

/** Formats the totals. The store is only called verified if every record has a checksum and every run has an end. */
function totalsText(totals: RecoveryTotals): string {
  const { endUnknown, lost, problems, runs, saved, sourceProblems } = totals;
  const doubts = [
    ...(problems > 0 ? ['the new store is damaged'] : []),
    ...(endUnknown > 0 ? [`${countOf(endUnknown, 'run')} may have continued`] : []),
  ];
  const count = `${countOf(runs, 'run')}, ${countOf(saved, 'record')} saved, ${countText(lost)} lost`;
  const source = sourceProblems === 0 ? '' : `; the old store has ${countOf(sourceProblems, 'problem')}`;
  return `${count}; ${doubts.length === 0 ? 'the new store is verified' : doubts.join('; ')}${source}`;
}

function lostOf({ lost }: RecoveredRun): number {
  return lost.reduce((sum, { fromSeq, throughSeq }) => sum + throughSeq - fromSeq + 1, 0);
}

function runText(run: RecoveredRun & { readonly isEndKnown: boolean }, { paint }: Terminal): string {
  const lost = lostOf(run);
  const facts = [
    `${countOf(run.saved, 'record')} saved`,
    ...(lost === 0 ? [] : [`${countText(lost)} lost`]),
    ...(run.interrupted ? ['interrupted'] : []),
    ...(run.isEndKnown ? [] : ['its last records may be missing']),
  ];
  const ranges = run.lost.slice(0, MAX_RANGES).map(rangeText);
  if (run.lost.length > MAX_RANGES) ranges.push(`and ${countText(run.lost.length - MAX_RANGES)} more places`);
  const lines = [`${paint('bold', printableCut(run.runId, 80))}  ${facts.join(', ')}`];
  for (const range of ranges) lines.push(paint('red', `  ${range}`));
  return `${lines.join('\n')}\n`;
}

function rangeText({ fromSeq, throughSeq, reason }: LostRange): string {
  const seqs = fromSeq === throughSeq ? `seq ${fromSeq}` : `seq ${fromSeq} to ${throughSeq}`;
  return `lost ${seqs}: ${printableCut(reason, 200)}`;
}
