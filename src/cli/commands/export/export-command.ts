import { resolve } from 'node:path';

import { CoxswainError, messageOf } from '../../../base/error.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { lastSeqOf, type RunSummary } from '../../../store/run-summary.ts';
import type { StoreReader } from '../../../store/trajectory-store.ts';
import { openTarget } from './export-target.ts';
import { countOf } from '../../../base/number-text.ts';
import { openReadableStore, shownStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine, printable } from '../../terminal/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { allRuns, namedRun } from '../../runs/stored-runs.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain export`, as the command line gives them. */
export interface ExportOptions {
  readonly store?: string;
  readonly to?: string;
  readonly toStore?: string;
  readonly json?: boolean;
}

/**
 * `coxswain export`: the records of runs as lines of JSON, or into another store. Into a store it may be repeated, and
 * goes on where it was interrupted: what is there already is skipped.
 *
 * @param wanted  run ids, or beginnings of them; none means every run
 * @returns the exit code: 1 when a run could not be read to its end or was refused
 * @throws CoxswainError `invalid-argument`, `input-io` without a store or such a run, and as the stores
 */
export async function exportCommand(
  wanted: readonly string[],
  options: ExportOptions,
  terminal: Terminal,
): Promise<number> {
  const file = storeNamed(options.store);
  checkTarget(file, options);
  const problems = new Problems(terminal);
  problems.source(shownStore(file));
  const store = await openReadableStore(file);
  try {
    const named: RunSummary[] = [];
    for (const one of wanted) named.push(await namedRun(store, one, file));
    const target = await openTarget(options, {
      terminal,
      onRefused: ({ runId, error }) => problems.fault({ message: `run ${runId} is not copied: ${messageOf(error)}` }),
    });
    let runs = 0;
    let records = 0;
    let isWhole = false;
    try {
      for await (const run of wanted.length === 0 ? allRuns(store) : named) {
        runs += 1;
        for await (const record of readable(store, run, problems)) {
          await target.add(run.runId, record);
          records += 1;
        }
        await target.end(run.runId);
      }
      isWhole = true;
    } finally {
      await target.close(isWhole);
    }
    problems.endSource();
    if (target.name !== undefined) {
      await terminal.write(
        options.json === true
          ? jsonLine({ runs, records, to: target.name })
          : `${countOf(runs, 'run')}, ${countOf(records, 'record')} read; now in ${printable(target.name)}\n`,
      );
    }
    return problems.any ? 1 : 0;
  } finally {
    await store.close();
  }
}

function checkTarget(file: string, { to, toStore }: ExportOptions): void {
  if (to !== undefined && toStore !== undefined) {
    throw new CoxswainError('invalid-argument', 'give --to or --to-store, not both');
  }
  if (toStore !== undefined && resolve(toStore) === resolve(file)) {
    throw new CoxswainError(
      'invalid-argument',
      `--to-store ${shownStore(toStore)}: this is the store that is read; give another`,
    );
  }
}

/** The records of a run up to the first that cannot be read, which is a problem; so is an end before the listed one. */
async function* readable(
  store: StoreReader,
  { runId, lastSeq }: RunSummary,
  problems: Problems,
): AsyncGenerator<TrajectoryRecord, void, void> {
  let readSeq = -1;
  let reason: string | undefined;
  try {
    for await (const record of store.readRun(runId)) {
      yield record;
      readSeq = lastSeqOf(record);
    }
    if (readSeq < lastSeq) reason = `seq ${readSeq + 1} to ${lastSeq} cannot be read`;
  } catch (error) {
    reason = messageOf(error);
  }
  if (reason === undefined) return;
  problems.fault({ message: `run ${runId} ends early here: ${reason}; coxswain recover may save more of it` });
}
