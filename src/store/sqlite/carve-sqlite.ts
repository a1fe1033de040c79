import { isJsonObject, jsonOf } from '../../base/json.ts';
import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { isRunId } from '../check-batch.ts';
import { rowChecksums } from '../row-checksum.ts';
import { likelyCells, readCell, type CellValue } from './sqlite-cell.ts';
import { cellOffsets, openSqlitePages, type PageImage, type SqlitePages } from './sqlite-pages.ts';

/** A run, as far as its rows are found. */
export interface CarvedRun {
  readonly runId: string;
  /** The run's last `seq` as its summary or its snapshot has it; -1 without either. */
  readonly lastSeq: number;
  /** Without a summary, records at the end of the run may be missing and nothing tells. */
  readonly hasSummary: boolean;
  /** Rows of the run that are damaged, by `seq`. */
  readonly damaged: readonly number[];
  /** The records that are whole, in order, each `seq` once. */
  records(): Iterable<TrajectoryRecord>;
}

/** What was found in a file. */
export interface CarvedStore {
  readonly runs: readonly CarvedRun[];
  close(): void;
}

/** Where a record lies. */
interface Place {
  readonly image: PageImage;
  readonly offset: number;
}

interface Findings {
  readonly records: Map<number, Place>;
  readonly damaged: Set<number>;
  lastSeq: number;
  hasSummary: boolean;
  /** Whether anything of it lies on a page that is in use: else the run was deleted. */
  isLive: boolean;
}

/**
 * Finds the records of a SQLite store page by page, without the trees that lead to them: every leaf of a table is read, in the
 * file and in its log, and a row counts when it has the shape of a record and its checksum is right. Of two rows with one place,
 * the one that the last commit left counts. Where a run has holes, every byte is looked at; what lies on free pages, or where no
 * pointer leads, fills holes in runs that are there, so that no deleted run comes back.
 *
 * Throws what the file system throws. Memory: some 100 bytes a record. Cost: reads the file once, then every record once more.
 */
export function carveSqlite(path: string): CarvedStore {
  const pages = openSqlitePages(path);
  const carver = new Carver(pages);
  try {
    for (const rank of [2, 1, 0] as const) {
      for (const image of pages.images) if (image.rank === rank) carver.take(image);
    }
    if (!carver.isWhole()) for (const image of pages.images) carver.search(image);
  } catch (thrown) {
    pages.close();
    throw thrown;
  }
  return { runs: carver.runs(), close: () => pages.close() };
}

class Carver {
  readonly #pages: SqlitePages;
  readonly #found = new Map<string, Findings>();
  readonly #removed = new Set<string>();

  constructor(pages: SqlitePages) {
    this.#pages = pages;
  }

  take(image: PageImage): void {
    const page = this.#pages.read(image);
    for (const offset of cellOffsets(image, page)) {
      const values = readCell(this.#pages, page, offset);
      if (values !== undefined) this.#takeRow(values, { image, offset });
    }
  }

  /** Whether every run is there from its first record to the end that its summary gives. */
  isWhole(): boolean {
    const found = [...this.#found.values()].filter(({ isLive }) => isLive);
    return found.length > 0 && found.every(({ hasSummary, lastSeq, records }) => hasSummary && records.size > lastSeq);
  }

  /** Looks for records at every byte of a page, wherever its header and its pointers lead. */
  search(image: PageImage): void {
    const page = this.#pages.read(image);
    for (const offset of likelyCells(page)) {
      const values = readCell(this.#pages, page, offset);
      const record = values === undefined ? undefined : recordIn(values);
      if (record !== undefined) this.#takeRecord(record, { image: { ...image, rank: 0 }, offset });
    }
  }

  runs(): readonly CarvedRun[] {
    return [...this.#found]
      .filter(
        ([runId, { hasSummary, isLive, records }]) =>
          isLive && (hasSummary || (records.size > 0 && !this.#removed.has(runId))),
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
      const row = recordIn(readCell(this.#pages, this.#pages.read(image), offset) ?? []);
      if (row !== undefined) yield parseRecord(row.json);
    }
  }

  #takeRow(values: readonly CellValue[], place: Place): void {
    const isInUse = place.image.rank === 2;
    const [first] = values;
    if (values.length === 1 && typeof first === 'string') {
      if (isInUse) this.#removed.add(first);
      return;
    }
    const record = recordIn(values);
    if (record !== undefined) this.#takeRecord(record, place);
    else this.#takeSummary(values, isInUse);
  }

  #takeRecord({ runId, seq, json, checksum }: FoundRecord, place: Place): void {
    if (checksum !== rowChecksums('records', runId)(seq, json)) {
      this.#found.get(runId)?.damaged.add(seq);
      // Its run may come later.
      if (place.image.rank === 2) this.#findings(runId).damaged.add(seq);
      return;
    }
    const found = this.#findings(runId);
    // Behind the end that the summary gives, only what was not committed can lie, or a run that was deleted before.
    const isStray = place.image.rank === 0 && found.hasSummary && seq > found.lastSeq;
    if (found.records.has(seq) || isStray) return;
    found.records.set(seq, place);
    if (place.image.rank > 0) found.isLive = true;
  }

  #takeSummary(values: readonly CellValue[], isInUse: boolean): void {
    const end = endIn(values);
    if (end === undefined || !isInUse) return;
    const found = this.#findings(end.runId);
    found.lastSeq = Math.max(found.lastSeq, end.lastSeq);
    found.hasSummary ||= end.isSummary;
    found.isLive ||= end.isSummary;
  }

  #findings(runId: string): Findings {
    const known = this.#found.get(runId);
    if (known !== undefined) return known;
    const found: Findings = { records: new Map(), damaged: new Set(), lastSeq: -1, hasSummary: false, isLive: false };
    this.#found.set(runId, found);
    return found;
  }
}

interface FoundRecord {
  readonly runId: string;
  readonly seq: number;
  readonly json: string;
  readonly checksum: CellValue;
}

/** A row of `records`; the column that is the row's id is stored as null. */
function recordIn(values: readonly CellValue[]): FoundRecord | undefined {
  const [id, runId, seq, json, checksum] = values;
  if (values.length !== 5 || id !== null || !isRunId(runId) || typeof json !== 'string') return undefined;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return undefined;
  return { runId, seq, json, checksum };
}

interface FoundEnd {
  readonly runId: string;
  readonly lastSeq: number;
  /** Else of a snapshot, which the run may have gone on from. */
  readonly isSummary: boolean;
}

/** How far a run went, by a whole row of `runs` or `snapshots`. */
function endIn([runId, place, text, fourth, fifth]: readonly CellValue[]): FoundEnd | undefined {
  if (!isRunId(runId) || typeof place !== 'number' || typeof text !== 'string') return undefined;
  if (fourth === rowChecksums('snapshots', runId)(place, text)) return { runId, lastSeq: place, isSummary: false };
  if (fifth !== rowChecksums('runs', runId)(0, text)) return undefined;
  const summary = jsonOf(text);
  if (!isJsonObject(summary) || summary['runId'] !== runId || typeof summary['lastSeq'] !== 'number') return undefined;
  return { runId, lastSeq: summary['lastSeq'], isSummary: true };
}
