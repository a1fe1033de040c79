import type { RunSummary } from '../run-summary.ts';

/** Where a record's line lies in a run. Plain JSON: it is stored in checkpoints. */
export interface LinePlace {
  /** First `seq` of the segment, which names it. */
  readonly segmentSeq: number;
  /** Byte offset of the line's start, and the one just after its line break. */
  readonly startOffset: number;
  readonly endOffset: number;
  /** Number of the line in its segment, from 1. */
  readonly line: number;
  /** The line's check: eight digits. */
  readonly crc: string;
}

/** What is known of a run up to a record. Plain JSON: it is stored in checkpoints. */
export interface RunProgress {
  /** Where the last record lies. */
  readonly place: LinePlace;
  readonly summary: RunSummary;
}
