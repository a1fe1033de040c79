import type { Health } from '../../../core/run/coxswain.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { shownStore, storeFlag } from '../../runs/open-store.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { printable, printableCut } from '../../../core/base/printable.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { createRunFold } from '../../runs/run-fold.ts';
import { terminalText } from '../../document/write-document.ts';
import { runBlocks } from '../../runs/run-blocks.ts';

interface RecordedRun {
  readonly store: TrajectoryStore;
  readonly runId: string;
  /** Address of the store. */
  readonly file: string;
  /** The source of the run in its report. */
  readonly source: string;
}

/** Returns the text after the demo run: the report and the advice, read from the store, and the next steps. */
export async function demoClosing(run: RecordedRun, terminal: Terminal): Promise<string> {
  const { store, runId, file, source } = run;
  const { paint } = terminal;
  const fold = createRunFold(runId, { source });
  for await (const record of store.readRun(runId)) fold.fold(record);
  const report = fold.facts(systemClock.nowMs());
  const { advice, adviceLeftOut } = fold.view;
  const pieces = advice.length + adviceLeftOut;
  const deliveredCount = advice.filter(({ delivery }) => delivery === 'delivered').length;
  const byProvider = Map.groupBy(advice, ({ providerName }) => providerName);
  const providers = [...byProvider].map(([name, { length }]) => `${printableCut(name, 60)} ${countText(length)}`);
  const counts = [
    countOf(report.calls, 'call'),
    countOf(report.patterns.length, 'pattern'),
    pieces === 1 ? '1 piece of advice' : `${countText(pieces)} pieces of advice`,
  ];
  const flag = storeFlag(file);
  const nextLine = (purpose: string, command: string): string => `${purpose.padEnd(27)}${paint('bold', command)}\n`;
  return (
    `\n${terminalText({ blocks: runBlocks(report, false) }, terminal)}\n` +
    `${counts.join(', ')} (${providers.join(', ')}), ${countText(deliveredCount)} delivered.\n\n` +
    `The run is recorded in ${paint('bold', shownStore(file))}.\n` +
    nextLine('Look at it again:', `coxswain show ${printable(runId)}${flag}`) +
    nextLine('Analyse your own runs:', `coxswain analyze PATH…${flag}`) +
    nextLine('Watch running agents:', 'coxswain watch')
  );
}

/** Formats faults of coxswain in one line; undefined without faults. */
export function healthLine({ recorder, faults, lastFault }: Health): string | undefined {
  const dropped = recorder?.dropped ?? 0;
  const allFaults = faults + (recorder?.faults ?? 0);
  if (dropped === 0 && allFaults === 0) return undefined;
  const last = recorder?.lastFault ?? lastFault;
  const reason = last === undefined ? '' : `: ${printableCut(last, 300)}`;
  return `${countOf(allFaults, 'fault')} and ${countOf(dropped, 'lost record')} while the run was played${reason}`;
}
