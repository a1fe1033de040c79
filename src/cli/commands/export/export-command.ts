import { resolve } from 'node:path';

import { CoxswainError, messageOf } from '../../../base/error.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { lastSeqOf, type RunSummary } from '../../../store/run-summary.ts';
import type { StoreReader } from '../../../store/trajectory-store.ts';
import { countOf } from '../../../base/number-text.ts';
import type { ExportedRun } from '../../../exports/exported-run.ts';
import { openReadableStore, openStoreNamed, shownStore, storeNamed } from '../../runs/open-store.ts';
import { RunRecorder, type RefusedRun } from '../../runs/run-recorder.ts';
import { jsonLine, printable } from '../../terminal/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { allRuns, namedRun } from '../../runs/stored-runs.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { EXPORT_FORMATS, writeExport, type ExportFormat } from './write-export.ts';

/** The options of `coxswain export`, as the command line gives them. */
export interface ExportOptions {
  readonly store?: string;
  readonly to?: string;
  readonly toStore?: string;
  readonly format?: string;
  readonly html?: boolean;
  /** False after `--no-content`. */
  readonly content?: boolean;
  readonly json?: boolean;
}

/**
 * `coxswain export`: runs in the form of their records or in another one, or copied into another store. A copy may be repeated, and
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
  const format = formatOf(options);
  checkTarget(file, options, format);
  const problems = new Problems(terminal);
  problems.source(shownStore(file));
  const store = await openReadableStore(file);
  try {
    const named: RunSummary[] = [];
    for (const one of wanted) named.push(await namedRun(store, one, file));
    const counted = { runs: 0, records: 0 };
    const exported = (run: RunSummary): ExportedRun => {
      counted.runs += 1;
      let isFirst = true;
      const records = (): AsyncIterable<TrajectoryRecord> => {
        const [counts, told] = isFirst ? [counted, problems] : [undefined, undefined];
        isFirst = false;
        return readable(store, run, { told, counts, isPage: format === 'html' });
      };
      return { run, records };
    };
    const runs = async function* (): AsyncGenerator<ExportedRun, void, void> {
      for await (const run of wanted.length === 0 ? allRuns(store) : named) yield exported(run);
    };
    const name =
      options.toStore === undefined
        ? await writeExport({
            format,
            to: options.to,
            content: options.content !== false,
            runs,
            exported,
            store,
            terminal,
            onRefused: (why) => problems.fault({ message: why }),
          })
        : await copyRuns(options.toStore, runs(), problems);
    problems.endSource();
    if (name !== undefined) {
      const { records, runs: count } = counted;
      await terminal.write(
        options.json === true
          ? jsonLine({ runs: count, records, to: name })
          : `${countOf(count, 'run')}, ${countOf(records, 'record')} read; now in ${printable(name)}\n`,
      );
    }
    return problems.any ? 1 : 0;
  } finally {
    await store.close();
  }
}

async function copyRuns(address: string, runs: AsyncIterable<ExportedRun>, problems: Problems): Promise<string> {
  const store = await openStoreNamed(address);
  try {
    const onRefused = ({ error, runId }: RefusedRun): void =>
      problems.fault({ message: `run ${runId} is not copied: ${messageOf(error)}` });
    const recorder = new RunRecorder(store, onRefused, { isCopy: true });
    for await (const { records, run } of runs) {
      for await (const record of records()) await recorder.add(run.runId, record);
      await recorder.end(run.runId);
    }
  } finally {
    await store.close();
  }
  return shownStore(address);
}

function formatOf({ format, html }: ExportOptions): ExportFormat {
  const named = html === true ? 'html' : (format ?? 'records');
  const known = EXPORT_FORMATS.find((one) => one === named);
  if (known !== undefined && (html !== true || (format ?? 'html') === 'html')) return known;
  throw new CoxswainError(
    'invalid-argument',
    known === undefined
      ? `--format ${printable(named)}: give one of ${EXPORT_FORMATS.join(', ')}`
      : 'give --html or --format, not both',
  );
}

function checkTarget(file: string, { to, toStore }: ExportOptions, format: ExportFormat): void {
  if (toStore !== undefined && format !== 'records') {
    throw new CoxswainError('invalid-argument', '--to-store copies records: leave out --format and --html');
  }
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

interface Reading {
  /** Undefined where the run was read before. */
  readonly told: Problems | undefined;
  readonly counts: { records: number } | undefined;
  /** The page says itself where the run ends early. */
  readonly isPage: boolean;
}

/** The records of a run up to the first that cannot be read, which is a problem; so is an end before the listed one. */
async function* readable(
  store: StoreReader,
  { runId, lastSeq }: RunSummary,
  { counts, isPage, told }: Reading,
): AsyncGenerator<TrajectoryRecord, void, void> {
  let readSeq = -1;
  let reason: string | undefined;
  try {
    for await (const record of store.readRun(runId)) {
      if (counts !== undefined) counts.records += 1;
      yield record;
      readSeq = lastSeqOf(record);
    }
    if (readSeq < lastSeq) reason = `seq ${readSeq + 1} to ${lastSeq} cannot be read`;
  } catch (error) {
    reason = messageOf(error);
  }
  if (reason === undefined) return;
  told?.fault({ message: `run ${runId} ends early here: ${reason}; coxswain recover may save more of it` });
  if (isPage) throw new CoxswainError('input-io', reason);
}
