import { CoxswainError } from '../../base/error.ts';

/** How a sink of JSON lines writes. */
export interface JsonlSinkOptions {
  /**
   * When an append is acknowledged. `group` (default): the disk has it; appends that arrive during a sync share the
   * next one. `each`: the disk has it, by a sync of its own. `none`: the operating system has it, so a crash of the
   * process loses nothing and a power cut may lose what came after the last `flush`, or make the run need a repair.
   */
  readonly fsync?: 'group' | 'each' | 'none';
  /** A segment that would grow over this is closed; at least 1,024, default 64 MiB. */
  readonly segmentBytes?: number;
  readonly lock?: {
    /** How long an append waits for another writer of its run, in milliseconds; default 5,000. */
    readonly waitMs?: number;
  };
}

/** The options with their defaults. */
export interface JsonlSettings {
  readonly fsync: 'group' | 'each' | 'none';
  readonly segmentBytes: number;
  readonly lockWaitMs: number;
}

const FSYNC: ReadonlySet<unknown> = new Set(['group', 'each', 'none']);
const MIN_SEGMENT_BYTES = 1024;
const DEFAULT_SEGMENT_BYTES = 64 * 1024 * 1024;
const DEFAULT_LOCK_WAIT_MS = 5000;

/** @throws CoxswainError `invalid-argument` for an option out of range */
export function resolveJsonlSettings(options: JsonlSinkOptions): JsonlSettings {
  const { fsync = 'group', segmentBytes = DEFAULT_SEGMENT_BYTES } = options;
  const lockWaitMs = options.lock?.waitMs ?? DEFAULT_LOCK_WAIT_MS;
  if (!FSYNC.has(fsync)) throw invalid(`fsync is group, each or none, got ${JSON.stringify(fsync)}`);
  if (!Number.isSafeInteger(segmentBytes) || segmentBytes < MIN_SEGMENT_BYTES) {
    throw invalid(`segmentBytes must be a whole number from ${MIN_SEGMENT_BYTES}, got ${segmentBytes}`);
  }
  if (!Number.isSafeInteger(lockWaitMs) || lockWaitMs < 0) {
    throw invalid(`lock.waitMs must be a whole number from 0, got ${lockWaitMs}`);
  }
  return { fsync, segmentBytes, lockWaitMs };
}

function invalid(message: string): CoxswainError {
  return new CoxswainError('invalid-argument', message);
}
