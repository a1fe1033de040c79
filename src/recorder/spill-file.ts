import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseRecord } from '../records/decode-record.ts';
import { encodeRecord } from '../records/encode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/** Most text that waits to be written to the file; above it records are not taken. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;

/** About how much is written and read at once. */
const CHUNK_BYTES = 1024 * 1024;

interface Chunk {
  bytes: number;
  records: number;
}

interface Unwritten {
  readonly record: TrajectoryRecord;
  readonly line: Buffer;
}

/** What a spill file can tell. */
export interface SpillHealth {
  readonly path: string;
  /** Records that lie there or wait to be written there. */
  readonly records: number;
  /** Size of the file, which shrinks only when everything in it is stored. */
  readonly bytes: number;
}

/**
 * Records beside the store, first in, first out: one line of JSON each in a file of mode 0600, written and read
 * without blocking. Memory: 16 MiB at most, a few bytes for each megabyte in the file.
 */
export class SpillFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #onLost: (lost: readonly TrajectoryRecord[], error: unknown) => void;
  #handle: FileHandle | undefined;
  #unwritten: Unwritten[] = [];
  #unwrittenBytes = 0;
  readonly #chunks: Chunk[] = [];
  #writtenBytes = 0;
  #readBytes = 0;
  #records = 0;
  #writing: Promise<void> | undefined;

  /** @param onLost  told of records that were taken and could not be written */
  constructor(
    path: string,
    options: {
      readonly maxBytes: number;
      readonly onLost: (lost: readonly TrajectoryRecord[], error: unknown) => void;
    },
  ) {
    this.path = path;
    this.#maxBytes = options.maxBytes;
    this.#onLost = options.onLost;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0 && this.#unwritten.length === 0 && this.#writing === undefined;
  }

  health(): SpillHealth {
    return { path: this.path, records: this.#records, bytes: this.#writtenBytes };
  }

  /** Takes a record, unless the file or what waits for it is at its limit. Never waits. */
  offer(record: TrajectoryRecord): boolean {
    if (this.#unwrittenBytes > MAX_UNWRITTEN_BYTES) return false;
    if (this.#writtenBytes + this.#unwrittenBytes > this.#maxBytes) return false;
    const line = lineOf(record);
    if (line === undefined) return false;
    this.#unwritten.push({ record, line });
    this.#unwrittenBytes += line.length;
    this.#records += 1;
    this.#writing ??= this.#write();
    return true;
  }

  /** Takes out the oldest records, about a megabyte of them. `lost` counts those that could not be read. */
  async read(): Promise<{ readonly records: readonly TrajectoryRecord[]; readonly lost: number }> {
    if (this.#chunks.length === 0) await this.#writing;
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return { records: [], lost: 0 };
    const at = this.#readBytes;
    this.#readBytes += chunk.bytes;
    this.#records -= chunk.records;
    try {
      const text = Buffer.alloc(chunk.bytes);
      const { bytesRead } = (await this.#handle?.read(text, 0, chunk.bytes, at)) ?? { bytesRead: 0 };
      const lines = text.toString('utf8', 0, bytesRead).split('\n').slice(0, -1);
      const records = lines.map(parseRecord);
      return { records, lost: chunk.records - records.length };
    } catch {
      // The hole becomes a gap when the run's next record meets it.
      return { records: [], lost: chunk.records };
    }
  }

  /** Deletes the file, which is not used afterwards. */
  async remove(): Promise<void> {
    await this.leave();
    await rm(this.path, { force: true });
  }

  /** Waits for what is being written and lets go of the file, which stays. */
  async leave(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #write(): Promise<void> {
    // Later records of the same turn go along.
    await Promise.resolve();
    while (this.#unwritten.length > 0) {
      const { items, bytes } = this.#nextWrite();
      try {
        this.#handle ??= await openSpillFile(this.path);
        await this.#writeAt(Buffer.concat(items.map((item) => item.line)));
        this.#addChunk({ bytes, records: items.length });
      } catch (error) {
        // Whatever came meanwhile lies behind it and goes with it, so that order holds.
        const lost = [...items, ...this.#unwritten].map((item) => item.record);
        this.#unwritten = [];
        this.#unwrittenBytes = 0;
        this.#records -= lost.length;
        this.#onLost(lost, error);
      }
    }
    this.#writing = undefined;
  }

  #nextWrite(): { readonly items: readonly Unwritten[]; readonly bytes: number } {
    let count = 0;
    let bytes = 0;
    for (const { line } of this.#unwritten) {
      if (count > 0 && bytes + line.length > CHUNK_BYTES) break;
      bytes += line.length;
      count += 1;
    }
    const items = this.#unwritten.splice(0, count);
    this.#unwrittenBytes -= bytes;
    return { items, bytes };
  }

  /** Always at the place that a failed write before it left, so that no part of one stays in between. */
  async #writeAt(text: Buffer): Promise<void> {
    let done = 0;
    while (done < text.length) {
      const { bytesWritten } = (await this.#handle?.write(
        text,
        done,
        text.length - done,
        this.#writtenBytes + done,
      )) ?? {
        bytesWritten: 0,
      };
      if (bytesWritten === 0) throw new Error(`the disk took ${done} of ${text.length} bytes`);
      done += bytesWritten;
    }
  }

  #addChunk(chunk: Chunk): void {
    this.#writtenBytes += chunk.bytes;
    const last = this.#chunks.at(-1);
    if (last === undefined || last.bytes + chunk.bytes > CHUNK_BYTES) this.#chunks.push(chunk);
    else {
      last.bytes += chunk.bytes;
      last.records += chunk.records;
    }
  }
}

/** Undefined for a record that JSON cannot say, which no store would take either. */
function lineOf(record: TrajectoryRecord): Buffer | undefined {
  try {
    return Buffer.from(`${encodeRecord(record)}\n`);
  } catch {
    return undefined;
  }
}

async function openSpillFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, 'wx+', 0o600);
}
