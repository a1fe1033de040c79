import { present } from '../../base/present.ts';
import type { ImportItem } from '../import-item.ts';

/** Kinds counted by name; what comes after them is counted together. */
const MAX_KINDS = 24;
const MAX_KIND_CHARS = 60;
/** Line numbers named in a message. */
const MAX_LINES_NAMED = 5;

/** Where the counted things belong and what the sentence about them begins with. */
interface SkipReport {
  readonly severity: 'error' | 'note';
  /** Such as `left out`. */
  readonly verb: string;
  readonly runKey?: string;
}

/** Counts by kind what an importer leaves out, for one diagnostic instead of one for each element. */
export class SkipCounts {
  readonly #counts = new Map<string, number>();
  readonly #lines: number[] = [];

  /** Counts one thing of that kind; the first few line numbers are named. */
  add(kind: string, line?: number): void {
    const short = oneLine(kind);
    const key = this.#counts.has(short) || this.#counts.size < MAX_KINDS ? short : 'of other kinds';
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (line !== undefined && this.#lines.length < MAX_LINES_NAMED) this.#lines.push(line);
  }

  /** One diagnostic such as `left out: 3 progress, 1 summary`, or none when nothing was counted. */
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
