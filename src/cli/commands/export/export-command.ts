import { resolve } from 'node:path';
import { link, open, rm } from 'node:fs/promises';

import { allRuns } from '../../../core/store/run-page.ts';
import { memoryStore } from '../../../core/store/memory-store.ts';
import { withoutNumber } from '../../../core/facts/task-title.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { CoxswainError, invalidArgument, messageOf, hasCode } from '../../../core/base/error.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { lastSeqOf, type RunSummary } from '../../../core/facts/run-summary.ts';
import type { StoreReader } from '../../../core/store/trajectory-store.ts';
import { countOf } from '../../../core/base/number-text.ts';
import type { ExportedRun } from '../../../formats/export/transcript.ts';
import { openReadableStore, openStoreNamed, shownStore, storeNamed } from '../../runs/open-store.ts';
import { alreadyExists } from '../../runs/write-output.ts';
import { RunRecorder, type RefusedRun } from '../../runs/run-recorder.ts';
import { choiceOption } from '../../terminal/option-values.ts';
import { jsonLine, printable, printableJson } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { namedRun, type NumberedRun, runOfMachine } from '../../runs/numbered-runs.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { atifOf, chatOf, exportedTree, spanBatches, type ExportedTree } from '../../../formats/export/export-json.ts';
import { otlpCollector, otlpRequest } from '../../../formats/export/otlp-request.ts';
import { sharedFile } from '../../../viewer/server/shared-run.ts';
import { encodeRecord } from '../../../core/records/decode-record.ts';
import { checkOutput, lookAt } from '../../../core/node/guarded-file.ts';

const WRITE_CHARS = 1024 * 1024;

interface TextTarget {
  readonly name: string | undefined;
  write(text: string): Promise<void>;
  close(isWhole: boolean): Promise<void>;
}

/** @throws CoxswainError `invalid-argument` if the file exists, `input-io` if it cannot be created; `unsafe-path` from `checkOutput` */
async function openTextTarget(to: string | undefined, terminal: Terminal): Promise<TextTarget> {
  if (to !== undefined && to !== '-') return openFileTarget(to);
  return { name: undefined, write: (text) => terminal.write(text), close: async () => {} };
}

/** Writes to a temporary file and links it to its name when it is complete, so that a failure leaves no file. */
async function openFileTarget(path: string): Promise<TextTarget> {
  checkOutput(path);
  if (lookAt(path) !== undefined) throw alreadyExists(path);
  const temporaryPath = `${path}.${process.pid}.part`;
  const file = await open(temporaryPath, 'wx', 0o600).catch((error: unknown) => {
    throw new CoxswainError('input-io', `${printable(path)} cannot be created: ${messageOf(error)}`);
  });
  let pendingText = '';
  const flushText = async (): Promise<void> => {
    const text = pendingText;
    pendingText = '';
    await file.appendFile(text);
  };
  return {
    name: path,
    write: async (text) => {
      pendingText += text;
      if (pendingText.length > WRITE_CHARS) await flushText();
    },
    close: async (isWhole) => {
      let isStored = false;
      try {
        if (isWhole) {
          await flushText();
          await file.sync();
          isStored = true;
        }
      } finally {
        await file.close();
        // Unlike a rename, a link does not replace a file that was created in the meantime.
        if (isStored) await link(temporaryPath, path).catch((error: unknown) => Promise.reject(linkError(path, error)));
        await rm(temporaryPath, { force: true });
      }
    },
  };
}

function linkError(path: string, error: unknown): CoxswainError {
  if (hasCode(error, 'EEXIST')) return alreadyExists(path);
  return new CoxswainError('input-io', `${printable(path)} cannot be created: ${messageOf(error)}`, { cause: error });
}

const EXPORT_FORMATS = ['records', 'atif', 'openai', 'otlp', 'html'] as const;

type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface ExportSetup {
  readonly format: ExportFormat;
  readonly to: string | undefined;
  readonly content: boolean;
  readonly runs: () => AsyncIterable<ExportedRun>;
  readonly exported: (run: RunSummary) => ExportedRun;
  readonly store: StoreReader;
  readonly terminal: Terminal;
  readonly onRefused: (why: string) => void;
  /** Called for the last run if the format has nothing for it. */
  readonly onEmpty: () => void;
}

/** @returns the name of the target; undefined for standard output, and after a collector rejected spans */
async function writeExport(setup: ExportSetup): Promise<string | undefined> {
  const { format, terminal, to } = setup;
  const isCollector = format === 'otlp' && /^https?:/i.test(to ?? '');
  if (isCollector) return sendSpans(setup, to ?? '');
  const target = await openTextTarget(to, terminal);
  let isWhole = false;
  try {
    // Files keep every character. Text for a terminal is escaped.
    const shownJson = target.name === undefined ? printableJson : (json: string) => `${json}\n`;
    for await (const text of textsOf(setup, shownJson)) await target.write(text);
    isWhole = true;
  } finally {
    await target.close(isWhole);
  }
  return target.name;
}

async function* textsOf(setup: ExportSetup, shownJson: (json: string) => string): AsyncGenerator<string, void, void> {
  const { format, runs } = setup;
  switch (format) {
    case 'records':
      for await (const { records } of runs())
        for await (const record of records()) yield shownJson(encodeRecord(record));
      return;
    case 'atif':
      yield shownJson(JSON.stringify(await atifOf(await treeOf(setup, await onlyRun(setup)))));
      return;
    case 'openai':
      for await (const line of chatOf(runs(), setup.onEmpty)) yield shownJson(line);
      return;
    case 'otlp':
      for await (const spans of batchesOf(setup)) yield shownJson(JSON.stringify(otlpRequest(spans, resourceOf())));
      return;
    case 'html':
      yield* sharedFile(await treeOf(setup, await onlyRun(setup)));
  }
}

async function sendSpans(setup: ExportSetup, to: string): Promise<string | undefined> {
  const collector = otlpCollector(to, process.env);
  for await (const spans of batchesOf(setup)) {
    const problem = await collector.send(otlpRequest(spans, resourceOf()));
    if (problem === undefined) continue;
    setup.onRefused(`${collector.name}: ${problem}; the rest is not sent`);
    return undefined;
  }
  return collector.name;
}

function batchesOf({ content, runs, store }: ExportSetup): ReturnType<typeof spanBatches> {
  return spanBatches(runs(), content, (runId) => rootOf(store, runId));
}

function resourceOf(): { readonly 'service.name': string } {
  const { OTEL_SERVICE_NAME: name = '' } = process.env;
  return { 'service.name': name === '' ? 'coxswain' : name };
}

async function rootOf(store: StoreReader, runId: string): Promise<string> {
  const ancestors = new Set<string>();
  let id = runId;
  while (!ancestors.has(id)) {
    ancestors.add(id);
    id = (await store.findRun(id))?.parentRunId ?? id;
  }
  return id;
}

async function onlyRun({ format, runs }: ExportSetup): Promise<ExportedRun> {
  const exportedRuns: ExportedRun[] = [];
  for await (const run of runs()) if (exportedRuns.push(run) > 1) break;
  const [only] = exportedRuns;
  if (only !== undefined && exportedRuns.length === 1) return only;
  throw invalidArgument(`--format ${format} holds one run: name it; list the runs with: coxswain runs`);
}

async function treeOf({ exported, store }: ExportSetup, root: ExportedRun): Promise<ExportedTree> {
  const childrenOf = Map.groupBy(await Array.fromAsync(allRuns(store)), ({ parentRunId }) => parentRunId);
  return exportedTree(root, ({ runId }) => (childrenOf.get(runId) ?? []).toReversed(), exported);
}

export interface ExportOptions {
  readonly store?: string;
  readonly to?: string;
  readonly toStore?: string;
  readonly format?: string;
  readonly html?: boolean;
  readonly content?: boolean;
  readonly json?: boolean;
}

/** Number of runs that are copied at a time. Most runs are small, and the store waits for a sync of the disk after each batch. */
const MAX_COPIES = 16;

/** Repeating an interrupted copy continues it. `ids`: run ids, or their beginnings; default: all runs. */
export async function exportCommand(
  ids: readonly string[],
  options: ExportOptions,
  terminal: Terminal,
): Promise<number> {
  const named = options.store === undefined ? await runsNamed(ids, terminal) : [];
  const file = named[0]?.path ?? storeNamed(options.store, terminal);
  const format = formatOf(options);
  if (options.content === false && format !== 'otlp')
    throw invalidArgument('--no-content leaves content out of spans only: add --format otlp');
  checkTarget(file, options, format);
  const problems = new Problems(terminal);
  problems.source(shownStore(file));
  const store = named[0]?.isStore === false ? await storeOfSession(file, problems) : await openReadableStore(file);
  try {
    const namedRuns: RunSummary[] = [];
    for (const [at, id] of ids.entries()) {
      const { id: name = id, isStore = true } = named[at] ?? {};
      namedRuns.push(await namedRun(store, isStore ? name : withoutNumber(name), file));
    }
    const counts = { runs: 0, records: 0 };
    let countsBefore = counts;
    let emptyRuns = 0;
    const exportedRun = (run: RunSummary): ExportedRun => {
      countsBefore = { ...counts };
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
            onEmpty: () => {
              Object.assign(counts, countsBefore);
              emptyRuns += 1;
            },
          })
        : await copyRuns(options.toStore, exportedRuns(), problems);
    if (emptyRuns > 0) problems.note({ message: `${countOf(emptyRuns, 'run')} without messages left out` });
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

/** @throws CoxswainError `invalid-argument` unless one store or session file has all */
async function runsNamed(ids: readonly string[], terminal: Terminal): Promise<readonly NumberedRun[]> {
  const runs: NumberedRun[] = [];
  for (const id of ids) runs.push(await runOfMachine(id, terminal));
  if (new Set(runs.map(({ path }) => path)).size > 1)
    throw invalidArgument('these runs are in several stores or files: export those of one at a time');
  return runs;
}

/** Reads a session file into memory, redacted as it would be recorded. Memory: the file. */
async function storeOfSession(path: string, problems: Problems): Promise<StoreReader> {
  const store = memoryStore();
  const recorder = new RunRecorder(store, ({ error }) => problems.failure(error));
  for await (const item of readRuns(importSource(path), { source: path })) {
    if (item.type === 'record') await recorder.add(item.run.id, item.record);
    else if (item.type === 'end') await recorder.end(item.run.id);
    else if (item.diagnostic.severity !== 'note') problems.fault(item.diagnostic);
  }
  return store;
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
  readonly first: { readonly counts: { records: number }; readonly problems: Problems } | undefined;
  /** True for the HTML page: it shows where an incomplete run ends, so no message repeats it. */
  readonly isPage: boolean;
}

/** Reports an unreadable record, or fewer records than listed, as a problem. */
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
