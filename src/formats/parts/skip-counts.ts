import { present } from '../../base/present.ts';
import type { ImportItem } from '../import-item.ts';

/** Maximum number of kinds that are counted by name. Further kinds share one count. */
const MAX_KINDS = 24;
const MAX_KIND_CHARS = 60;
/** Maximum number of line numbers listed in a message. */
const MAX_LINES_NAMED = 5;

/** Options of a report. */
interface SkipReport {
  readonly severity: 'error' | 'note';
  /** Beginning of the sentence, such as `left out`. */
  readonly verb: string;
  readonly runKey?: string;
}

/** Counts skipped elements by kind, to report them in one diagnostic instead of one per element. */
export class SkipCounts {
  readonly #counts = new Map<string, number>();
  readonly #lines: number[] = [];

  /** Counts an element; the first few line numbers are listed. */
  add(kind: string, line?: number): void {
    const short = oneLine(kind);
    const key = this.#counts.has(short) || this.#counts.size < MAX_KINDS ? short : 'of other kinds';
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (line !== undefined && this.#lines.length < MAX_LINES_NAMED) this.#lines.push(line);
  }

  /** One diagnostic such as `left out: 3 progress, 1 summary`; none if nothing was counted. */
  report(options: SkipReport): readonly ImportItem[] {
    if (this.#counts.size === 0) return [];
    const counted = [...this.#counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
    const first = this.#lines[0];
    const where = this.#lines.length > 1 ? ` (lines ${this.#lines.join(', ')} …)` : '';
    return [
      {
        type: 'diagnostic',
        diagnostic: {
          severity: options.severity,
          message: `${options.verb}: ${counted}${where}`,
          ...present({ line: first, runKey: options.runKey }),
        },
      },
    ];
  }
}

function oneLine(text: string): string {
  return text.slice(0, MAX_KIND_CHARS).replaceAll(/[^\x20-\x7e]/g, '?');
}
