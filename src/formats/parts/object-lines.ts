import { type JsonMembers, isJsonObject } from '../../core/base/json.ts';
import type { ImportItem } from '../import-item.ts';
import type { LineImport } from '../importer.ts';
import { SkipCounts } from './skip-counts.ts';

/** Reads a source whose lines are objects. Lost and skipped lines are counted and reported at the end. */
export abstract class ObjectLines implements LineImport {
  protected readonly lost: SkipCounts = new SkipCounts();
  protected readonly skipped: SkipCounts = new SkipCounts();

  *line(value: unknown, lineNumber: number): Generator<ImportItem> {
    if (isJsonObject(value)) yield* this.entry(value, lineNumber);
    else this.lost.add('lines that are not objects', lineNumber);
  }

  *end(): Generator<ImportItem> {
    yield* this.finish();
    yield* this.lost.report('error');
    yield* this.skipped.report('note');
  }

  protected abstract entry(entry: JsonMembers, lineNumber: number): Iterable<ImportItem>;

  /** Returns the items that are still buffered at the end of the source. */
  protected abstract finish(): Iterable<ImportItem>;
}
