import { Transform, type TransformCallback } from 'node:stream';

export interface TappedLines {
  /** Longest line that is read, in bytes. A longer line passes through unread. At most this many bytes are buffered. */
  readonly maxBytes: number;
  /** True if the bytes pass unchanged before they are read, so that the other side works meanwhile. Default: false. */
  readonly passesFirst?: true;
  /** Must not throw. Returns the line to pass on; the same object if unchanged; ignored with `passesFirst`. */
  line(line: Buffer): Buffer;
  /** @param ends  the first and last 1,000 bytes of the line */
  longLine(ends: string): void;
}

const NEWLINE = 10;
const END_BYTES = 1_000;

/** Passes content byte for byte, also a last line without its end. Cost: one search for line feeds; memory for a line. */
export class LineTap extends Transform {
  readonly #reader: TappedLines;
  #parts: Buffer[] = [];
  #size = 0;
  /** Beginning of a line over the limit. These bytes have already passed through. */
  #head: Buffer | undefined;
  #tail = Buffer.alloc(0);

  constructor(reader: TappedLines) {
    super();
    this.#reader = reader;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const out: Buffer[] = [];
    if (this.#reader.passesFirst === true) this.push(chunk);
    let start = 0;
    for (let index = chunk.indexOf(NEWLINE); index !== -1; index = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, index + 1), out);
      this.#endLine(out);
      start = index + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start), out);
    this.#pass(out);
    done();
  }

  override _flush(done: TransformCallback): void {
    const out: Buffer[] = [];
    this.#endLine(out);
    this.#pass(out);
    done();
  }

  #take(part: Buffer, out: Buffer[]): void {
    this.#size += part.length;
    this.#parts.push(part);
    if (this.#head === undefined && this.#size <= this.#reader.maxBytes) return;
    const parts = this.#parts.splice(0);
    out.push(...parts);
    const [first] = parts;
    this.#head ??= Buffer.from(first?.subarray(0, END_BYTES) ?? '');
    this.#tail = Buffer.concat([this.#tail, part.subarray(-END_BYTES)]).subarray(-END_BYTES);
  }

  #endLine(out: Buffer[]): void {
    if (this.#size === 0) return;
    if (this.#head !== undefined) this.#reader.longLine(`${this.#head.toString()}\n${this.#tail.toString()}`);
    else out.push(this.#reader.line(joined(this.#parts)));
    this.#parts = [];
    this.#size = 0;
    this.#head = undefined;
    this.#tail = Buffer.alloc(0);
  }

  #pass(out: readonly Buffer[]): void {
    if (out.length > 0 && this.#reader.passesFirst !== true) this.push(joined(out));
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}
