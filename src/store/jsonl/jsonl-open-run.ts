import type { LineBuffer } from './jsonl-line.ts';
import type { RunProgress } from './jsonl-progress.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import type { RunTail } from './jsonl-tail.ts';

/** A run that this process holds the lock of. */
export interface OpenRun {
  readonly run: RunFiles;
  readonly tail: RunTail;
  readonly lines: LineBuffer;
  /** For lines of appends that wait, made while the disk has the write before them. */
  readonly spare: LineBuffer[];
  /** What is stored and acknowledged. */
  progress: RunProgress | undefined;
}
