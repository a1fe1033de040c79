import { CoxswainError, invalidArgument } from '../../core/base/error.ts';
import { jsonOf, isJsonObject } from '../../core/base/json.ts';
import { printableCut } from '../../core/base/printable.ts';
import { countOf } from '../../core/base/number-text.ts';
import { sessionIdOf } from '../../formats/find-sessions.ts';
import { type MachineReader, openMachineStores } from './machine-stores.ts';
import { configuredStore, machineSessions, shownStore, storeFlag } from './open-store.ts';
import { allRuns } from '../../core/store/run-page.ts';
import type { StoreReader } from '../../core/store/trajectory-store.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shellWord } from '../terminal/time-text.ts';
import { replaceGuarded, readGuarded } from '../../core/node/guarded-file.ts';
import { makeStateFolder, namesIn, stateFile } from '../../core/node/state-places.ts';
import { subagentFolder } from '../../formats/claude-code/claude-code-entry.ts';
import { basename, join } from 'node:path';

/** Number of runs that a message about several matches names. */
const MAX_CANDIDATES = 5;

export interface NumberedRun {
  readonly id: string;
  readonly path: string;
  readonly isStore: boolean;
  /** Other files that have its subagents. */
  readonly below?: readonly string[];
}

const OWNER = { env: process.env };
const MAX_TOLD = 200;

const MAX_NUMBERED = 9_999;

/** Returns the numbers of the last report, by run. Empty once they have four digits. */
export function keptNumbers(): ReadonlyMap<string, number> {
  const runs = runsIn('lastReport');
  return new Map(runs.length < MAX_NUMBERED ? runs.map(({ id }, index) => [id, index + 1]) : []);
}

/** @param before  the numbers that other runs keep */
export function keepNumberedRuns(
  runs: ReadonlyMap<number, NumberedRun>,
  before: ReadonlyMap<string, number> = new Map(),
): void {
  const kept = before.size === 0 ? [] : [...runsIn('lastReport')];
  for (const [number, run] of runs) kept[number - 1] = run;
  keepRuns('lastReport', kept);
}

export function lookAtRun(run: NumberedRun): string {
  const others = runsIn('toldRuns').filter(({ id }) => id !== run.id);
  keepRuns('toldRuns', [...others, run].slice(-MAX_TOLD));
  return `coxswain show ${idStartOf(run.id)}`;
}

/** A folder that cannot be written is no fault of the report: numbers then open nothing. */
function keepRuns(file: 'lastReport' | 'toldRuns', runs: readonly NumberedRun[]): void {
  try {
    makeStateFolder(OWNER);
    replaceGuarded(stateFile(file, OWNER), JSON.stringify({ runs }));
  } catch {
    return;
  }
}

function runsIn(file: 'lastReport' | 'toldRuns'): readonly NumberedRun[] {
  const bytes = readGuarded(stateFile(file, OWNER));
  const value = bytes === undefined ? undefined : jsonOf(bytes.toString('utf8'));
  const runs = isJsonObject(value) && Array.isArray(value['runs']) ? value['runs'] : [];
  return runs.flatMap((run): readonly NumberedRun[] => {
    if (!isJsonObject(run)) return [];
    const { below, id, isStore, path } = run;
    if (typeof id !== 'string' || typeof path !== 'string') return [];
    const files = Array.isArray(below) ? below.filter((other) => typeof other === 'string') : [];
    return [{ id, path, isStore: isStore === true, ...(files.length === 0 ? {} : { below: files }) }];
  });
}

const MIN_ID_CHARS = 4;

/** The session of an agent program by the id of its file, or its start. Throws CoxswainError `invalid-argument` for several. */
export async function sessionNamed(idStart: string): Promise<NumberedRun | undefined> {
  if (idStart.length < MIN_ID_CHARS) return undefined;
  const sessions = machineSessions().flatMap((host) => host.sessions);
  const runs = sessions.map(({ path }): NumberedRun => ({ id: sessionIdOf(path), path, isStore: false }));
  const ofSessions = runs.filter(({ id }) => id.startsWith(idStart));
  const found = ofSessions.length > 0 ? ofSessions : bestNamed(runs.flatMap(subagentsOf), ({ id }) => id, idStart);
  if (found.length <= 1) return found[0];
  const ids = found.slice(0, MAX_CANDIDATES).map(({ id }) => printableCut(id, 80));
  throw invalidArgument(
    `${printableCut(idStart, 100)} matches ${countOf(found.length, 'session')}: ${ids.join(', ')}${found.length > ids.length ? ', …' : ''}; give more of the id`,
  );
}

/** The subagents of a session of Claude Code that have a file of their own. */
function subagentsOf({ id, path }: NumberedRun): readonly NumberedRun[] {
  if (!path.endsWith('.jsonl')) return [];
  const folder = subagentFolder(path);
  const files = namesIn(folder).filter((name) => name.endsWith('.jsonl'));
  return files.map((name) => ({ id: `${id}/${basename(name, '.jsonl')}`, path: join(folder, name), isStore: false }));
}

/** Random ids only: those of Codex begin with the time, so that sessions of one minute begin alike. */
const UUID = /^([0-9a-f]{8})-[0-9a-f]{4}-4[^/]*/;
const AGENT_REST = /(?<=\/[0-9a-f]{8})[0-9a-f]{8,}$/;

/** Enough of the id to name the run: `52af27c1`, for a subagent `52af27c1/a19d63f0`. */
export function idStartOf(id: string): string {
  return withoutPrefix(id).replace(UUID, '$1').replace(AGENT_REST, '');
}

/** The id that a hook gives a subagent; the name of its file begins with "agent-". */
function withoutPrefix(id: string): string {
  return id.replace(/(?<=^|\/)agent-(?=[^/]+$)/, '');
}

/** Returns 0 if the text begins each part of the id, 1 if it begins the id, 2 if it begins the last part, as of a subagent. */
function nameRank(id: string, text: string): number | undefined {
  const parts = withoutPrefix(id).split('/');
  const starts = withoutPrefix(text).split('/');
  if (parts.length === starts.length && starts.every((start, at) => parts[at]?.startsWith(start))) return 0;
  if (id.startsWith(text)) return 1;
  const [last = ''] = parts.slice(1).slice(-1);
  return text.length >= MIN_ID_CHARS && last.startsWith(withoutPrefix(text)) ? 2 : undefined;
}

function bestNamed<Run>(runs: readonly Run[], idOf: (run: Run) => string, text: string): readonly Run[] {
  const byRank = Map.groupBy(runs, (run) => nameRank(idOf(run), text));
  return byRank.get(0) ?? byRank.get(1) ?? byRank.get(2) ?? [];
}

/** The command that opens a run in the browser, at a call from 1. `isSession`: `sessionNamed` finds the file by the id. */
export function viewCommandOf(
  { id, path }: Pick<NumberedRun, 'id' | 'path'>,
  { call, isSession }: { readonly call?: number | undefined; readonly isSession: boolean },
): string {
  const callOption = call === undefined ? '' : ` --call ${call}`;
  const start = idStartOf(id);
  if (isSession && /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id) && sessionIdOf(path) === id)
    return `coxswain view ${start}${callOption}`;
  return `coxswain view ${shellWord(path)} --run ${shellWord(id)}${callOption}`;
}

function numbersText(): string {
  const count = runsIn('lastReport').length;
  if (count === 0) return 'run coxswain first';
  return count === 1 ? 'it has the number 1 only' : `it has the numbers 1 to ${count}`;
}

export function numberedRun(text: string): NumberedRun | undefined {
  const runs = runsIn('lastReport');
  if (/^\d{1,4}$/.test(text)) return runs[Number(text) - 1];
  const known = new Map([...runsIn('toldRuns'), ...runs].map((run) => [run.id, run]));
  const found = bestNamed([...known.values()], ({ id }) => id, text);
  return found.length === 1 ? found[0] : undefined;
}

/** @throws CoxswainError `input-io` if no run matches; `invalid-argument` if several runs match */
export async function namedRun(
  store: Pick<StoreReader, 'listRuns' | 'findRun'>,
  idStart: string,
  address: string,
): Promise<RunSummary> {
  const exact = await store.findRun(idStart);
  if (exact !== undefined) return exact;
  const named: RunSummary[] = [];
  for await (const one of allRuns(store)) if (nameRank(one.runId, idStart) !== undefined) named.push(one);
  const foundRuns = bestNamed(named, ({ runId }) => runId, idStart);
  const [run] = foundRuns;
  const shownId = printableCut(idStart, 100);
  if (run === undefined) {
    const list = `coxswain runs${storeFlag(address)}`;
    throw new CoxswainError('input-io', `${shownStore(address)}: no run ${shownId}; list the runs with: ${list}`);
  }
  if (foundRuns.length === 1) return run;
  const names = foundRuns.slice(0, MAX_CANDIDATES).map(({ runId }) => printableCut(runId, 80));
  const more = foundRuns.length > MAX_CANDIDATES ? ', …' : '';
  throw invalidArgument(`${shownId} matches several runs: ${names.join(', ')}${more}; give more of the id`);
}

/**
 * Finds a run of this machine by its number in the last report, by its id, or by the beginning of its id: a recorded run
 * of any project, else a session file.
 *
 * @throws CoxswainError `invalid-argument` for an unknown number and if several match; `input-io` without such a run
 */
export async function runOfMachine(text: string, terminal: Terminal): Promise<NumberedRun> {
  const numbered = numberedRun(text);
  if (numbered !== undefined) return numbered;
  if (/^\d{1,4}$/.test(text)) throw invalidArgument(`no run ${text} in the last report: ${numbersText()}`);
  const found = (await recordedRun(text, terminal)) ?? (await sessionNamed(text));
  if (found !== undefined) return found;
  throw new CoxswainError(
    'input-io',
    `no session ${printableCut(text, 100)}: neither a recorded run nor a session file of this machine has an id that begins so; coxswain --all lists the ids`,
  );
}

async function recordedRun(idStart: string, terminal: Terminal): Promise<NumberedRun | undefined> {
  const { address } = configuredStore();
  let reader: MachineReader | undefined;
  try {
    reader = await openMachineStores({}, terminal);
    const { runId: id } = await namedRun(reader, idStart, address);
    return { id, path: (await reader.storeOf(id))?.address ?? address, isStore: true };
  } catch (error) {
    if (error instanceof CoxswainError && error.code === 'input-io') return undefined;
    throw error;
  } finally {
    await reader?.close();
  }
}
