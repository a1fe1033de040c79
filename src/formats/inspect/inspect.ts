import { CoxswainError } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import type { ArchiveImporter, ArchiveReader, DocumentImporter } from '../importer.ts';
import { decodeJson } from '../reading/json-text.ts';
import { inspectSampleItems } from './inspect-sample.ts';
import { type JsonMembers, listOf, membersOf } from '../../core/base/json-member.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { sourceStem } from '../parts/source-name.ts';
import { UniqueNames } from '../parts/unique-names.ts';

const SAMPLE_ENTRY = /^samples\/.+_epoch_\d+\.json$/;
/** Inspect writes the first entry when the log is complete, and the second when the log begins. */
const HEADER_ENTRIES = ['header.json', '_journal/start.json'] as const;
const LOG_STATUS: ReadonlySet<unknown> = new Set(['started', 'success', 'cancelled', 'error']);

/** Reads Inspect AI logs in `.json` format. Each sample and epoch is a run. */
export const inspectDocumentImporter: DocumentImporter = {
  shape: 'document',
  format: 'inspect',
  recognise(document) {
    if (!isJsonObject(document) || !isJsonObject(document.eval)) return 0;
    const marks = [
      LOG_STATUS.has(document.status),
      typeof document.version === 'number',
      'task' in document.eval || 'run_id' in document.eval || 'task_id' in document.eval,
      Array.isArray(document.samples),
    ].filter(Boolean).length;
    return marks < 2 ? 0 : 0.6 + marks * 0.1;
  },
  *read(document, source) {
    const { eval: spec, samples } = membersOf(document);
    const log = { spec: membersOf(spec), stem: sourceStem(source.name), ids: new UniqueNames() };
    if (listOf(samples).length === 0) yield diagnosticItem('note', 'the log contains no samples');
    const skipCounts = new SkipCounts();
    for (const sample of listOf(samples)) {
      if (isJsonObject(sample)) yield* inspectSampleItems(sample, log);
      else skipCounts.add('samples that are not objects');
    }
    yield* skipCounts.report('error');
  },
};

/**
 * Reads Inspect AI logs in `.eval` format, a zip archive with one entry per sample. Memory is bounded by the largest sample.
 * Summaries and reductions are skipped, because they repeat the samples. A sample that cannot be read becomes a diagnostic,
 * and the other samples are read.
 */
export const inspectArchiveImporter: ArchiveImporter = {
  shape: 'archive',
  format: 'inspect',
  recognise(entryNames) {
    const hasHeader = HEADER_ENTRIES.some((name) => entryNames.includes(name));
    const hasSample = entryNames.some((name) => SAMPLE_ENTRY.test(name));
    if (hasHeader && hasSample) return 1;
    return entryNames.includes('_journal/start.json') ? 0.9 : hasSample ? 0.7 : 0;
  },
  async *read(archive, source) {
    const stem = sourceStem(source.name);
    const header = yield* readHeader(archive);
    const log = { spec: membersOf(header.eval), stem, ids: new UniqueNames() };
    const names = archive.entries.map((entry) => entry.name).filter((name) => SAMPLE_ENTRY.test(name));
    if (names.length === 0) yield diagnosticItem('note', 'the log contains no samples');
    for (const name of names) {
      const sample = await decodedEntry(archive, name);
      if (sample.ok) yield* inspectSampleItems(sample.value, log);
      else yield diagnosticItem('error', `the entry ${JSON.stringify(name.slice(0, 200))} ${sample.reason}`);
    }
  },
};

async function* readHeader(archive: ArchiveReader): AsyncGenerator<ImportItem, JsonMembers> {
  for (const name of HEADER_ENTRIES) {
    if (!archive.entries.some((entry) => entry.name === name)) continue;
    const header = await decodedEntry(archive, name);
    if (header.ok) return header.value;
    yield diagnosticItem('error', `the entry ${JSON.stringify(name)} ${header.reason}`);
  }
  yield diagnosticItem('note', 'the log has no header, so its runs are named after the file');
  return {};
}

type DecodedEntry =
  | { readonly ok: true; readonly value: JsonMembers }
  | { readonly ok: false; readonly reason: string };

async function decodedEntry(archive: ArchiveReader, name: string): Promise<DecodedEntry> {
  let text: string;
  try {
    text = await archive.readText(name);
  } catch (error) {
    // A damaged or too large entry is skipped. Any other error is a bug or a disk error.
    if (!(error instanceof CoxswainError) || !/^(?:format-invalid|input-too-large)$/.test(error.code)) throw error;
    return { ok: false, reason: `was left out: ${error.message}` };
  }
  const decoded = decodeJson(text);
  if (!decoded.ok) return { ok: false, reason: decoded.reason };
  return isJsonObject(decoded.value)
    ? { ok: true, value: decoded.value }
    : { ok: false, reason: 'is not a JSON object' };
}
