import { jsonOf, isJsonObject } from '../../core/base/json.ts';
import { replaceGuarded, readGuarded } from '../../core/node/guarded-file.ts';
import { makeStateFolder, stateFile } from '../../core/node/state-places.ts';

/** A run that the last report numbered. */
export interface NumberedRun {
  readonly id: string;
  /** The store or transcript that contains it. */
  readonly path: string;
  readonly isStore: boolean;
}

const OWNER = { env: process.env };
const MAX_TOLD = 200;

/** Keeps the numbered runs for `coxswain NUMBER`. */
export function keepNumberedRuns(runs: readonly NumberedRun[]): void {
  keepRuns('lastReport', runs);
}

/** Returns the command that shows a run of `watch`, and keeps the run for it. */
export function lookAtRun(run: NumberedRun): string {
  const others = runsIn('toldRuns').filter(({ id }) => id !== run.id);
  keepRuns('toldRuns', [...others, run].slice(-MAX_TOLD));
  return `coxswain show ${/^[0-9a-f]{8}-/.test(run.id) ? run.id.slice(0, 8) : run.id}`;
}

/** A folder that cannot be written is no fault of the report: numbers then open nothing. */
function keepRuns(file: 'lastReport' | 'toldRuns', runs: readonly NumberedRun[]): void {
  try {
    makeStateFolder(OWNER);
    replaceGuarded(stateFile(file, OWNER), JSON.stringify({ runs }), { mode: 0o600 });
  } catch {
    return;
  }
}

/** Returns the runs in a file, those of the last report by their numbers from 1. */
function runsIn(file: 'lastReport' | 'toldRuns'): readonly NumberedRun[] {
  const bytes = readGuarded(stateFile(file, OWNER));
  const value = bytes === undefined ? undefined : jsonOf(bytes.toString('utf8'));
  const runs = isJsonObject(value) && Array.isArray(value['runs']) ? value['runs'] : [];
  return runs.flatMap((run): readonly NumberedRun[] => {
    if (!isJsonObject(run)) return [];
    const { id, isStore, path } = run;
    return typeof id === 'string' && typeof path === 'string' ? [{ id, path, isStore: isStore === true }] : [];
  });
}

/** Returns the run with this number, or the only one of the last report or of `watch` whose id starts with the text. */
export function numberedRun(text: string): NumberedRun | undefined {
  const runs = runsIn('lastReport');
  if (/^\d{1,4}$/.test(text)) return runs[Number(text) - 1];
  const found = new Map(
    [...runsIn('toldRuns'), ...runs].filter(({ id }) => id.startsWith(text)).map((run) => [run.id, run]),
  );
  return found.size === 1 ? found.values().next().value : undefined;
}
