const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface TextLine {
  readonly number: number;
  /** Undefined if the line exceeded the limit. */
  readonly bytes: Buffer | undefined;
  /** False for a last line that has no line break. */
  readonly terminated: boolean;
}

/** `\n` or `\r\n`; blank lines are counted only. Memory: `limitBytes`; a longer line is yielded without bytes. */
export class LineReader {
  readonly #limitBytes: number;
  #number = 1;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isOver = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Yields the lines that this chunk completes. Iterate to the end before the next call. */
  *push(chunk: Buffer): Generator<TextLine> {
    let from = this.#skipBlankLines(chunk, 0);
    for (let end = chunk.indexOf(NEWLINE, from); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#collectPart(chunk.subarray(from, end));
      const line = this.#takeLine(true);
      from = this.#skipBlankLines(chunk, end + 1);
      if (line !== undefined) yield line;
    }
    if (from < chunk.length) this.#collectPart(chunk.subarray(from));
  }

  end(): TextLine | undefined {
    return this.#takeLine(false);
  }

  /** Speed matters: a hundred kilobytes of compressed data can contain a hundred million blank lines. */
  #skipBlankLines(chunk: Buffer, start: number): number {
    if (this.#isOver || this.#partBytes > 0) return start;
    let from = start;
    for (let position = start; position < chunk.length; position += 1) {
      const byte = chunk[position];
      if (byte === NEWLINE) {
        this.#number += 1;
        from = position + 1;
      } else if (!isBlankByte(byte)) break;
    }
    return from;
  }

  #collectPart(part: Buffer): void {
    if (this.#isOver) return;
    if (this.#partBytes + part.length > this.#limitBytes) {
      this.#isOver = true;
      this.#parts = [];
      return;
    }
    this.#parts.push(part);
    this.#partBytes += part.length;
  }

  #takeLine(isTerminated: boolean): TextLine | undefined {
    const { length } = this.#parts;
    const whole = length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const isOver = this.#isOver;
    const number = this.#number;
    this.#number += 1;
    this.#parts = [];
    this.#partBytes = 0;
    this.#isOver = false;
    if (isOver) return { number, bytes: undefined, terminated: isTerminated };
    const bytes = whole?.at(-1) === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole;
    return bytes === undefined || bytes.every(isBlankByte) ? undefined : { number, bytes, terminated: isTerminated };
  }
}

function isBlankByte(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === CARRIAGE_RETURN;
}
