import { inWords } from '../../records/words.ts';
import { countOf, countText } from '../../base/number-text.ts';
import { shareText } from '../terminal/number-text.ts';
import type { Paint } from '../terminal/paint.ts';
import { printableCut } from '../terminal/printable.ts';
import type { RunTally, RunTotals } from './run-totals.ts';

const NAME_CHARS = 60;

/** The totals of an invocation as two small tables: by outcome, and by kind of pattern. */
export function totalsText(totals: RunTotals, paint: Paint): string {
  const { all, calls, errors, outcomes, patterns } = totals;
  const counts = [countOf(all.runs, 'run'), countOf(calls, 'call'), countOf(errors, 'error')];
  const lines = [
    paint('bold', counts.join(', ')),
    `stuck: ${countText(all.stuck)} (${shareText(all.stuck, all.runs)})`,
  ];
  if (all.judged > 0) {
    lines.push(
      `succeeded: ${countText(all.succeeded)} of ${countText(all.judged)} (${shareText(all.succeeded, all.judged)})`,
    );
  }
  const section = (words: 'outcome' | 'pattern', tallies: Tallies, lastColumn: readonly [string, LastCell]): void => {
    const [head, last] = lastColumn;
    lines.push('', ...table([words, 'runs', 'share', head], rowsOf(words, tallies, { runs: all.runs, last }), paint));
  };
  section('outcome', outcomes, ['stuck', stuckShare]);
  if (patterns.length === 0) return `${lines.join('\n')}\n\nno pattern\n`;
  section('pattern', patterns, ['succeeded', successShare]);
  return `${lines.join('\n')}\n`;
}

type Row = readonly [string, string, string, string];
type Tallies = readonly (readonly [string, RunTally])[];
type LastCell = (tally: RunTally) => string;

function rowsOf(
  words: 'outcome' | 'pattern',
  tallies: Tallies,
  { last, runs }: { readonly runs: number; readonly last: LastCell },
): readonly Row[] {
  return tallies.map(([name, tally]) => [
    printableCut(inWords(words, name), NAME_CHARS),
    countText(tally.runs),
    shareText(tally.runs, runs),
    last(tally),
  ]);
}

function stuckShare({ stuck, runs }: RunTally): string {
  return shareText(stuck, runs);
}

function successShare({ succeeded, judged }: RunTally): string {
  return judged === 0 ? '–' : shareText(succeeded, judged);
}

function table(head: Row, rows: readonly Row[], paint: Paint): readonly string[] {
  const widthOf = (column: 0 | 1 | 2 | 3): number => Math.max(...[head, ...rows].map((row) => row[column].length));
  const widths = [widthOf(0), widthOf(1), widthOf(2), widthOf(3)] as const;
  const line = ([name, runs, share, last]: Row): string =>
    `  ${name.padEnd(widths[0])}  ${runs.padStart(widths[1])}  ${share.padStart(widths[2])}  ${last.padStart(widths[3])}`;
  return [paint('dim', line(head)), ...rows.map(line)];
}
