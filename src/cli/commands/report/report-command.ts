import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';

import { callNumber } from '../../../base/call-number.ts';
import { CoxswainError } from '../../../base/error.ts';
import { present } from '../../../base/present.ts';
import { RECORDS_FOLDER } from '../../../store/records-folder.ts';
import { parseDuration } from '../../../base/parse-duration.ts';
import { findSessions, hostFolder } from '../../../formats/find-sessions.ts';
import { sessionFolder } from '../../../formats/session-folder.ts';
import { findSources } from '../../../formats/find-sources.ts';
import { openSessions } from '../../../hosts/claude-code/open-sessions.ts';
import { countOf, durationText } from '../../../base/number-text.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';
import { jsonLine, printable } from '../../terminal/printable.ts';
import { storeKindAt } from '../../../store/registry/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import { runsOfMachine, standingBy } from './machine-runs.ts';
import { GROUPINGS, NightReport, type Grouping, type ReportFrame } from './night-report.ts';
import type { FoundRun, Moment } from './night-run.ts';
import { reportTarget } from './send-report.ts';
import { sendable, writeReport, type ReportForm } from './write-report.ts';
import { runsOfStore, runsOfTranscripts } from './report-source.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { projectStore } from '../../runs/project-store.ts';
import { spillNote } from '../../runs/spill-note.ts';
import { projectAt, StoredNames } from '../../runs/stored-names.ts';
import { allRuns } from '../../runs/stored-runs.ts';
import type { StoreReader } from '../../../store/trajectory-store.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain report`, as the command line gives them. */
export interface ReportOptions extends ReportForm {
  readonly since?: string;
  readonly by?: string;
}

/** Where agent programs keep their files. */
const places = { home: homedir(), env: process.env };

/** A night: how far back a report of a store goes where nothing is said. */
const DEFAULT_SINCE_MS = 12 * 3_600_000;

/**
 * `coxswain report`: what the agents did: runs and how they ended, what they took, patterns, advice and what came of it, faults,
 * and the moments most worth a look. Of a store, or of transcripts; default the store of this project and the sessions of every agent
 * program of this user.
 *
 * @returns the exit code: 1 when something could not be read
 * @throws CoxswainError `invalid-argument`, `input-io` where there is nothing to read, and as the store
 */
export async function reportCommand(
  paths: readonly string[],
  options: ReportOptions,
  terminal: Terminal,
): Promise<number> {
  checkOptions(options);
  const untilMs = Date.now();
  const [path] = paths;
  if (path === undefined) return machineReport(options, terminal, untilMs);
  const ofStore = paths.length === 1 && (await storeKindAt(path)) !== undefined;
  const sinceMs = sinceOf(options.since, untilMs, ofStore);
  const problems = new Problems(terminal);
  const frame: ReportFrame = { from: ofStore ? shownStore(path) : paths.join(', '), sinceMs, untilMs };
  const write = (report: NightReport): Promise<boolean> => writeReport(report, frame, { form: options, terminal });
  if (!ofStore) {
    const runs = runsOfTranscripts(findSources(paths), { problems, sinceMs });
    const isSent = await write(
      await addedUp(
        options.by === 'project' ? withProjects(runs) : runs,
        (moment, source) => viewing(source, moment),
        options,
        terminal,
      ),
    );
    return problems.any || !isSent ? 1 : 0;
  }
  const store = await openReadableStore(path);
  try {
    const commandOf = (moment: Moment): string => viewing(shownStore(path), moment);
    // A store in its project's folder was written on this machine, whose processes say which sessions are open.
    const isHere = basename(dirname(path)) === RECORDS_FOLDER;
    const open = isHere ? await openSessions(hostFolder('claude-code', places)) : undefined;
    const standing = open && standingBy(open);
    const runs = readable(
      runsOfStore(store, { sinceMs, place: resolve(path), ...present({ standing }) }),
      problems,
      shownStore(path),
    );
    const report = await addedUp(runs, commandOf, options, terminal);
    const isSent = await write(report);
    await sayWhatIsLeft({ path, store, isEmpty: report.count === 0, untilMs }, terminal);
    return problems.any || !isSent ? 1 : 0;
  } finally {
    await store.close();
  }
}

/** The report of this project's store and of every session file of this user that was written in the time. */
async function machineReport(options: ReportOptions, terminal: Terminal, untilMs: number): Promise<number> {
  const sinceMs = sinceOf(options.since, untilMs, true);
  const problems = new Problems(terminal);
  const { address: path, projectFolder } = projectStore();
  const hosts = await findSessions(places);
  const store = await openReadableStore(path).catch((error: unknown) => {
    const isMissing = error instanceof CoxswainError && error.code === 'input-io';
    if (hosts.every(({ sessions }) => sessions.length === 0)) {
      if (!isMissing) throw error;
      const titles = hosts.map(({ title }) => title).join(', ');
      const message =
        `nothing to report: no runs are recorded in ${shownStore(path)}, and no session files of ${titles} are there; ` +
        'try coxswain demo, or see coxswain --help';
      throw new CoxswainError('input-io', message, { cause: error });
    }
    problems.source(shownStore(path));
    if (!isMissing) problems.failure(error);
    return undefined;
  });
  try {
    const recent = hosts.map(({ sessions, title }) => ({
      title,
      sessions: sessions.filter(({ modifiedAtMs }) => modifiedAtMs >= sinceMs),
    }));
    const sessions = recent.flatMap((host) => host.sessions).toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs);
    const read = [
      ...(store === undefined ? [] : [shownStore(path)]),
      ...recent.flatMap((host) =>
        host.sessions.length === 0 ? [] : [`${countOf(host.sessions.length, 'session file')} of ${host.title}`],
      ),
    ];
    const from = read.length === 0 ? 'no session file of this time' : read.join(', ');
    const stored = new StoredNames();
    const open = await openSessions(hostFolder('claude-code', places));
    const storeName = shownStore(path);
    const sources = {
      store,
      place: path,
      storeName,
      project: projectFolder,
      sessions,
      stored,
      problems,
      sinceMs,
      open,
    };
    const commandOf = (moment: Moment, source: string): string =>
      viewing(stored.has(moment.runId) ? shownStore(path) : source, moment);
    const runs = readable(runsOfMachine(sources), problems, shownStore(path));
    const report = await addedUp(runs, commandOf, options, terminal);
    const isSent = await writeReport(report, { from, sinceMs, untilMs }, { form: options, terminal });
    if (store !== undefined) await sayWhatIsLeft({ path, store, isEmpty: report.count === 0, untilMs }, terminal);
    const older = hosts.flatMap((host) => host.sessions).length - sessions.length;
    if (report.count === 0 && older > 0) {
      terminal.complain(`coxswain: ${countOf(older, 'older session file')} not read: --since all reads every one`);
    }
    return problems.any || !isSent ? 1 : 0;
  } finally {
    await store?.close();
  }
}

/** Opens the call of a moment in the browser. */
function viewing(path: string, { call, runId }: Moment): string {
  const at = call === undefined ? '' : ` --call ${callNumber(call)}`;
  return `coxswain view ${shellWord(path)} --run ${shellWord(runId)}${at}`;
}

/** What of a store is not in its report. */
async function sayWhatIsLeft(
  read: {
    readonly path: string;
    readonly store: Pick<StoreReader, 'listRuns'>;
    readonly isEmpty: boolean;
    readonly untilMs: number;
  },
  terminal: Terminal,
): Promise<void> {
  const { unusable, waiting } = spillNote(read.path);
  for (const note of [waiting, unusable]) if (note !== undefined) terminal.complain(`coxswain: ${printable(note)}`);
  if (!read.isEmpty) return;
  for await (const { lastAtMs } of allRuns(read.store)) {
    const ago = durationText(Math.max(0, read.untilMs - lastAtMs));
    terminal.complain(`coxswain: the run that started last was at work ${ago} ago: --since all looks further back`);
    break;
  }
}

/** Adds runs up; with `--json` each is printed when it was read. */
async function addedUp(
  runs: AsyncIterable<FoundRun>,
  commandOf: (moment: Moment, source: string) => string,
  { by, json, to = [] }: ReportOptions,
  terminal: Terminal,
): Promise<NightReport> {
  const report = new NightReport(commandOf, groupingOf(by));
  for await (const whole of runs) {
    const found = to.length === 0 ? whole : sendable(whole);
    report.add(found);
    if (json === true) await terminal.write(jsonLine({ ...found.run, moments: found.moments }));
  }
  return report;
}

async function* readable(runs: AsyncIterable<FoundRun>, problems: Problems, path: string): AsyncGenerator<FoundRun> {
  problems.source(path);
  for await (const found of runs) {
    const { id, problem } = found.run;
    if (problem !== undefined) problems.fault({ message: `run ${id}: ${problem}` });
    yield found;
  }
  problems.endSource();
}

/** Runs of named files, each with the project that its session worked in. */
async function* withProjects(runs: AsyncIterable<FoundRun>): AsyncGenerator<FoundRun> {
  for await (const found of runs) {
    const { source } = found.report;
    const project = projectAt(await sessionFolder(source)) ?? dirname(resolve(source));
    yield { ...found, run: { ...found.run, project } };
  }
}

function groupingOf(by: string | undefined): Grouping | undefined {
  return GROUPINGS.find((one) => one === by);
}

function checkOptions({ by, html, json, markdown, to }: ReportOptions): void {
  const forms = [json === true, markdown === true, html !== undefined, to !== undefined].filter(Boolean);
  if (forms.length > 1) throw invalid('give one of --json, --markdown, --html and --to');
  if (by !== undefined && groupingOf(by) === undefined) throw invalid(`--by ${by}: give ${GROUPINGS.join(', ')}`);
  // Before anything is read.
  to?.forEach(reportTarget);
}

function sinceOf(text: string | undefined, nowMs: number, ofStore: boolean): number {
  if (text === undefined) return ofStore ? nowMs - DEFAULT_SINCE_MS : 0;
  const span = text === 'all' ? nowMs : parseDuration(text);
  if (span === undefined) throw invalid(`--since ${text}: give a span such as 12h, 90m or 7d, or all`);
  return Math.max(0, nowMs - span);
}

function invalid(message: string): CoxswainError {
  return new CoxswainError('invalid-argument', message);
}
