import type { Health } from '../../../run/coxswain.ts';
import type { TrajectoryStore } from '../../../store/trajectory-store.ts';
import { countOf, countText } from '../../../base/number-text.ts';
import { shownStore, storeFlag } from '../../runs/open-store.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printable, printableCut } from '../../terminal/printable.ts';
import { ReportFold } from '../../runs/report-fold.ts';
import { runText } from '../../runs/run-text.ts';

/** A run that was just recorded. */
interface RecordedRun {
  readonly store: TrajectoryStore;
  readonly runId: string;
  /** Where the store lies. */
  readonly file: string;
  /** What the report names as the run's source. */
  readonly source: string;
}

/** What stands under a played run: its report, read back from the store, what was said, and what to do next. */
export async function demoClosing(run: RecordedRun, paint: Paint): Promise<string> {
  const { store, runId, file, source } = run;
  const fold = new ReportFold(runId, { source });
  for await (const record of store.readRun(runId)) fold.fold(record);
  const report = fold.report();
  const { advice, adviceLeftOut } = fold.view;
  const saidBy = new Map<string, number>();
  for (const { providerName } of advice) saidBy.set(providerName, (saidBy.get(providerName) ?? 0) + 1);
  const said = advice.length + adviceLeftOut;
  const delivered = advice.filter(({ arm }) => arm === 'delivered').length;
  const speakers = [...saidBy].map(([name, count]) => `${printableCut(name, 60)} ${countText(count)}`).join(', ');
  const counts = [
    countOf(report.calls, 'call'),
    countOf(report.patterns.length, 'pattern'),
    said === 1 ? '1 piece of advice' : `${countText(said)} pieces of advice`,
  ];
  const flag = storeFlag(file);
  const next = (what: string, command: string): string => `${what.padEnd(27)}${paint('bold', command)}\n`;
  return (
    `\n${runText(report, paint, { evidence: false })}` +
    `${counts.join(', ')} (${speakers}), ${countText(delivered)} delivered.\n\n` +
    `The run is recorded in ${paint('bold', shownStore(file))}.\n` +
    next('Look at it again:', `coxswain show ${printable(runId)}${flag}`) +
    next('Analyse your own runs:', `coxswain analyze PATH…${flag}`) +
    next('Watch all at work:', 'coxswain watch')
  );
}

/** What went wrong in coxswain itself, in one line; undefined when nothing did. */
export function healthLine({ recorder, faults, lastFault }: Health): string | undefined {
  const dropped = recorder?.dropped ?? 0;
  const all = faults + (recorder?.faults ?? 0);
  if (dropped === 0 && all === 0) return undefined;
  const last = recorder?.lastFault ?? lastFault;
  const reason = last === undefined ? '' : `: ${printableCut(last, 300)}`;
  return `${countOf(all, 'fault')} and ${countOf(dropped, 'lost record')} while the run was played${reason}`;
}
