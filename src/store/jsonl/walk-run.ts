import { basename } from 'node:path';

import { CoxswainError, messageOf } from '../../base/error.ts';
import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { orderProblem } from '../run-check.ts';
import { lastSeqOf } from '../run-summary.ts';
import { checkLine } from './jsonl-line.ts';
import { readLines, type FileLine } from './read-lines.ts';
import { bytesOf, segmentsOf, type RunFiles, type Segment } from './run-files.ts';
import { runIdInFolderName } from './run-folder-name.ts';

/** A place just after a whole append: where the next one lies, or will. */
export interface RunPlace {
  readonly segmentSeq: number;
  readonly offset: number;
  /** Lines of the segment before it. */
  readonly lines: number;
  /** What follows there. */
  readonly nextSeq: number;
  readonly runId: string;
}

/** What is met on the way through a run. */
export type WalkItem =
  | { readonly type: 'record'; readonly record: TrajectoryRecord; readonly json: string; readonly end: RunPlace }
  | {
      readonly type: 'damage';
      readonly code: 'invalid-record' | 'schema-version';
      readonly runId: string;
      readonly seq: number;
      /** A file and a line. */
      readonly place: string;
      readonly problem: string;
    }
  | {
      /** The end of an append that a crash cut off, which was never acknowledged; the next writer removes it. */
      readonly type: 'torn';
      readonly runId: string;
      readonly seq: number;
      readonly place: string;
      /** Those of its records that are whole. */
      readonly records: readonly TrajectoryRecord[];
    };

type Damage = Extract<WalkItem, { readonly type: 'damage' }>;

/**
 * Goes through a run in order and gives its records, each checked to be as it was written and to continue the one before, and
 * all that is wrong. Never writes.
 *
 * An append counts only when its last line is there. What is cut off at the end of the last file, or was never filled (bytes
 * of zero), is torn, unless a later write shows that the disk had it; anything else that is not as it was written is damage.
 *
 * @param from  a place that an earlier walk gave, or a `seq`: the walk begins with the segment that holds it
 * Cost: memory is a chunk of the file, the longest line twice, and an append.
 *
 * Throws what the file system throws.
 */
export async function* walkRun(
  run: RunFiles,
  from: RunPlace | { readonly fromSeq: number },
): AsyncGenerator<WalkItem, void, void> {
  const segments = await segmentsOf(run);
  const wanted = 'nextSeq' in from ? from.segmentSeq : from.fromSeq;
  const first = Math.max(
    0,
    segments.findLastIndex(({ firstSeq }) => firstSeq <= wanted),
  );
  const firstSeq = segments[first]?.firstSeq ?? 0;
  // A run that is read from its start begins at 0, whatever its first file is called.
  const nextSeq = 'nextSeq' in from ? from.nextSeq : from.fromSeq < firstSeq ? 0 : firstSeq;
  const runId = 'nextSeq' in from ? from.runId : undefined;
  const walk = new Walk(basename(run.folder), { runId, nextSeq });
  for (const [index, segment] of segments.entries()) {
    if (index < first) continue;
    const start = 'nextSeq' in from && from.segmentSeq === segment.firstSeq ? from : { offset: 0, lines: 0 };
    yield* walk.begin(segment, { ...start, isLast: index === segments.length - 1 });
    try {
      for await (const lines of readLines(bytesOf(run, segment, start.offset), start.offset)) {
        for (const line of lines) yield* walk.take(line);
      }
    } catch (thrown) {
      // What the decompressor throws comes from the bytes, not from the file system.
      if (!segment.isCompressed || (thrown instanceof Error && 'syscall' in thrown)) throw thrown;
      yield walk.damage(segment.path, `the file cannot be decompressed: ${messageOf(thrown)}`);
    }
    yield* walk.end();
  }
}

/** The error of a reader that meets damage. */
export function damageError({ code, place, problem, seq }: Damage): CoxswainError {
  return new CoxswainError(code, `${place}: ${problem}`, { details: { place, problem, seq } });
}

/** Where in a run a walk is. */
class Walk {
  #runId: string | undefined;
  readonly #folder: string;
  #nextSeq: number;
  #segment: Segment = { path: '', firstSeq: 0, isCompressed: false };
  #mayBeTorn = false;
  #lines = 0;
  /** Of an append whose last line has not come. */
  #open: WalkItem[] = [];
  #openLine = 0;
  /** From a line on that is torn, unless a later write follows. */
  #doubtful: WalkItem[] | undefined;

  constructor(folder: string, { runId, nextSeq }: { readonly runId: string | undefined; readonly nextSeq: number }) {
    this.#folder = folder;
    this.#runId = runId;
    this.#nextSeq = nextSeq;
  }

  *begin(
    segment: Segment,
    { lines, isLast }: { readonly lines: number; readonly isLast: boolean },
  ): Generator<WalkItem, void, void> {
    this.#segment = segment;
    this.#mayBeTorn = isLast && !segment.isCompressed;
    this.#lines = lines;
    if (segment.firstSeq <= this.#nextSeq) return;
    yield this.damage(segment.path, `seq ${this.#nextSeq} to ${segment.firstSeq - 1} are missing before this file`);
    this.#nextSeq = segment.firstSeq;
  }

  *take(line: FileLine): Generator<WalkItem, void, void> {
    this.#lines += 1;
    const checked = line.isComplete ? checkLine(line.bytes) : undefined;
    const wasStored = checked?.beginsWrite === true || (checked === undefined && !this.#isTorn(line));
    if (this.#doubtful !== undefined && wasStored) yield* this.#flush();
    if (checked === undefined) {
      const damage = this.damage(this.#place(), 'the line is not as it was written (its check does not agree)');
      if (wasStored) yield* this.#flush();
      if (wasStored) yield damage;
      else (this.#doubtful ??= []).push(damage);
      return;
    }
    if (this.#open.length === 0) this.#openLine = this.#lines;
    (this.#doubtful ?? this.#open).push(...this.#read(checked.json, line));
    if (this.#doubtful === undefined && !checked.hasMore) yield* this.#flush();
  }

  /** Ends a segment. */
  *end(): Generator<WalkItem, void, void> {
    const left = [...this.#open, ...(this.#doubtful ?? [])];
    if (left.length === 0) return;
    if (!this.#mayBeTorn) {
      yield* this.#flush();
      yield this.damage(this.#place(1), 'the append before it is not complete');
      return;
    }
    const records = left.flatMap((item) => (item.type === 'record' ? [item.record] : []));
    const [first] = left;
    const place = first?.type === 'damage' ? first.place : `${this.#segment.path}, line ${this.#openLine}`;
    yield { type: 'torn', runId: this.#id(), seq: records[0]?.seq ?? this.#nextSeq, place, records };
  }

  damage(place: string, problem: string, seq: number = this.#nextSeq): Damage {
    return { type: 'damage', code: 'invalid-record', runId: this.#id(), seq, place, problem };
  }

  *#flush(): Generator<WalkItem, void, void> {
    yield* this.#open;
    yield* this.#doubtful ?? [];
    this.#open = [];
    this.#doubtful = undefined;
  }

  /** True for what a crash may leave: the end is missing, or blocks were never filled. */
  #isTorn({ bytes, isComplete }: FileLine): boolean {
    return this.#mayBeTorn && (!isComplete || bytes.includes(0));
  }

  *#read(json: string, { endOffset }: FileLine): Generator<WalkItem, void, void> {
    const place = this.#place();
    let record: TrajectoryRecord;
    try {
      record = parseRecord(json);
    } catch (thrown) {
      if (!(thrown instanceof CoxswainError)) throw thrown;
      const code = thrown.code === 'schema-version' ? thrown.code : 'invalid-record';
      yield { ...this.damage(place, thrown.message), code };
      return;
    }
    const { seq } = record;
    const nextSeq = this.#nextSeq;
    if (record.run_id === undefined) yield this.damage(place, 'the record has no run_id', seq);
    else this.#runId ??= record.run_id;
    if (record.run_id !== this.#runId)
      yield this.damage(place, 'the record is of another run than the ones before', seq);
    const found = orderProblem(nextSeq, seq);
    if (found !== undefined) yield this.damage(place, found.problem, found.seq);
    this.#nextSeq = Math.max(nextSeq, lastSeqOf(record) + 1);
    const at = { segmentSeq: this.#segment.firstSeq, offset: endOffset, lines: this.#lines };
    yield { type: 'record', record, json, end: { ...at, nextSeq: this.#nextSeq, runId: this.#id() } };
  }

  #id(): string {
    return this.#runId ?? runIdInFolderName(this.#folder);
  }

  #place(after = 0): string {
    return `${this.#segment.path}, line ${this.#lines + after}`;
  }
}
