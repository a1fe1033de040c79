import { CoxswainError } from '../../../base/error.ts';
import { atifOf, chatOf, inspectOf, spanBatches, type ExportedTree } from '../../../exports/export-json.ts';
import type { ExportedRun } from '../../../exports/exported-run.ts';
import { otlpCollector } from '../../../exports/otlp-collector.ts';
import { otlpRequest } from '../../../exports/otlp-request.ts';
import { runPage } from '../../../exports/run-page.ts';
import { encodeRecord } from '../../../records/encode-record.ts';
import type { RunSummary } from '../../../store/run-summary.ts';
import type { StoreReader } from '../../../store/trajectory-store.ts';
import { allRuns } from '../../runs/stored-runs.ts';
import { printableJson } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { openTextTarget } from './export-target.ts';

/** The forms in which runs are exported. */
export const EXPORT_FORMATS = ['records', 'atif', 'inspect-json', 'openai', 'otlp', 'html'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What is exported, and where to. */
export interface ExportSetup {
  readonly format: ExportFormat;
  readonly to: string | undefined;
  /** False: arguments, results and messages stay out of spans. */
  readonly content: boolean;
  readonly runs: () => AsyncIterable<ExportedRun>;
  /** Makes an exported run of a stored one. */
  readonly exported: (run: RunSummary) => ExportedRun;
  readonly store: StoreReader;
  readonly terminal: Terminal;
  /** Told of what a collector did not take. */
  readonly onRefused: (why: string) => void;
}

/**
 * Writes runs in one form into a new file, to standard output, or as spans to a collector.
 *
 * @returns where they are now; undefined for standard output
 * @throws CoxswainError `invalid-argument` where the form holds one run and there are others; as `openTextTarget`
 */
export async function writeExport(setup: ExportSetup): Promise<string | undefined> {
  const { format, terminal, to } = setup;
  const isCollector = format === 'otlp' && /^https?:/i.test(to ?? '');
  if (isCollector) return sendSpans(setup, to ?? '');
  const target = await openTextTarget(to, terminal);
  let isWhole = false;
  try {
    // A file keeps every character; a terminal gets nothing that acts on it.
    const shown = target.name === undefined ? printableJson : (json: string) => `${json}\n`;
    for await (const text of textsOf(setup, shown)) await target.write(text);
    isWhole = true;
  } finally {
    await target.close(isWhole);
  }
  return target.name;
}

async function* textsOf(setup: ExportSetup, shown: (json: string) => string): AsyncGenerator<string, void, void> {
  const { format, runs } = setup;
  switch (format) {
    case 'records':
      for await (const { records } of runs()) for await (const record of records()) yield shown(encodeRecord(record));
      return;
    case 'atif':
      yield shown(JSON.stringify(await atifOf(await treeOf(setup, await onlyRun(setup)))));
      return;
    case 'inspect-json':
      for await (const piece of inspectOf(runs())) yield shown(piece).slice(0, -1);
      yield '\n';
      return;
    case 'openai':
      for await (const line of chatOf(runs())) yield shown(line.trimEnd());
      return;
    case 'otlp':
      for await (const spans of batchesOf(setup)) yield shown(JSON.stringify(otlpRequest(spans, resourceOf())));
      return;
    case 'html':
      yield* runPage(await onlyRun(setup));
  }
}

async function sendSpans(setup: ExportSetup, to: string): Promise<string> {
  const collector = otlpCollector(to, process.env);
  for await (const spans of batchesOf(setup)) {
    const why = await collector.send(otlpRequest(spans, resourceOf()));
    if (why === undefined) continue;
    setup.onRefused(`${collector.name}: ${why}; nothing more is sent`);
    break;
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

/** The run above all that are above this one, as far as they are stored. */
async function rootOf(store: StoreReader, runId: string): Promise<string> {
  const above = new Set<string>();
  let id = runId;
  while (!above.has(id)) {
    above.add(id);
    id = (await store.findRun(id))?.parentRunId ?? id;
  }
  return id;
}

async function onlyRun({ format, runs }: ExportSetup): Promise<ExportedRun> {
  const found: ExportedRun[] = [];
  for await (const run of runs()) if (found.push(run) > 1) break;
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new CoxswainError(
    'invalid-argument',
    `--format ${format} holds one run: name it; list them with: coxswain runs`,
  );
}

async function treeOf({ exported, store }: ExportSetup, root: ExportedRun): Promise<ExportedTree> {
  const below = new Map<string, RunSummary[]>();
  for await (const run of allRuns(store)) {
    if (run.parentRunId === undefined) continue;
    const beside = below.get(run.parentRunId) ?? [];
    beside.push(run);
    below.set(run.parentRunId, beside);
  }
  const grown = (one: ExportedRun): ExportedTree => {
    const children = below.get(one.run.runId) ?? [];
    below.delete(one.run.runId);
    return { ...one, below: children.toReversed().map((child) => grown(exported(child))) };
  };
  return grown(root);
}
