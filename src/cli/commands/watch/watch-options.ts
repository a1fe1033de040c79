import type { TimeSpan } from '../../../base/deadline.ts';
import { CoxswainError } from '../../../base/error.ts';
import { parseDuration } from '../../../base/parse-duration.ts';

/** The options of `coxswain watch`, as the command line gives them. */
export interface WatchOptions {
  readonly json?: boolean;
  readonly fromStart?: boolean;
  readonly untilEnd?: boolean;
  /** False with `--no-wait`. */
  readonly wait?: boolean;
  readonly deadline?: string;
  readonly interval?: string;
  /** A line for the shell. */
  readonly onStuck?: string;
  readonly bell?: boolean;
  readonly newest?: boolean;
}

const MIN_INTERVAL_MS = 10;
const MAX_INTERVAL_MS = 60_000;

/** @throws CoxswainError `invalid-argument` for options that do not go together */
export function checkOptions(file: string | undefined, options: WatchOptions): void {
  const refuse = (message: string): never => {
    throw new CoxswainError('invalid-argument', message);
  };
  const { newest, onStuck, untilEnd, wait } = options;
  if (file === '-') refuse('watch follows a file: write the stream to one, such as with tee');
  if (onStuck?.trim() === '') refuse('--on-stuck is empty: give a command for the shell');
  if (file !== undefined && newest === true) refuse('--newest looks for the file: leave the path out');
  if (file === undefined && newest !== true && (untilEnd === true || wait === false)) {
    refuse(`${untilEnd === true ? '--until-end' : '--no-wait'} is about one file: name it, or add --newest`);
  }
}

/** A span such as `45m`, `90s` or `1h30m`. @throws CoxswainError `invalid-argument` */
export function spanOf(text: string | undefined): TimeSpan | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return { seconds: durationMs / 1_000 };
  throw new CoxswainError('invalid-argument', `--deadline ${text}: give a span such as 45m, 90s or 1h30m`);
}

/** Milliseconds between two looks; 250 where nothing is said. @throws CoxswainError `invalid-argument` */
export function intervalOf(text: string | undefined): number {
  if (text === undefined) return 250;
  const intervalMs = Number(text);
  if (/^\d+$/.test(text) && intervalMs >= MIN_INTERVAL_MS && intervalMs <= MAX_INTERVAL_MS) return intervalMs;
  throw new CoxswainError(
    'invalid-argument',
    `--interval ${text}: give milliseconds from ${MIN_INTERVAL_MS} to ${MAX_INTERVAL_MS}`,
  );
}
