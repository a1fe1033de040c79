import { allRuns } from '../../../core/store/all-runs.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { atifOf, chatOf, spanBatches, type ExportedTree } from '../../../formats/export/export-json.ts';
import type { ExportedRun } from '../../../formats/export/exported-run.ts';
import { otlpCollector } from '../../../formats/export/otlp-collector.ts';
import { otlpRequest } from '../../../formats/export/otlp-request.ts';
import { runPage } from '../../../formats/export/run-page.ts';
import { encodeRecord } from '../../../core/records/encode-record.ts';
import type { RunSummary } from '../../../core/facts/run-summary.ts';
import type { StoreReader } from '../../../core/store/trajectory-store.ts';
import { printableJson } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { openTextTarget } from './export-target.ts';

export const EXPORT_FORMATS = ['records', 'atif', 'openai', 'otlp', 'html'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportSetup {
  readonly format: ExportFormat;
  readonly to: string | undefined;
  /** False: omits arguments, results and messages from spans. */
  readonly content: boolean;
  readonly runs: () => AsyncIterable<ExportedRun>;
  readonly exported: (run: RunSummary) => ExportedRun;
  readonly store: StoreReader;
  readonly terminal: Terminal;
  /** Called when a collector rejects spans. */
  readonly onRefused: (why: string) => void;
}

/**
 * Writes runs in one format to a new file or standard output, or sends spans to a collector.
 *
 * @returns the name of the target; undefined for standard output, and after a collector rejected spans
 * @throws CoxswainError `invalid-argument` for several runs in a format for one run; the errors of `openTextTarget`
 */
export async function writeExport(setup: ExportSetup): Promise<string | undefined> {
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
      for await (const line of chatOf(runs())) yield shownJson(line.trimEnd());
      return;
    case 'otlp':
      for await (const spans of batchesOf(setup)) yield shownJson(JSON.stringify(otlpRequest(spans, resourceOf())));
      return;
    case 'html':
      yield* runPage(await onlyRun(setup));
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
  return spanBatches(runs(), { content, rootOf: (runId) => rootOf(store, runId) });
}

function resourceOf(): { readonly 'service.name': string } {
  const { OTEL_SERVICE_NAME: name = '' } = process.env;
  return { 'service.name': name === '' ? 'coxswain' : name };
}

/** Returns the highest stored ancestor of a run. */
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
  const treeBelow = (one: ExportedRun): ExportedTree => {
    const children = childrenOf.get(one.run.runId) ?? [];
    childrenOf.delete(one.run.runId);
    return { ...one, below: children.toReversed().map((child) => treeBelow(exported(child))) };
  };
  return treeBelow(root);
}
