import { allRuns } from '../../../core/store/run-page.ts';
import { spillFolderOf } from '../../../hosts/claude-code/spilled-events.ts';
import type { StoreProblem } from '../../../core/store/trajectory-store.ts';
import { countOf } from '../../../core/base/number-text.ts';
import { lostAtEnd, spillNote } from '../../runs/problems.ts';
import { openReadableStore, shownStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine, printable, printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export async function verifyCommand(
  path: string | undefined,
  options: { readonly json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const file = storeNamed(path, terminal);
  const store = await openReadableStore(file);
  try {
    let problems = 0;
    for await (const problem of store.verify()) {
      problems += 1;
      if (options.json === true) await terminal.write(jsonLine(problem));
      else terminal.complain(`coxswain: ${storeProblemText(problem)}`);
    }
    const { unusable, waiting } = spillNote(file);
    if (unusable !== undefined) {
      problems += 1;
      if (options.json === true) await terminal.write(jsonLine({ place: spillFolderOf(file), problem: unusable }));
      else terminal.complain(`coxswain: ${printable(unusable)}`);
    }
    if (waiting !== undefined) terminal.complain(`coxswain: ${printable(waiting)}`);
    let runs = 0;
    let records = 0;
    const lost = { runs: 0, records: 0 };
    const lostAtEnds = lostAtEnd();
    for await (const run of allRuns(store)) {
      runs += 1;
      records += run.records;
      const lostRecords = (run.lostRecords ?? 0) + (lostAtEnds.get(run.runId) ?? 0);
      lost.records += lostRecords;
      if (lostRecords > 0) lost.runs += 1;
    }
    const found = problems === 0 ? 'nothing is wrong' : countOf(problems, 'problem');
    const hole = lost.records === 0 ? '' : `; ${countOf(lost.records, 'record')} lost in ${countOf(lost.runs, 'run')}`;
    await terminal.write(
      options.json === true
        ? jsonLine({ runs, records, problems, lostRecords: lost.records })
        : `${shownStore(file)}: ${countOf(runs, 'run')}, ${countOf(records, 'record')} checked: ${found}${hole}\n`,
    );
    if (problems > 0 && options.json !== true) {
      terminal.complain(`coxswain: to save what can be read: coxswain recover ${shownStore(file)} --to NEWPATH`);
    }
    return problems === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

export function storeProblemText({ runId, seq, place, problem }: StoreProblem): string {
  const location = [
    ...(runId === undefined ? [] : [`run ${printableCut(runId, 80)}`]),
    ...(seq === undefined ? [] : [`seq ${seq}`]),
  ];
  return `${[printable(place), ...(location.length === 0 ? [] : [location.join(', ')])].join(': ')}: ${printableCut(problem, 300)}`;
}
