import { CoxswainError } from '../../core/base/error.ts';
import type { ImportItem } from '../import-item.ts';
import type { ImportSource, LineImporter } from '../importer.ts';
import { accepted, describeJson, SURE_ENOUGH, surest, type Candidates, type Recognition } from './choose-importer.ts';
import { packingOf } from './decompress.ts';
import { LinesRun } from './import-lines.ts';
import { LineReader } from './line-reader.ts';
import { decodeLine, HEAD_LINES, type DecodedLine } from './text-head.ts';

const LINE_BYTES = 64 * 1024 * 1024;
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const ONE_A_LINE = 'only files with one JSON value per line can be followed; analyze reads all others';

/**
 * Reads JSON Lines text that arrives in parts. A line is read when its line break has arrived. The importer is chosen as soon
 * as one recognises the lines, at the latest after 32 lines.
 *
 * Memory: the current line, at most 64 MiB; up to 32 lines before the importer is chosen; the importer's state.
 */
export class FollowedText {
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
