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

/** Keeps the numbered runs for `coxswain NUMBER`. A folder that cannot be written is no fault of the report: numbers then open nothing. */
export function keepNumberedRuns(runs: readonly NumberedRun[]): void {
  const owner = { env: process.env };
  try {
    makeStateFolder(owner);
    replaceGuarded(stateFile('lastReport', owner), JSON.stringify({ runs }), { mode: 0o600 });
  } catch {
    return;
  }
}

/** Returns the runs of the last report, the first with number 1. */
function numberedRuns(): readonly NumberedRun[] {
  const bytes = readGuarded(stateFile('lastReport', { env: process.env }));
  const value = bytes === undefined ? undefined : jsonOf(bytes.toString('utf8'));
  const runs = isJsonObject(value) && Array.isArray(value['runs']) ? value['runs'] : [];
  return runs.flatMap((run): readonly NumberedRun[] => {
    if (!isJsonObject(run)) return [];
    const { id, isStore, path } = run;
    return typeof id === 'string' && typeof path === 'string' ? [{ id, path, isStore: isStore === true }] : [];
  });
}

/** Returns the run with this number, or the only one of the last report whose id starts with the text. */
export function numberedRun(text: string): NumberedRun | undefined {
  const runs = numberedRuns();
  if (/^\d{1,4}$/.test(text)) return runs[Number(text) - 1];
  const found = runs.filter(({ id }) => id.startsWith(text));
  return found.length === 1 ? found[0] : undefined;
}
