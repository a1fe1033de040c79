import { basename } from 'node:path';

import { CoxswainError } from '../../base/error.ts';
import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { isMissing } from '../file-system.ts';
import { orderProblem } from '../run-check.ts';
import { lastSeqOf } from '../run-summary.ts';
import { checkLine } from './jsonl-line.ts';
import { readLines, type FileLine } from './read-lines.ts';
import { recordsPath, type RunFiles } from './run-files.ts';
import { runIdInFolderName } from './run-folder-name.ts';

/** A place just after a whole append: where the next one lies, or will. */
export interface RunPlace {
  readonly offset: number;
  /** Lines before it. */
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
 * An append counts only when its last line is there. What is cut off at the end of the file, or was never filled (bytes
 * of zero), is torn, unless a later write shows that the disk had it; anything else that is not as it was written is damage.
 *
 * @param from  a place that an earlier walk gave; default: the start
 * Cost: memory is a chunk of the file, the longest line twice, and an append.
 *
 * Throws what the file system throws.
 */
export async function* walkRun(run: RunFiles, from?: RunPlace): AsyncGenerator<WalkItem, void, void> {
  const walk = new Walk(run, from);
  const offset = from?.offset ?? 0;
  try {
    for await (const lines of readLines(run.fileSystem.read(recordsPath(run), offset), offset)) {
      for (const line of lines) yield* walk.take(line);
    }
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
  yield* walk.end();
}

/** The error of a reader that meets damage. */
export function damageError({ code, place, problem, seq }: Damage): CoxswainError {
  return new CoxswainError(code, `${place}: ${problem}`, { details: { place, problem, seq } });
}

/** Where in a run a walk is. */
class Walk {
  #runId: string | undefined;
  readonly #run: RunFiles;
  #nextSeq: number;
  #lines: number;
  /** Of an append whose last line has not come. */
  #open: WalkItem[] = [];
  #openLine = 0;
  /** From a line on that is torn, unless a later write follows. */
  #doubtful: WalkItem[] | undefined;

  constructor(run: RunFiles, from: RunPlace | undefined) {
    this.#run = run;
    this.#runId = from?.runId;
    this.#nextSeq = from?.nextSeq ?? 0;
    this.#lines = from?.lines ?? 0;
  }

  *take(line: FileLine): Generator<WalkItem, void, void> {
    this.#lines += 1;
    const checked = line.isComplete ? checkLine(line.bytes) : undefined;
    const wasStored = checked?.beginsWrite === true || (checked === undefined && !isTorn(line));
    if (this.#doubtful !== undefined && wasStored) yield* this.#flush();
    if (checked === undefined) {
      const damage = this.#damage(this.#place(), 'the line is not as it was written (its check does not agree)');
      if (wasStored) yield* this.#flush();
      if (wasStored) yield damage;
      else (this.#doubtful ??= []).push(damage);
      return;
    }
    if (this.#open.length === 0) this.#openLine = this.#lines;
    (this.#doubtful ?? this.#open).push(...this.#read(checked.json, line));
    if (this.#doubtful === undefined && !checked.hasMore) yield* this.#flush();
  }

  *end(): Generator<WalkItem, void, void> {
    const left = [...this.#open, ...(this.#doubtful ?? [])];
    if (left.length === 0) return;
    const records = left.flatMap((item) => (item.type === 'record' ? [item.record] : []));
    const [first] = left;
    const place = first?.type === 'damage' ? first.place : this.#place(this.#openLine);
    yield { type: 'torn', runId: this.#id(), seq: records[0]?.seq ?? this.#nextSeq, place, records };
  }

  #damage(place: string, problem: string, seq: number = this.#nextSeq): Damage {
    return { type: 'damage', code: 'invalid-record', runId: this.#id(), seq, place, problem };
  }

  *#flush(): Generator<WalkItem, void, void> {
    yield* this.#open;
    yield* this.#doubtful ?? [];
    this.#open = [];
    this.#doubtful = undefined;
  }

  *#read(json: string, { endOffset }: FileLine): Generator<WalkItem, void, void> {
    const place = this.#place();
    let record: TrajectoryRecord;
    try {
      record = parseRecord(json);
    } catch (thrown) {
      if (!(thrown instanceof CoxswainError)) throw thrown;
      const code = thrown.code === 'schema-version' ? thrown.code : 'invalid-record';
      yield { ...this.#damage(place, thrown.message), code };
      return;
    }
    const { seq } = record;
    const nextSeq = this.#nextSeq;
    if (record.run_id === undefined) yield this.#damage(place, 'the record has no run_id', seq);
    else this.#runId ??= record.run_id;
    if (record.run_id !== this.#runId)
      yield this.#damage(place, 'the record is of another run than the ones before', seq);
    const found = orderProblem(nextSeq, seq);
    if (found !== undefined) yield this.#damage(place, found.problem, found.seq);
    this.#nextSeq = Math.max(nextSeq, lastSeqOf(record) + 1);
    const end = { offset: endOffset, lines: this.#lines, nextSeq: this.#nextSeq, runId: this.#id() };
    yield { type: 'record', record, json, end };
  }

  #id(): string {
    return this.#runId ?? runIdInFolderName(basename(this.#run.folder));
  }

  #place(line = this.#lines): string {
    return `${recordsPath(this.#run)}, line ${line}`;
  }
}

/** True for what a crash may leave: the end is missing, or blocks were never filled. */
function isTorn({ bytes, isComplete }: FileLine): boolean {
  return !isComplete || bytes.includes(0);
}
