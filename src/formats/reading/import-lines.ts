import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { countOf } from '../../core/base/number-text.ts';
import { diagnosticItem, type ImportItem, type LineImport } from '../importer.ts';
import type { TextLine } from './line-reader.ts';
import { decodeLine, nextChunk, type DecodedLine, type TextHead } from './text-head.ts';

/** An unusable line or damaged data becomes a diagnostic. Groups, because an `await` per item costs more. Memory: a chunk and a line. */
export async function* importLines(
  head: TextHead,
  chunks: AsyncIterator<Buffer>,
  lines: LineImport,
  isText = false,
): AsyncGenerator<Iterable<ImportItem>> {
  const { reader } = head;
  const run = new LinesRun(lines, isText);
  let { fault } = head;
  for (const line of head.lines) yield run.line(line);
  while (!head.isWhole && fault === undefined) {
    const chunk = await nextChunk(chunks);
    if (chunk === undefined) break;
    if (chunk instanceof CoxswainError) fault = chunk;
    else yield run.lines(reader.push(chunk));
  }
  const last = head.isWhole ? undefined : reader.end();
  if (last !== undefined) yield run.line(decodeLine(last));
  if (fault !== undefined) yield [diagnosticItem('error', `${fault.message}: the rest of the file is lost`)];
  yield run.end();
}

export class LinesRun {
  readonly #import: LineImport;
  readonly #isText: boolean;
  #saidInvalidUtf8 = false;
  #logLines = 0;

  /** @param isText  true for lines that are not JSON */
  constructor(lineImport: LineImport, isText = false) {
    this.#import = lineImport;
    this.#isText = isText;
  }

  *lines(lines: Iterable<TextLine>): Generator<ImportItem> {
    // `yield*` is not used, because every item would pass through each level of it, and the importer may have several levels.
    for (const line of lines) for (const item of this.line(decodeLine(line))) yield item;
  }

  *line(line: DecodedLine): Generator<ImportItem> {
    const { number } = line;
    const json = this.#isText && line.text !== undefined ? ({ ok: true, value: line.text } as const) : line.json;
    if (line.hasInvalidUtf8 && !this.#saidInvalidUtf8) {
      this.#saidInvalidUtf8 = true;
      yield diagnosticItem('note', 'bytes that are not UTF-8 were replaced, here first', { line: number });
    }
    if (line.isLogLine === true && !this.#isText) {
      this.#logLines += 1;
      return;
    }
    if (line.zeroBytes !== undefined) {
      const what = json?.ok === true ? 'are left out' : 'replace the line';
      yield diagnosticItem('error', `${countOf(line.zeroBytes, 'zero byte')} ${what}`, { line: number });
      if (json?.ok !== true) return;
    }
    if (json?.ok !== true) {
      yield diagnosticItem('error', lostBecause(line), { line: number });
      return;
    }
    try {
      for (const item of this.#import.line(json.value, number, line.text)) yield item;
    } catch (error) {
      yield thrownBy(error, number);
    }
  }

  *pause(): Generator<ImportItem> {
    try {
      yield* this.#import.pause?.() ?? [];
    } catch (error) {
      yield thrownBy(error, undefined);
    }
  }

  *end(): Generator<ImportItem> {
    if (this.#logLines > 0)
      yield diagnosticItem('note', `left out: ${countOf(this.#logLines, 'line')} of a log without JSON`);
    try {
      yield* this.#import.end();
    } catch (error) {
      yield thrownBy(error, undefined);
    }
  }
}

/** Creates a diagnostic for an exception of an importer. Importers must not throw. If one does, only that line is lost. */
function thrownBy(error: unknown, line: number | undefined): ImportItem {
  return diagnosticItem('error', `the importer failed: ${messageOf(error).slice(0, 200)}`, { line });
}

/** What is said of the last line of a file that is being written, or whose writer was killed. */
export const CUT_OFF_LINE = 'the file is cut off in this line';

function lostBecause({ json, terminated }: DecodedLine): string {
  if (json?.ok === true) return '';
  if (json === undefined) return 'the line is over the size limit and is skipped';
  if (json.cutOff && !terminated) return CUT_OFF_LINE;
  const column = json.position === undefined || json.cutOff ? '' : ` (from column ${json.position + 1})`;
  return `the line ${json.reason}${column} and is skipped`;
}
