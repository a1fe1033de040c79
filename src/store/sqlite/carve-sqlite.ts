import { isJsonObject, jsonOf } from '../../base/json.ts';
import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { isRunId } from '../check-batch.ts';
import { rowChecksums } from '../row-checksum.ts';
import { findCellCandidates, readCell, type CellValue } from './sqlite-cell.ts';
import { cellOffsets, openSqlitePages, type PageImage, type SqlitePages } from './sqlite-pages.ts';

/** A run found in a damaged file. */
export interface CarvedRun {
  readonly runId: string;
  /** The last `seq` according to the summary or snapshot; -1 if both are missing. */
  readonly lastSeq: number;
  /** If false, it is unknown whether records at the end of the run are missing. */
  readonly hasSummary: boolean;
  /** `seq`s of damaged rows. */
  readonly damaged: readonly number[];
  /** Yields the intact records in order, each `seq` once. */
  records(): Iterable<TrajectoryRecord>;
}

/** The runs found in a damaged file. */
export interface CarvedStore {
  readonly runs: readonly CarvedRun[];
  close(): void;
}

/** The location of a record. */
interface Place {
  readonly image: PageImage;
  readonly offset: number;
}

interface Findings {
  readonly records: Map<number, Place>;
  readonly damaged: Set<number>;
  lastSeq: number;
  hasSummary: boolean;
  /** True if a part of the record is on a page in use. Otherwise the run was deleted. */
  isLive: boolean;
}

/**
 * Finds the records of a SQLite store page by page, without the B-trees: reads every table leaf in the file and its log, and
 * accepts a row with the shape of a record and a correct checksum. Of two versions of a row, the last committed one counts. If
 * a run has holes, every byte is searched; free pages only fill holes of existing runs, so that deleted runs stay deleted.
 *
 * Throws what the file system throws. Memory: about 100 bytes per record. Cost: reads the file once, then each record again.
 */
export function carveSqlite(path: string): CarvedStore {
  const pages = openSqlitePages(path);
  const carver = new Carver(pages);
  try {
    for (const rank of [2, 1, 0] as const) {
      for (const image of pages.images) if (image.rank === rank) carver.readPageRows(image);
    }
    if (!carver.isComplete()) for (const image of pages.images) carver.searchPage(image);
  } catch (thrown) {
    pages.close();
    throw thrown;
  }
  return { runs: carver.runs(), close: () => pages.close() };
}

class Carver {
  readonly #pages: SqlitePages;
  readonly #findings = new Map<string, Findings>();
  readonly #removedRunIds = new Set<string>();

  constructor(pages: SqlitePages) {
    this.#pages = pages;
  }

  readPageRows(image: PageImage): void {
    const page = this.#pages.read(image);
    for (const offset of cellOffsets(image, page)) {
      const values = readCell(this.#pages, page, offset);
      if (values !== undefined) this.#addRow(values, { image, offset });
    }
  }

  /** Returns true if every run is complete up to the end that its summary states. */
  isComplete(): boolean {
    const liveFindings = [...this.#findings.values()].filter(({ isLive }) => isLive);
    return (
      liveFindings.length > 0 &&
      liveFindings.every(({ hasSummary, lastSeq, records }) => hasSummary && records.size > lastSeq)
    );
  }

  /** Searches every byte of a page for records, whatever its header and cell pointers contain. */
  searchPage(image: PageImage): void {
    const page = this.#pages.read(image);
    for (const offset of findCellCandidates(page)) {
      const values = readCell(this.#pages, page, offset);
      const record = values === undefined ? undefined : parseRecordRow(values);
      if (record !== undefined) this.#addRecord(record, { image: { ...image, rank: 0 }, offset });
    }
  }

  runs(): readonly CarvedRun[] {
    return [...this.#findings]
      .filter(
        ([runId, { hasSummary, isLive, records }]) =>
          isLive && (hasSummary || (records.size > 0 && !this.#removedRunIds.has(runId))),
      )
      .map(([runId, { damaged, hasSummary, lastSeq, records }]) => ({
        runId,
        lastSeq,
        hasSummary,
        damaged: [...damaged].filter((seq) => !records.has(seq)).toSorted((a, b) => a - b),
        records: () => this.#read(records),
      }));
  }

  *#read(records: ReadonlyMap<number, Place>): Generator<TrajectoryRecord, void, void> {
    for (const [, { image, offset }] of [...records].toSorted(([a], [b]) => a - b)) {
      const row = parseRecordRow(readCell(this.#pages, this.#pages.read(image), offset) ?? []);
      if (row !== undefined) yield parseRecord(row.json);
    }
  }

  #addRow(values: readonly CellValue[], place: Place): void {
    const isInUse = place.image.rank === 2;
    const [firstValue] = values;
    if (values.length === 1 && typeof firstValue === 'string') {
      if (isInUse) this.#removedRunIds.add(firstValue);
      return;
    }
    const record = parseRecordRow(values);
    if (record !== undefined) this.#addRecord(record, place);
    else if (isInUse) this.#addSummary(values);
  }

  #addRecord({ runId, seq, json, checksum }: FoundRecord, place: Place): void {
    if (checksum !== rowChecksums('records', runId)(seq, json)) {
      this.#findings.get(runId)?.damaged.add(seq);
      // The run may be found later.
      if (place.image.rank === 2) this.#findingsOf(runId).damaged.add(seq);
      return;
    }
    const run = this.#findingsOf(runId);
    // A record after the summary's end is uncommitted or from a deleted run of the same id.
    const isUncommitted = place.image.rank === 0 && run.hasSummary && seq > run.lastSeq;
    if (run.records.has(seq) || isUncommitted) return;
    run.records.set(seq, place);
    if (place.image.rank > 0) run.isLive = true;
  }

  #addSummary(values: readonly CellValue[]): void {
    const end = parseEnd(values);
    if (end === undefined) return;
    const run = this.#findingsOf(end.runId);
    run.lastSeq = Math.max(run.lastSeq, end.lastSeq);
    run.hasSummary ||= end.isSummary;
    run.isLive ||= end.isSummary;
  }

  #findingsOf(runId: string): Findings {
    const existing = this.#findings.get(runId);
    if (existing !== undefined) return existing;
    const run: Findings = { records: new Map(), damaged: new Set(), lastSeq: -1, hasSummary: false, isLive: false };
    this.#findings.set(runId, run);
    return run;
  }
}

interface FoundRecord {
  readonly runId: string;
  readonly seq: number;
  readonly json: string;
  readonly checksum: CellValue;
}

/** A row of `records`; SQLite stores the row id column as null. */
function parseRecordRow(values: readonly CellValue[]): FoundRecord | undefined {
  const [id, runId, seq, json, checksum] = values;
  if (values.length !== 5 || id !== null || !isRunId(runId) || typeof json !== 'string') return undefined;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return undefined;
  return { runId, seq, json, checksum };
}

interface FoundEnd {
  readonly runId: string;
  readonly lastSeq: number;
  /** False if the end comes from a snapshot. The run may have continued after the snapshot. */
  readonly isSummary: boolean;
}

/** The end of a run according to an intact row of `runs` or `snapshots`. */
function parseEnd([runId, place, text, fourthValue, fifthValue]: readonly CellValue[]): FoundEnd | undefined {
  if (!isRunId(runId) || typeof place !== 'number' || typeof text !== 'string') return undefined;
  if (fourthValue === rowChecksums('snapshots', runId)(place, text)) return { runId, lastSeq: place, isSummary: false };
  if (fifthValue !== rowChecksums('runs', runId)(0, text)) return undefined;
  const summary = jsonOf(text);
  if (!isJsonObject(summary) || summary['runId'] !== runId || typeof summary['lastSeq'] !== 'number') return undefined;
  return { runId, lastSeq: summary['lastSeq'], isSummary: true };
}
