import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { CoxswainError, invalidArgument } from '../base/error.ts';
import type { FormatName, ImportItem } from './import-item.ts';
import { withPath } from './import-source.ts';
import { importers } from './importers.ts';
import { candidatesOf } from './reading/choose-importer.ts';
import { FollowedText } from './reading/followed-text.ts';
import { GrowingFile, type AnewReason } from './reading/growing-file.ts';

/** Where following stands, besides the items. */
export type FollowState =
  /** There is no file of that name; following waits for it. */
  | { readonly type: 'missing' }
  /** All that is there was read; told when something was, and once at the beginning. */
  | { readonly type: 'caught_up'; readonly waitingLines: number }
  /** It is another file now; its runs are new ones. */
  | { readonly type: 'anew'; readonly reason: AnewReason };

/** What `followSource` takes besides the path. */
export interface FollowOptions {
  /** Reads it as this format. Default: recognised by its content. */
  readonly format?: FormatName | undefined;
  /** Milliseconds between two looks; default 250. */
  readonly intervalMs?: number;
  /** Following ends when it is aborted, without an error. */
  readonly signal?: AbortSignal;
  /** Whether a file that is not there yet is waited for; default true. */
  readonly wait?: boolean;
  /** Told, and waited for, after everything read before it was taken. */
  readonly onState?: (state: FollowState) => void | Promise<void>;
}

/**
 * Reads the runs of a file of JSON lines as it grows, by looking at it again and again: what is there, then every line
 * as soon as its line break is written. A file that was cut short, rewritten or replaced under its name is read from its
 * beginning; the runs that were open end, and the new ones have the same keys.
 *
 * Importers may hold an item until the next one is there (Claude Code's answers come in several lines).
 *
 * @throws CoxswainError `input-io`, `format-unknown`, `format-invalid` as `importSource`; `invalid-argument` for a
 *   format that is not of lines
 * Cost: two `stat` a look. Memory: one line and what the importer keeps.
 */
export async function* followSource(path: string, options: FollowOptions = {}): AsyncGenerator<ImportItem> {
  const { intervalMs = 250, wait = true, signal, onState } = options;
  const candidates = candidatesOf(importers, options.format);
  if (candidates.lines.length === 0) {
    throw invalidArgument(`the format ${options.format} is not of lines: it cannot be followed`);
  }
  const source = { path, name: basename(path) };
  const file = new GrowingFile(path);
  let text = new FollowedText(source, candidates);
  let told: FollowState['type'] | undefined;
  const tell = async (state: FollowState): Promise<void> => {
    if (state.type === told) return;
    told = state.type;
    await onState?.(state);
  };
  try {
    for (;;) {
      if (signal?.aborted === true) return;
      const read = await file.read();
      switch (read.type) {
        case 'bytes':
          told = undefined;
          yield* text.take(read.bytes);
          continue;
        case 'anew':
          yield* text.end();
          text = new FollowedText(source, candidates);
          await tell(read);
          continue;
        case 'missing':
          if (!wait) throw new CoxswainError('input-io', 'no such file');
          await tell(read);
          break;
        default:
          yield* text.pause();
          await tell({ type: 'caught_up', waitingLines: text.waitingLines });
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
