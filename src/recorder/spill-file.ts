import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseRecord } from '../records/decode-record.ts';
import { encodeRecord } from '../records/encode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/** Maximum bytes of text waiting to be written. Beyond this limit, records are refused. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;

/** Approximate size of a read or write. */
const CHUNK_BYTES = 1024 * 1024;

interface Chunk {
  bytes: number;
  records: number;
}

interface UnwrittenRecord {
  readonly record: TrajectoryRecord;
  readonly line: Buffer;
}

export interface SpillHealth {
  readonly path: string;
  /** Records in the file or waiting to be written to it. */
  readonly records: number;
  /** Size of the file. It is deleted once everything in it is stored. */
  readonly bytes: number;
}

/**
 * A first-in, first-out file of records. Each record is one line of JSON. The file has mode 0600 and is read and written
 * without blocking. Memory: 16 MiB at most, and a few bytes per megabyte in the file.
 */
export class SpillFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #onLost: (lost: readonly TrajectoryRecord[], error: unknown) => void;
  #handle: FileHandle | undefined;
  #unwritten: UnwrittenRecord[] = [];
  #unwrittenBytes = 0;
  readonly #chunks: Chunk[] = [];
  #writtenBytes = 0;
  #readBytes = 0;
  #records = 0;
  #writing: Promise<void> | undefined;

  /** @param onLost  called with accepted records that could not be written */
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

  /** Accepts a record unless a limit is reached. Never waits. */
  offer(record: TrajectoryRecord): boolean {
    if (this.#unwrittenBytes > MAX_UNWRITTEN_BYTES) return false;
    if (this.#writtenBytes + this.#unwrittenBytes > this.#maxBytes) return false;
    const line = encodeLine(record);
    if (line === undefined) return false;
    this.#unwritten.push({ record, line });
    this.#unwrittenBytes += line.length;
    this.#records += 1;
    this.#writing ??= this.#write();
    return true;
  }

  /** Removes and returns about a megabyte of the oldest records. `lost` is the number of unreadable records. */
  async read(): Promise<{ readonly records: readonly TrajectoryRecord[]; readonly lost: number }> {
    if (this.#chunks.length === 0) await this.#writing;
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return { records: [], lost: 0 };
    const position = this.#readBytes;
    this.#readBytes += chunk.bytes;
    this.#records -= chunk.records;
    try {
      const buffer = Buffer.alloc(chunk.bytes);
      const { bytesRead } = (await this.#handle?.read(buffer, 0, chunk.bytes, position)) ?? { bytesRead: 0 };
      const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(0, -1);
      const records = lines.map(parseRecord);
      return { records, lost: chunk.records - records.length };
    } catch {
      // The sink reports the missing records at the run's next record, and they become a gap.
      return { records: [], lost: chunk.records };
    }
  }

  /** Closes and deletes the file. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }

  /** Finishes writing and closes the file. The file is kept. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #write(): Promise<void> {
    // Groups the records of one turn of the event loop.
    await Promise.resolve();
    while (this.#unwritten.length > 0) {
      const { items, bytes } = this.#takeNextWrite();
      try {
        this.#handle ??= await openSpillFile(this.path);
        await this.#writeBytes(Buffer.concat(items.map((item) => item.line)));
        this.#addChunk({ bytes, records: items.length });
      } catch (error) {
        // The later records are lost too, so that the order is kept.
        const lost = [...items, ...this.#unwritten].map((item) => item.record);
        this.#unwritten = [];
        this.#unwrittenBytes = 0;
        this.#records -= lost.length;
        this.#onLost(lost, error);
      }
    }
    this.#writing = undefined;
  }

  #takeNextWrite(): { readonly items: readonly UnwrittenRecord[]; readonly bytes: number } {
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

  /** Writes at the end of the last successful write, and overwrites what a failed write left. */
  async #writeBytes(text: Buffer): Promise<void> {
    let offset = 0;
    while (offset < text.length) {
      const result = await this.#handle?.write(text, offset, text.length - offset, this.#writtenBytes + offset);
      const bytesWritten = result?.bytesWritten ?? 0;
      if (bytesWritten === 0) throw new Error(`only ${offset} of ${text.length} bytes could be written`);
      offset += bytesWritten;
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

/** Returns undefined for a record that cannot be encoded. No store would accept such a record. */
function encodeLine(record: TrajectoryRecord): Buffer | undefined {
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
