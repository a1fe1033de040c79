/** The argument with which a plugin starts the hook to send it one event a line. Without it, the hook takes one event. */
export const LINES_ARGUMENT = 'lines';

/** The only member of a line of answers. Code of a configuration may print other lines. */
export const LINE_MARK = 'coxswain_answer';

const NEWLINE = 10;

/** Returns the lines of a stream, without their line feeds. A last line without one is cut off and left out. */
export async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let parts: Buffer[] = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
}
