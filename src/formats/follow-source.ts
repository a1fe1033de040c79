import type { Stats } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoxswainError, invalidArgument, hasCode } from '../core/base/error.ts';
import type { FormatName, ImportItem, ImportSource, LineImporter } from './importer.ts';
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
import { packingOf, ioError } from './reading/open-bytes.ts';
import { LinesRun } from './reading/import-lines.ts';
import { LineReader } from './reading/line-reader.ts';
import { decodeLine, HEAD_LINES, type DecodedLine } from './reading/text-head.ts';
import { open, stat, type FileHandle } from 'node:fs/promises';

const LINE_BYTES = 64 * 1024 * 1024;
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const ONE_A_LINE = 'only files with one JSON value per line can be followed; analyze reads all others';

/** The importer is chosen when one recognises the lines, at the latest after 32. Memory: a line of at most 64 MiB. */
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
   * Iterate to the end.
   *
   * @throws CoxswainError `format-unknown` for compressed or binary content, and after 32 unrecognised lines;
   * `format-invalid` after 32 lines without JSON
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

  /** Yields buffered items that can be complete, and those of waiting lines if an importer recognises them. */
  *pause(): Generator<ImportItem> {
    if (this.#run !== undefined) yield* this.#noteItems(this.#run.pause());
    if (this.#run !== undefined || this.#head.length === 0) return;
    const bestImporter = this.#bestImporter();
    const isSure =
      bestImporter !== undefined && (bestImporter.confidence >= SURE_ENOUGH || this.#candidates.forced !== undefined);
    if (isSure) yield* this.#openRun(bestImporter.importer);
  }

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

const CHUNK_BYTES = 256 * 1024;
/** Compared before reading continues: they detect a file that was rewritten with a greater length. */
const TAIL_BYTES = 64;

type RestartReason = 'truncated' | 'replaced' | 'rewritten';

type GrowingRead =
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  | { readonly type: 'end' }
  | { readonly type: 'missing' }
  | { readonly type: 'restarted'; readonly reason: RestartReason };

/** A renamed file is read to its end; reading continues with the new file of the original name. Memory: 256 KiB. */
class GrowingFile {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #opened: Pick<Stats, 'dev' | 'ino'> | undefined;
  #offset = 0;
  #tail: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws CoxswainError `input-io` if the path is not a regular file or cannot be read */
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
    if (this.#handle === undefined) {
      this.#handle = await openIfThere(this.#path);
      this.#opened = await this.#handle?.stat();
    }
    const handle = this.#handle;
    if (handle === undefined) return { type: 'missing' };
    const found = await stat(this.#path).catch(() => undefined);
    const isSame = found?.ino === this.#opened?.ino && found?.dev === this.#opened?.dev;
    const { size } = isSame && found !== undefined ? found : await handle.stat();
    if (size < this.#offset) return this.#restartFile('truncated');
    if (size > this.#offset) return await this.#readMore(handle);
    if (found === undefined || isSame) return { type: 'end' };
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

export type FollowState =
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
  /** Waits until the file may have changed, instead of the interval. */
  readonly changed?: () => Promise<unknown>;
  /** Stops following when aborted. No error is thrown. */
  readonly signal?: AbortSignal;
  /** If true, waits for a file that does not exist yet; default true. */
  readonly wait?: boolean;
  readonly onState?: (state: FollowState) => void | Promise<void>;
}

/**
 * Reads a JSON Lines file as it grows. If it was truncated, rewritten or replaced, its runs end and it is read again
 * from its beginning; the new runs have the same keys. An answer of Claude Code, split over several lines, is emitted
 * at the next one, or at rest as soon as its calls have results.
 *
 * @throws CoxswainError as `importSource`; `invalid-argument` for a format without lines. Cost: one `stat` call per
 * poll
 */
export async function* followSource(path: string, options: FollowOptions = {}): AsyncGenerator<ImportItem> {
  const { intervalMs = 250, wait = true, signal, onState } = options;
  const { changed = () => pause(intervalMs, signal) } = options;
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
      await changed();
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
