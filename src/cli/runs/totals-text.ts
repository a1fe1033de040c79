import { countOf, countText } from '../../base/number-text.ts';
import { inWords } from '../../records/words.ts';
import { columnsText } from '../terminal/columns-text.ts';
import type { Paint } from '../terminal/paint.ts';
import { printableCut } from '../terminal/printable.ts';
import { intervalText } from './interval-text.ts';
import { refusedFacts } from './run-text.ts';
import type { RunTally, RunTotals } from './run-totals.ts';

const NAME_CHARS = 60;

/** Formats the totals of several runs as two tables: by outcome and by pattern kind. */
export function totalsText({ all, calls, errors, outcomes, patterns, refused }: RunTotals, paint: Paint): string {
  const facts = [countOf(all.runs, 'run'), countOf(calls, 'call'), countOf(errors, 'error'), ...refusedFacts(refused)];
  const counts = paint('bold', facts.join(', '));
  if (all.runs === 0) return `${counts}\n`;
  const lines = [
    counts,
    paint('dim', 'shares with their 95 % interval, if the runs are a sample'),
    `stuck: ${countText(all.stuck)}, ${intervalText(all.stuck, all.runs)}`,
    ...(all.judged === 0 ? [] : [`succeeded: ${countText(all.succeeded)}, ${successShare(all)}`]),
  ];
  const addTable = (
    words: 'outcome' | 'pattern',
    tallies: RunTotals['outcomes'],
    [lastHead, lastCell]: readonly [string, (tally: RunTally) => string],
  ): void => {
    const rows = tallies.map(([name, tally]) => [
      printableCut(inWords(words, name), NAME_CHARS),
      countText(tally.runs),
      intervalText(tally.runs, all.runs),
      lastCell(tally),
    ]);
    const [head = '', ...rest] = columnsText([[words, 'runs', 'share', lastHead], ...rows], []);
    lines.push('', paint('dim', `  ${head}`), ...rest.map((line) => `  ${line}`));
  };
  addTable('outcome', outcomes, ['stuck', ({ runs, stuck }) => intervalText(stuck, runs)]);
  if (patterns.length === 0) lines.push('', 'no pattern');
  else addTable('pattern', patterns, ['succeeded', successShare]);
  return `${lines.join('\n')}\n`;
}

function successShare({ succeeded, judged }: RunTally): string {
  return intervalText(succeeded, judged);
}
