import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { CoxswainError, invalidArgument } from '../core/base/error.ts';
import type { FormatName, ImportItem } from './import-item.ts';
import { withPath } from './import-source.ts';
import { importers } from './importers.ts';
import { candidatesOf } from './reading/choose-importer.ts';
import { FollowedText } from './reading/followed-text.ts';
import { GrowingFile, type RestartReason } from './reading/growing-file.ts';

/** State of `followSource`. It is reported separately from the items. */
export type FollowState =
  /** The file does not exist. `followSource` waits for it. */
  | { readonly type: 'missing' }
  /** The complete file has been read. Reported once at the beginning, then after each read. */
  | { readonly type: 'caught_up'; readonly waitingLines: number }
  /** The file was replaced or changed. Its runs are new runs. */
  | { readonly type: 'restarted'; readonly reason: RestartReason };

export interface FollowOptions {
  /** Format of the file. Default: detected from the content. */
  readonly format?: FormatName | undefined;
  /** Polling interval in milliseconds; default 250. */
  readonly intervalMs?: number;
  /** Stops following when aborted. No error is thrown. */
  readonly signal?: AbortSignal;
  /** If true, waits for a file that does not exist yet; default true. */
  readonly wait?: boolean;
  /** Called and awaited after the consumer has received all items that precede the state. */
  readonly onState?: (state: FollowState) => void | Promise<void>;
}

/**
 * Reads the runs of a JSON Lines file as it grows. The file is polled. The existing content is read first, then every line
 * when its line break has been written. If the file was truncated, rewritten or replaced, it is read again from its beginning.
 * The open runs then end, and the new runs have the same keys.
 *
 * Claude Code splits answers over several lines. An answer is emitted at the next one, or while the file does not grow, as soon as its
 * calls have results.
 *
 * @throws CoxswainError `input-io`, `format-unknown`, `format-invalid` as `importSource`; `invalid-argument` for a format that
 * does not consist of lines Cost: two `stat` calls per poll. Memory: one line and the state of the importer.
 */
export async function* followSource(path: string, options: FollowOptions = {}): AsyncGenerator<ImportItem> {
  const { intervalMs = 250, wait = true, signal, onState } = options;
  const candidates = candidatesOf(importers, options.format);
  if (candidates.lines.length === 0) {
    throw invalidArgument(`the format ${options.format} is not line-based, so it cannot be followed`);
  }
  const source = { path, name: basename(path) };
  const file = new GrowingFile(path);
  let text = new FollowedText(source, candidates);
  let reported: FollowState['type'] | undefined;
  const report = async (state: FollowState): Promise<void> => {
    if (state.type === reported) return;
    reported = state.type;
    await onState?.(state);
  };
  try {
    for (;;) {
      if (signal?.aborted === true) return;
      const chunk = await file.read();
      switch (chunk.type) {
        case 'bytes':
          reported = undefined;
          yield* text.take(chunk.bytes);
          continue;
        case 'restarted':
          yield* text.end();
          text = new FollowedText(source, candidates);
          await report(chunk);
          continue;
        case 'missing':
          if (!wait) throw new CoxswainError('input-io', 'no such file');
          await report(chunk);
          break;
        default:
          yield* text.pause();
          await report({ type: 'caught_up', waitingLines: text.waitingLines });
      }
      await pause(intervalMs, signal);
    }
  } catch (error) {
    throw withPath(error, path);
  } finally {
    await file.close();
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}
