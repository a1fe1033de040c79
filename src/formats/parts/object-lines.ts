import { type JsonMembers, isJsonObject, membersOf } from '../../core/base/json.ts';
import type { ImportItem, LineImport } from '../importer.ts';
import { SkipCounts } from './skip-counts.ts';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJson } from '../reading/json-text.ts';

/** Largest document of a folder that holds one per message or event. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Yields the JSON documents of a folder by name: some programs store one per message or event. None if there is no such folder. */
export function* documentsIn(folder: string): Generator<JsonMembers> {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return;
  }
  for (const name of names.toSorted()) {
    const decoded = decodeJson(textOf(join(folder, name)));
    if (decoded.ok) yield membersOf(decoded.value);
  }
}

function textOf(path: string): string {
  try {
    const facts = statSync(path);
    return facts.isFile() && facts.size <= MAX_BYTES ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Text stays, other values become JSON. `String` would throw for `"toString": null`. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

/** Confidence of a line importer: `all` if every line has its format, `some` if at least one line has, 0 if none has. */
export function confidence(
  lines: readonly unknown[],
  isOfForm: (line: JsonMembers) => boolean,
  { all, some }: { readonly all: number; readonly some: number },
): number {
  const count = lines.filter((line) => isOfForm(membersOf(line))).length;
  return count === 0 ? 0 : count === lines.length ? all : some;
}

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

  protected abstract finish(): Iterable<ImportItem>;
}
