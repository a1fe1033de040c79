import type { TimeSpan } from '../../../core/base/deadline.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { spanOption, wholeOption } from '../../terminal/option-values.ts';

export interface WatchOptions {
  readonly json?: boolean;
  readonly fromStart?: boolean;
  readonly untilEnd?: boolean;
  /** False for `--no-wait`. */
  readonly wait?: boolean;
  readonly deadline?: string;
  readonly interval?: string;
  /** A shell command line. */
  readonly onStuck?: string;
  readonly bell?: boolean;
  readonly newest?: boolean;
}

/** @throws CoxswainError `invalid-argument` for options that cannot be combined */
export function checkOptions(file: string | undefined, { newest, onStuck, untilEnd, wait }: WatchOptions): void {
  if (file === '-') throw invalidArgument('watch follows a file: write the stream to one, for example with tee');
  if (onStuck?.trim() === '') throw invalidArgument('--on-stuck is empty: give a shell command');
  if (file !== undefined && newest === true) throw invalidArgument('--newest finds the file: omit the path');
  if (file === undefined && newest !== true && (untilEnd === true || wait === false)) {
    const option = untilEnd === true ? '--until-end' : '--no-wait';
    throw invalidArgument(`${option} needs one file: name it, or add --newest`);
  }
}

/** Parses a time span such as `45m`, `90s` or `1h30m`. @throws CoxswainError `invalid-argument` */
export function spanOf(text: string | undefined): TimeSpan | undefined {
  if (text === undefined) return undefined;
  return { seconds: spanOption('--deadline', text, '45m, 90s or 1h30m') / 1_000 };
}

/** Parses the interval between two reads in milliseconds; default: 250. @throws CoxswainError `invalid-argument` */
export function intervalOf(text = '250'): number {
  return wholeOption('--interval', text, [10, 60_000]);
}
