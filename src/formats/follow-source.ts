import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoxswainError, invalidArgument, hasCode } from '../core/base/error.ts';
import type { FormatName, ImportItem } from './import-item.ts';
import { withPath } from './import-source.ts';
import { importers } from './importers.ts';
import {
  candidatesOf,
  accepted,
  describeJson,
  SURE_ENOUGH,
  surest,
  type Candidates,
  type Recognition,
} from './reading/choose-importer.ts';
import type { ImportSource, LineImporter } from './importer.ts';
import { packingOf, ioError } from './reading/open-bytes.ts';
import { LinesRun } from './reading/import-lines.ts';
import { LineReader } from './reading/line-reader.ts';
import { decodeLine, HEAD_LINES, type DecodedLine } from './reading/text-head.ts';
import { open, stat, type FileHandle } from 'node:fs/promises';

const LINE_BYTES = 64 * 1024 * 1024;
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const ONE_A_LINE = 'only files with one JSON value per line can be followed; analyze reads all others';

/**
 * Reads JSON Lines text that arrives in parts. A line is read when its line break has arrived. The importer is chosen as soon
 * as one recognises the lines, at the latest after 32 lines.
 *
 * Memory: the current line, at most 64 MiB; up to 32 lines before the importer is chosen; the importer's state.
 */
class FollowedText {
  readonly #source: ImportSource;
  readonly #candidates: Candidates;
  readonly #reader = new LineReader(LINE_BYTES);
  readonly #openKeys = new Set<string>();
  #head: DecodedLine[] = [];
  #run: LinesRun | undefined;
  #hasBegun = false;

  constructor(source: ImportSource, candidates: Candidates) {
    this.#source = source;
    this.#candidates = candidates;
  }

  /** Number of lines that wait because no importer has recognised them yet. */
  get waitingLines(): number {
    return this.#head.length;
  }

  /**
   * Yields the items of the lines that these bytes complete. Iterate to the end.
   *
   * @throws CoxswainError `format-unknown` for compressed or binary content, and after 32 unrecognised lines; `format-invalid`
   * after 32 lines without JSON
   */
  *take(bytes: Buffer): Generator<ImportItem> {
    for (const line of this.#reader.push(this.#hasBegun ? bytes : this.#firstText(bytes))) {
      const decoded = decodeLine(line);
      if (this.#run !== undefined) {
        yield* this.#noteItems(this.#run.line(decoded));
        continue;
      }
      this.#head.push(decoded);
      if (this.#head.length >= HEAD_LINES) yield* this.#openRun(this.#chosenImporter());
    }
  }

  /**
   * Called when no more bytes are available at present. Yields the items that the importer has buffered and that can be complete,
   * and the items of waiting lines if an importer recognises them.
   */
  *pause(): Generator<ImportItem> {
    if (this.#run !== undefined) yield* this.#noteItems(this.#run.pause());
    if (this.#run !== undefined || this.#head.length === 0) return;
    const bestImporter = this.#bestImporter();
    const isSure =
      bestImporter !== undefined && (bestImporter.confidence >= SURE_ENOUGH || this.#candidates.forced !== undefined);
    if (isSure) yield* this.#openRun(bestImporter.importer);
  }

  /** Called at the end of the text. Yields the items that the importer has buffered, and the end of every open run. */
  *end(): Generator<ImportItem> {
    if (this.#run !== undefined) yield* this.#noteItems(this.#run.end());
    for (const runKey of this.#openKeys) yield { type: 'end', runKey };
  }

  #firstText(bytes: Buffer): Buffer {
    this.#hasBegun = true;
    const packing = packingOf(bytes.subarray(0, 4));
    if (packing !== 'none') throw new CoxswainError('format-unknown', `is packed (${packing}): ${ONE_A_LINE}`);
    if (bytes.includes(0)) throw new CoxswainError('format-unknown', `binary content: ${ONE_A_LINE}`);
    return bytes.subarray(0, 3).equals(UTF8_MARK) ? bytes.subarray(3) : bytes;
  }

  *#openRun(importer: LineImporter): Generator<ImportItem> {
    const run = new LinesRun(importer.open(this.#source));
    const headLines = this.#head;
    this.#run = run;
    this.#head = [];
    for (const line of headLines) yield* this.#noteItems(run.line(line));
  }

  *#noteItems(items: Iterable<ImportItem>): Generator<ImportItem> {
    for (const item of items) {
      if (item.type === 'run') this.#openKeys.add(item.run.key);
      else if (item.type === 'end') this.#openKeys.delete(item.runKey);
      yield item;
    }
  }

  #bestImporter(): Recognition<LineImporter> | undefined {
    const values = this.#headValues();
    if (values.length === 0) return undefined;
    return surest(this.#candidates.lines, (importer) => importer.recognise(values, this.#source));
  }

  #chosenImporter(): LineImporter {
    const [value] = this.#headValues();
    if (value === undefined) throw new CoxswainError('format-invalid', `no line is valid JSON: ${ONE_A_LINE}`);
    const content = `a text of lines of which one is ${describeJson(value)}`;
    return accepted(this.#bestImporter(), { candidates: this.#candidates, content });
  }

  #headValues(): readonly unknown[] {
    return this.#head.flatMap(({ json }) => (json?.ok === true ? [json.value] : []));
  }
}

/** Number of bytes per read. */
const CHUNK_BYTES = 256 * 1024;
/**
 * Number of bytes that are compared with the file before reading continues. They detect a file that was rewritten with a
 * greater length.
 */
const TAIL_BYTES = 64;

/** Why a file is read again from its beginning. */
type RestartReason = 'truncated' | 'replaced' | 'rewritten';

/** Result of one poll of a growing file. */
type GrowingRead =
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  /** There are no new bytes. */
  | { readonly type: 'end' }
  /** The file does not exist. */
  | { readonly type: 'missing' }
  /** The file was replaced or changed. Reading restarts at its beginning. */
  | { readonly type: 'restarted'; readonly reason: RestartReason };

/**
 * Reads a file while other programs write to it. If the file is renamed, it is read to its end. Reading then continues with
 * the new file that has the original name.
 *
 * Memory: one chunk of 256 KiB.
 */
class GrowingFile {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #offset = 0;
  #tail: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Checks the file once for new bytes.
   *
   * @throws CoxswainError `input-io` if it is not a regular file or cannot be read
   */
  async read(): Promise<GrowingRead> {
    try {
      return await this.#readGrowth();
    } catch (error) {
      throw ioError(error);
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #readGrowth(): Promise<GrowingRead> {
    this.#handle ??= await openIfThere(this.#path);
    const handle = this.#handle;
    if (handle === undefined) return { type: 'missing' };
    const { size, ino, dev } = await handle.stat();
    if (size < this.#offset) return this.#restartFile('truncated');
    if (size > this.#offset) return await this.#readMore(handle);
    const statsByPath = await stat(this.#path).catch(() => undefined);
    if (statsByPath === undefined || (statsByPath.ino === ino && statsByPath.dev === dev)) return { type: 'end' };
    await this.close();
    return this.#restartFile('replaced');
  }

  async #readMore(handle: FileHandle): Promise<GrowingRead> {
    const tail = this.#tail;
    const buffer = Buffer.allocUnsafe(tail.length + CHUNK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#offset - tail.length);
    if (!buffer.subarray(0, Math.min(tail.length, bytesRead)).equals(tail)) return this.#restartFile('rewritten');
    const readBytes = buffer.subarray(0, bytesRead);
    this.#offset += bytesRead - tail.length;
    this.#tail = Buffer.from(readBytes.subarray(-TAIL_BYTES));
    return { type: 'bytes', bytes: readBytes.subarray(tail.length) };
  }

  #restartFile(reason: RestartReason): GrowingRead {
    this.#offset = 0;
    this.#tail = Buffer.alloc(0);
    return { type: 'restarted', reason };
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  const pathStats = await stat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  // Checked before opening, because opening a pipe would wait for its writer.
  if (pathStats === undefined) return undefined;
  if (!pathStats.isFile())
    throw new CoxswainError('input-io', pathStats.isDirectory() ? 'is a folder' : 'is not a regular file');
  return open(path, 'r');
}

/** State of `followSource`. It is reported separately from the items. */
export type FollowState =
  /** The file does not exist. `followSource` waits for it. */
  | { readonly type: 'missing' }
  /** The complete file has been read. Reported once at the beginning, then after each read. */
  | { readonly type: 'caught_up'; readonly waitingLines: number }
  /** The file was replaced or changed. Its runs are new runs. */
  | { readonly type: 'restarted'; readonly reason: RestartReason };

interface FollowOptions {
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
