import type { SavedReport, ShareReport, StopEarlyReport, StopPolicyReport } from '../../../backtest/backtest-report.ts';
import { columnsText } from '../../terminal/columns-text.ts';
import { countText } from '../../../base/number-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printableCut } from '../../terminal/printable.ts';

/** The printed numbers of calls after the warning. `--json` contains all of them. */
const SHOWN_AFTER = new Set([0, 2, 5, 10]);
/** Maximum number of printed policies. */
const MAX_POLICIES = 8;
const HEAD = ['stop the run', 'runs stopped', 'calls saved', 'time', 'tokens', 'cost', 'successes lost'];

/** Formats the savings of stopping after a warning as a table. */
export function stopEarlyText({ policies }: StopEarlyReport, paint: Paint): string {
  const title = paint('bold', 'stopping after a warning');
  if (policies.length === 0) return `${title}: no run has a stuck warning\n`;
  const rows = policies.slice(0, MAX_POLICIES).flatMap(rowsOf);
  const [head = '', ...lines] = columnsText([HEAD, ...rows], [2, 3, 4, 5, 6]);
  const note =
    'The savings are exact: a recording shows a run up to the stop as it was. Starting the task again is not counted. Time, tokens and cost cover only the runs that record them.';
  return `${[title, paint('dim', head), ...lines, paint('dim', note)].join('\n')}\n`;
}

function rowsOf({ byAfter, kind, level }: StopPolicyReport): readonly (readonly string[])[] {
  const warning = level === 'strong' ? 'strong warning' : 'warning';
  const name = kind === null ? `first stuck ${warning}` : `first ${warning} of ${printableCut(kind, 48)}`;
  return byAfter
    .filter(({ after }) => SHOWN_AFTER.has(after))
    .map(({ after, calls, costUsd, lostSuccesses, ms, stoppedRuns, tokens }) => [
      after === 0 ? `at the ${name}` : `  ${after} calls later`,
      countText(stoppedRuns),
      shareText(calls),
      shareText(ms),
      shareText(tokens),
      shareText(costUsd),
      lostSuccesses.of === 0
        ? '–'
        : `${shareText(lostSuccesses)}, ${countText(lostSuccesses.hits)} of ${countText(lostSuccesses.of)}`,
    ]);
}

function shareText({ high, low, share }: SavedReport | ShareReport): string {
  if (share === null || low === null || high === null) return '–';
  return `${percentText(share)} % (${percentText(low)}–${percentText(high)})`;
}

function percentText(share: number): string {
  return (100 * share).toFixed(1);
}
