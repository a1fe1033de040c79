import { diagnosticItem, type ImportItem } from '../importer.ts';

/** A repeated name gets the suffix `#2`, `#3` … Cost: O(1) amortised; keeps one string per name. */
export class UniqueNames {
  readonly #usedNames = new Set<string>();
  readonly #lastSuffix = new Map<string, number>();

  take(wantedName: string): string {
    if (this.#isNew(wantedName)) return wantedName;
    let suffix = this.#lastSuffix.get(wantedName) ?? 1;
    let name: string;
    do {
      suffix += 1;
      name = `${wantedName}#${suffix}`;
    } while (!this.#isNew(name));
    this.#lastSuffix.set(wantedName, suffix);
    return name;
  }

  has(name: string): boolean {
    return this.#usedNames.has(name);
  }

  /** Takes the name if it is free. The change of the set's size shows whether it was free, which saves a look-up. */
  #isNew(name: string): boolean {
    const sizeBefore = this.#usedNames.size;
    return this.#usedNames.add(name).size > sizeBefore;
  }
}

const MAX_KINDS = 24;
const MAX_KIND_CHARS = 60;
const MAX_LINES_NAMED = 5;

/** Counts skipped elements by kind, to report them in one diagnostic instead of one per element. */
export class SkipCounts {
  readonly #counts = new Map<string, number>();
  readonly #lines: number[] = [];

  /** Counts an element; the first few line numbers are listed. */
  add(kind: string, line?: number): void {
    const shortKind = kind.slice(0, MAX_KIND_CHARS).replaceAll(/[^\x20-\x7e]/g, '?');
    const key = this.#counts.has(shortKind) || this.#counts.size < MAX_KINDS ? shortKind : 'of other kinds';
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (line !== undefined && this.#lines.length < MAX_LINES_NAMED) this.#lines.push(line);
  }

  /** One diagnostic such as `not usable: 3 ticks` (error) or `left out: 1 summary` (note); none if nothing was counted. */
  report(severity: 'error' | 'note', runKey?: string): readonly ImportItem[] {
    if (this.#counts.size === 0) return [];
    const countsText = [...this.#counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
    const linesText = this.#lines.length > 1 ? ` (lines ${this.#lines.join(', ')} …)` : '';
    const verdict = severity === 'error' ? 'not usable' : 'left out';
    return [diagnosticItem(severity, `${verdict}: ${countsText}${linesText}`, { line: this.#lines[0], runKey })];
  }
}
