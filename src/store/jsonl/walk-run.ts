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

/** A position after a complete append, where the next append starts. */
export interface RunPlace {
  readonly offset: number;
  /** Number of lines before this position. */
  readonly lines: number;
  readonly nextSeq: number;
  readonly runId: string;
}

/** A record or problem in a run's file. */
export type WalkItem =
  | { readonly type: 'record'; readonly record: TrajectoryRecord; readonly json: string; readonly end: RunPlace }
  | {
      readonly type: 'damage';
      readonly code: 'invalid-record' | 'schema-version';
      readonly runId: string;
      readonly seq: number;
      /** File and line. */
      readonly place: string;
      readonly problem: string;
    }
  | {
      /** An append that was not acknowledged because a crash interrupted it. The next writer truncates it. */
      readonly type: 'torn';
      readonly runId: string;
      readonly seq: number;
      readonly place: string;
      /** The complete records of that append. */
      readonly records: readonly TrajectoryRecord[];
    };

type Damage = Extract<WalkItem, { readonly type: 'damage' }>;

/**
 * Reads a run in order and yields its records, each verified to be intact and to continue the previous one, and every problem.
 * Never writes.
 *
 * An append counts once its last line is complete. An incomplete end of the file, or one of zero bytes, is torn, unless a later
 * write shows that it was on disk; any other invalid line is damage. Throws what the file system throws.
 *
 * @param from  a place from an earlier walk; default: the start
 * Cost: memory is a chunk of the file, the longest line twice, and an append.
 */
export async function* walkRun(run: RunFiles, from?: RunPlace): AsyncGenerator<WalkItem, void, void> {
  const walk = new Walk(run, from);
  const offset = from?.offset ?? 0;
  try {
    for await (const lines of readLines(run.fileSystem.read(recordsPath(run), offset), offset)) {
      for (const line of lines) yield* walk.readLine(line);
    }
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
  yield* walk.finish();
}

/** Creates the error that a reader throws at damage. */
export function damageError({ code, place, problem, seq }: Damage): CoxswainError {
  return new CoxswainError(code, `${place}: ${problem}`, { details: { place, problem, seq } });
}

class Walk {
  #runId: string | undefined;
  readonly #run: RunFiles;
  #nextSeq: number;
  #lines: number;
  /** The current append, before its last line. */
  #currentAppend: WalkItem[] = [];
  #appendLine = 0;
  /** Items from the first line that may be incomplete. */
  #unconfirmed: WalkItem[] | undefined;

  constructor(run: RunFiles, from: RunPlace | undefined) {
    this.#run = run;
    this.#runId = from?.runId;
    this.#nextSeq = from?.nextSeq ?? 0;
    this.#lines = from?.lines ?? 0;
  }

  *readLine(line: FileLine): Generator<WalkItem, void, void> {
    this.#lines += 1;
    const checkedLine = line.isComplete ? checkLine(line.bytes) : undefined;
    const isOnDisk = checkedLine?.beginsWrite === true || (checkedLine === undefined && !isTorn(line));
    if (this.#unconfirmed !== undefined && isOnDisk) yield* this.#emitAppend();
    if (checkedLine === undefined) {
      const damage = this.#createDamage(this.#placeOf(), 'the line is damaged (its check is wrong)');
      if (isOnDisk) {
        yield* this.#emitAppend();
        yield damage;
      } else (this.#unconfirmed ??= []).push(damage);
      return;
    }
    if (this.#currentAppend.length === 0) this.#appendLine = this.#lines;
    (this.#unconfirmed ?? this.#currentAppend).push(...this.#readRecord(checkedLine.json, line));
    if (this.#unconfirmed === undefined && !checkedLine.hasMore) yield* this.#emitAppend();
  }

  *finish(): Generator<WalkItem, void, void> {
    const unfinished = [...this.#currentAppend, ...(this.#unconfirmed ?? [])];
    if (unfinished.length === 0) return;
    const records = unfinished.flatMap((item) => (item.type === 'record' ? [item.record] : []));
    const [first] = unfinished;
    const place = first?.type === 'damage' ? first.place : this.#placeOf(this.#appendLine);
    yield { type: 'torn', runId: this.#runIdOrName(), seq: records[0]?.seq ?? this.#nextSeq, place, records };
  }

  #createDamage(place: string, problem: string, seq: number = this.#nextSeq): Damage {
    return { type: 'damage', code: 'invalid-record', runId: this.#runIdOrName(), seq, place, problem };
  }

  *#emitAppend(): Generator<WalkItem, void, void> {
    yield* this.#currentAppend;
    yield* this.#unconfirmed ?? [];
    this.#currentAppend = [];
    this.#unconfirmed = undefined;
  }

  *#readRecord(json: string, { endOffset }: FileLine): Generator<WalkItem, void, void> {
    const place = this.#placeOf();
    let record: TrajectoryRecord;
    try {
      record = parseRecord(json);
    } catch (thrown) {
      if (!(thrown instanceof CoxswainError)) throw thrown;
      const code = thrown.code === 'schema-version' ? thrown.code : 'invalid-record';
      yield { ...this.#createDamage(place, thrown.message), code };
      return;
    }
    const { seq } = record;
    if (record.run_id === undefined) yield this.#createDamage(place, 'the record has no run_id', seq);
    else this.#runId ??= record.run_id;
    if (record.run_id !== this.#runId)
      yield this.#createDamage(place, 'the record is of another run than the previous ones', seq);
    const problem = orderProblem(this.#nextSeq, seq);
    if (problem !== undefined) yield this.#createDamage(place, problem.problem, problem.seq);
    this.#nextSeq = Math.max(this.#nextSeq, lastSeqOf(record) + 1);
    const end = { offset: endOffset, lines: this.#lines, nextSeq: this.#nextSeq, runId: this.#runIdOrName() };
    yield { type: 'record', record, json, end };
  }

  #runIdOrName(): string {
    return this.#runId ?? runIdInFolderName(basename(this.#run.folder));
  }

  #placeOf(line = this.#lines): string {
    return `${recordsPath(this.#run)}, line ${line}`;
  }
}

/** Returns true for what a crash may leave: an incomplete line, or blocks that were never written. */
function isTorn({ bytes, isComplete }: FileLine): boolean {
  return !isComplete || bytes.includes(0);
}
