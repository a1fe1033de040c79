import { allRuns } from '../../../core/store/all-runs.ts';
import { resolve } from 'node:path';

import { CoxswainError, invalidArgument, messageOf } from '../../../core/base/error.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { lastSeqOf, type RunSummary } from '../../../core/facts/run-summary.ts';
import type { StoreReader } from '../../../core/store/trajectory-store.ts';
import { countOf } from '../../../core/base/number-text.ts';
import type { ExportedRun } from '../../../formats/export/exported-run.ts';
import { openReadableStore, openStoreNamed, shownStore, storeNamed } from '../../runs/open-store.ts';
import { RunRecorder, type RefusedRun } from '../../runs/run-recorder.ts';
import { choiceOption } from '../../terminal/option-values.ts';
import { jsonLine, printable } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { namedRun } from '../../runs/named-run.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { EXPORT_FORMATS, writeExport, type ExportFormat } from './write-export.ts';

export interface ExportOptions {
  readonly store?: string;
  readonly to?: string;
  readonly toStore?: string;
  readonly format?: string;
  readonly html?: boolean;
  /** False for `--no-content`. */
  readonly content?: boolean;
  readonly json?: boolean;
}

/** Number of runs that are copied at a time. Most runs are small, and the store waits for a sync of the disk after each batch. */
const MAX_COPIES = 16;

/**
 * Runs `coxswain export`: writes runs as records or in another format, or copies them to another store. Repeating an interrupted
 * copy continues it.
 *
 * @param ids  run ids, or their beginnings; default: all runs
 * @returns the exit code: 1 if a run could not be read to its end or was rejected
 * @throws CoxswainError `invalid-argument`, `input-io` if the store or the run does not exist, and the errors of the stores
 */
export async function exportCommand(
  ids: readonly string[],
  options: ExportOptions,
  terminal: Terminal,
): Promise<number> {
  const file = storeNamed(options.store, terminal);
  const format = formatOf(options);
  checkTarget(file, options, format);
  const problems = new Problems(terminal);
  problems.source(shownStore(file));
  const store = await openReadableStore(file);
  try {
    const namedRuns: RunSummary[] = [];
    for (const id of ids) namedRuns.push(await namedRun(store, id, file));
    const counts = { runs: 0, records: 0 };
    const exportedRun = (run: RunSummary): ExportedRun => {
      counts.runs += 1;
      let isFirst = true;
      const records = (): AsyncIterable<TrajectoryRecord> => {
        const first = isFirst ? { counts, problems } : undefined;
        isFirst = false;
        return readableRecords(store, run, { first, isPage: format === 'html' });
      };
      return { run, records };
    };
    const exportedRuns = async function* (): AsyncGenerator<ExportedRun, void, void> {
      for await (const run of ids.length === 0 ? allRuns(store) : namedRuns) yield exportedRun(run);
    };
    const name =
      options.toStore === undefined
        ? await writeExport({
            format,
            to: options.to,
            content: options.content !== false,
            runs: exportedRuns,
            exported: exportedRun,
            store,
            terminal,
            onRefused: (reason) => problems.fault({ message: reason }),
          })
        : await copyRuns(options.toStore, exportedRuns(), problems);
    problems.endSource();
    if (name !== undefined) {
      const text = `${countOf(counts.runs, 'run')}, ${countOf(counts.records, 'record')} written to ${printable(name)}\n`;
      await terminal.write(options.json === true ? jsonLine({ ...counts, to: name }) : text);
    }
    return problems.any ? 1 : 0;
  } finally {
    await store.close();
  }
}

async function copyRuns(address: string, runs: AsyncGenerator<ExportedRun>, problems: Problems): Promise<string> {
  const store = await openStoreNamed(address);
  try {
    const onRefused = ({ error, runId }: RefusedRun): void =>
      problems.fault({ message: `run ${runId} is not copied: ${messageOf(error)}` });
    // The copiers share one generator, which gives each run to one of them.
    const copyNextRuns = async (): Promise<void> => {
      const recorder = new RunRecorder(store, onRefused, { isCopy: true });
      for await (const { records, run } of runs) {
        for await (const record of records()) await recorder.add(run.runId, record);
        await recorder.end(run.runId);
      }
    };
    await Promise.all(Array.from({ length: MAX_COPIES }, copyNextRuns));
    // A search indexes for a limited time.
    for (let left = Infinity; left > 0;) {
      const { notIndexed } = await store.search({ text: 'a', limit: 1 });
      if (notIndexed >= left) break;
      left = notIndexed;
    }
  } finally {
    await store.close();
  }
  return shownStore(address);
}

function formatOf({ format, html }: ExportOptions): ExportFormat {
  if (html === true && (format ?? 'html') !== 'html') throw invalidArgument('give --html or --format, not both');
  return html === true ? 'html' : choiceOption('--format', format ?? 'records', EXPORT_FORMATS);
}

function checkTarget(file: string, { to, toStore }: ExportOptions, format: ExportFormat): void {
  if (toStore === undefined) return;
  if (format !== 'records') throw invalidArgument('--to-store copies records: omit --format and --html');
  if (to !== undefined) throw invalidArgument('give --to or --to-store, not both');
  if (resolve(toStore) === resolve(file)) {
    throw invalidArgument(`--to-store ${shownStore(toStore)}: the same store as --store; give another`);
  }
}

interface Reading {
  /** The result of an earlier pass over the run; undefined if this is the first pass. */
  readonly first: { readonly counts: { records: number }; readonly problems: Problems } | undefined;
  /** True for the HTML page: it shows where an incomplete run ends, so no message repeats it. */
  readonly isPage: boolean;
}

/**
 * Yields the records of a run up to the first unreadable record. Reports an unreadable record, or fewer records than listed, as a
 * problem.
 */
async function* readableRecords(
  store: StoreReader,
  { runId, lastSeq }: RunSummary,
  { first, isPage }: Reading,
): AsyncGenerator<TrajectoryRecord, void, void> {
  let readSeq = -1;
  let reason: string | undefined;
  try {
    for await (const record of store.readRun(runId)) {
      if (first !== undefined) first.counts.records += 1;
      yield record;
      readSeq = lastSeqOf(record);
    }
    if (readSeq < lastSeq) reason = `seq ${readSeq + 1} to ${lastSeq} cannot be read`;
  } catch (error) {
    reason = messageOf(error);
  }
  if (reason === undefined) return;
  const message = `run ${runId} is incomplete here: ${reason}; coxswain recover may save more of it`;
  first?.problems.fault({ message });
  if (isPage) throw new CoxswainError('input-io', reason);
}
