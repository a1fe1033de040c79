import { allRuns } from '../../../core/store/all-runs.ts';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';

import { callNumber } from '../../../core/base/call-number.ts';
import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { countOf, durationText } from '../../../core/base/number-text.ts';
import { findSessions, hostFolder, type HostSessions } from '../../../formats/find-sessions.ts';
import { findSources } from '../../../formats/find-sources.ts';
import { sessionFolder } from '../../../formats/session-folder.ts';
import { openSessions } from '../../../hosts/claude-code/open-sessions.ts';
import { storeKindAt } from '../../../stores/registry/open-store.ts';
import type { LiveReader } from '../../../core/store/trajectory-store.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import { configuredStore } from '../../runs/project-store.ts';
import { lostAtEnd, lostAtEndText } from '../../runs/lost-records.ts';
import { spillNote } from '../../runs/spill-note.ts';
import { projectAt, StoredNames } from '../../runs/stored-names.ts';
import { choiceOption, spanOption } from '../../terminal/option-values.ts';
import { printable, outputLine } from '../../../core/base/printable.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { runsOfMachine, standingBy } from './machine-runs.ts';
import { GROUPINGS, NightReport, type Grouping, type ReportFrame } from './night-report.ts';
import { factsJson, type Moment, type RunFacts } from '../../../core/facts/run-facts.ts';
import { runsOfSources, runsOfStore } from '../../runs/runs-from.ts';
import { RunIds } from '../../../formats/run-ids.ts';
import { reportTarget, type ReportForm, writeReport } from './write-report.ts';

export interface ReportOptions extends ReportForm {
  readonly since?: string;
  readonly by?: string;
}

interface ReportContext {
  readonly options: ReportOptions;
  readonly by: Grouping | undefined;
  readonly terminal: Terminal;
  readonly problems: Problems;
  readonly untilMs: number;
}

/** The folders in which agent programs store their files. */
const places = { home: homedir(), env: process.env };

/** Default time span: 12 hours, one night. */
const DEFAULT_SINCE_MS = 12 * 3_600_000;

/** Runs `coxswain report`. @returns the exit code: 1 if something could not be read or sent */
export async function reportCommand(
  paths: readonly string[],
  options: ReportOptions,
  terminal: Terminal,
): Promise<number> {
  const by = checkOptions(options);
  const context = { options, by, terminal, problems: new Problems(terminal), untilMs: Date.now() };
  const [path] = paths;
  let isSent: boolean;
  if (path === undefined) isSent = await machineReport(context);
  else if (paths.length === 1 && (await storeKindAt(path)) !== undefined) isSent = await storeReport(path, context);
  else {
    const sinceMs = sinceOf(context, false);
    const ids = new RunIds();
    const runs = runsOfSources(findSources(paths), { problems: context.problems, sinceMs, ids, reportsDamage: true });
    const report = await foldRuns(by === 'project' ? withProjects(runs) : runs, viewCommandOf, context);
    context.problems.endSources(ids.repeated);
    isSent = await writeReportTo(report, { from: paths.join(', '), sinceMs, untilMs: context.untilMs }, context);
  }
  return context.problems.any || !isSent ? 1 : 0;
}

async function storeReport(path: string, context: ReportContext): Promise<boolean> {
  const { problems, untilMs } = context;
  const sinceMs = sinceOf(context, true);
  const name = shownStore(path);
  const store = await openReadableStore(path);
  try {
    const open = await openSessions(hostFolder('claude-code', places));
    const standing = standingBy(
      open,
      open === undefined ? [] : (await findSessions(places)).flatMap((host) => host.sessions),
    );
    const runs = runsOfStore(store, { sinceMs, place: resolve(path), known: standing });
    const report = await foldRuns(
      reportProblems(runs, problems, name),
      (moment) => viewCommandOf(moment, name),
      context,
    );
    const isSent = await writeReportTo(report, { from: name, sinceMs, untilMs }, context);
    await noteMissingRuns(path, store, { report, context });
    return isSent;
  } finally {
    await store.close();
  }
}

/** Creates the report of this project's store and of all session files of this user in the time span. */
async function machineReport(context: ReportContext): Promise<boolean> {
  const { problems, terminal, untilMs } = context;
  const sinceMs = sinceOf(context, true);
  const { address: place, projectFolder: project } = configuredStore(terminal);
  const storeName = shownStore(place);
  const hosts = await findSessions(places);
  const store = await openMachineStore(place, hosts, problems);
  try {
    const recentSessions = hosts.map(({ sessions, title }) => ({
      title,
      sessions: sessions.filter(({ modifiedAtMs }) => modifiedAtMs >= sinceMs),
    }));
    const sessions = recentSessions
      .flatMap((host) => host.sessions)
      .toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs);
    const inputs = recentSessions
      .filter((host) => host.sessions.length > 0)
      .map((host) => `${countOf(host.sessions.length, 'session file')} of ${host.title}`);
    if (store !== undefined) inputs.unshift(storeName);
    const storedNames = new StoredNames();
    const open = await openSessions(hostFolder('claude-code', places));
    const runs = runsOfMachine({
      store,
      place,
      storeName,
      project,
      sessions,
      stored: storedNames,
      problems,
      sinceMs,
      open,
    });
    const commandOf = (moment: Moment, source: string): string =>
      viewCommandOf(moment, storedNames.has(moment.runId) ? storeName : source);
    const report = await foldRuns(reportProblems(runs, problems, storeName), commandOf, context);
    const inputText = inputs.length === 0 ? 'no recent session file' : inputs.join(', ');
    const isSent = await writeReportTo(report, { from: inputText, sinceMs, untilMs }, context);
    if (store !== undefined) await noteMissingRuns(place, store, { report, context });
    const fileCount = hosts.flatMap((host) => host.sessions).length;
    if (report.sums.count === 0 && fileCount > 0) {
      terminal.complain(`coxswain: no run in this time; --since all reads ${countOf(fileCount, 'session file')}`);
    }
    return isSent;
  } finally {
    await store?.close();
  }
}

/** Opens the store of this project. Returns undefined if the store cannot be opened but there are sessions to report. */
async function openMachineStore(
  address: string,
  hosts: readonly HostSessions[],
  problems: Problems,
): Promise<LiveReader | undefined> {
  try {
    return await openReadableStore(address);
  } catch (error) {
    const isMissing = error instanceof CoxswainError && error.code === 'input-io';
    const hasSessions = hosts.some(({ sessions }) => sessions.length > 0);
    if (!hasSessions && isMissing) {
      const titles = hosts.map(({ title }) => title).join(', ');
      const message =
        `nothing to report: no runs are recorded in ${shownStore(address)}, and there are no session files of ${titles}; ` +
        'try coxswain demo, or see coxswain --help';
      throw new CoxswainError('input-io', message, { cause: error });
    }
    if (!hasSessions) throw error;
    problems.source(shownStore(address));
    if (!isMissing) problems.failure(error);
    return undefined;
  }
}

/** Returns the command that opens the call of a moment in the browser. */
function viewCommandOf({ call, runId }: Moment, path: string): string {
  const callOption = call === undefined ? '' : ` --call ${callNumber(call)}`;
  return `coxswain view ${shellWord(path)} --run ${shellWord(runId)}${callOption}`;
}

/** Reports on standard error what the report of a store does not include: events in spill files, records lost at
 * the end of a process, and older runs. */
async function noteMissingRuns(
  address: string,
  store: LiveReader,
  { report, context }: { readonly report: NightReport; readonly context: ReportContext },
): Promise<void> {
  const { terminal, untilMs } = context;
  const { unusable, waiting } = spillNote(address);
  for (const note of [waiting, unusable]) if (note !== undefined) terminal.complain(`coxswain: ${printable(note)}`);
  const lost = [...lostAtEnd(sinceOf(context, true)).values()].reduce((sum, count) => sum + count, 0);
  if (lost > 0) terminal.complain(`coxswain: ${lostAtEndText(lost)}`);
  if (report.sums.count > 0) return;
  for await (const { lastAtMs } of allRuns(store)) {
    const age = durationText(Math.max(0, untilMs - lastAtMs));
    terminal.complain(`coxswain: the most recent run was active ${age} ago: --since all looks further back`);
    break;
  }
}

/** Adds runs to the totals. With `--json`, prints each run immediately. */
async function foldRuns(
  runs: AsyncIterable<RunFacts>,
  commandOf: (moment: Moment, source: string) => string,
  { by, options: { json }, terminal }: ReportContext,
): Promise<NightReport> {
  const report = new NightReport(commandOf, by);
  for await (const found of runs) {
    report.add(found);
    if (json === true) await terminal.write(outputLine(factsJson(found)));
  }
  return report;
}

function writeReportTo(
  report: NightReport,
  frame: ReportFrame,
  { options, terminal }: ReportContext,
): Promise<boolean> {
  return writeReport(report, frame, { form: options, terminal });
}

async function* reportProblems(
  runs: AsyncIterable<RunFacts>,
  problems: Problems,
  path: string,
): AsyncGenerator<RunFacts> {
  problems.source(path);
  for await (const found of runs) {
    const { id, problem } = found;
    if (problem !== undefined) problems.fault({ message: `run ${id}: ${problem}` });
    yield found;
  }
  problems.endSource();
}

/** Adds the project of the session to the runs of named files. */
async function* withProjects(runs: AsyncIterable<RunFacts>): AsyncGenerator<RunFacts> {
  for await (const found of runs) {
    const { source } = found;
    const project = projectAt(await sessionFolder(source)) ?? dirname(resolve(source));
    yield { ...found, project };
  }
}

/** Checks the options before reading. */
function checkOptions({ by, html, json, markdown, to }: ReportOptions): Grouping | undefined {
  const forms = [json === true, markdown === true, html !== undefined, to !== undefined].filter(Boolean);
  if (forms.length > 1) throw invalidArgument('give one of --json, --markdown, --html and --to');
  to?.forEach(reportTarget);
  return by === undefined ? undefined : choiceOption('--by', by, GROUPINGS);
}

function sinceOf({ options: { since }, untilMs }: ReportContext, isStore: boolean): number {
  if (since === undefined) return isStore ? untilMs - DEFAULT_SINCE_MS : 0;
  const spanMs = since === 'all' ? untilMs : spanOption('--since', since, '12h, 90m or 7d, or all');
  return Math.max(0, untilMs - spanMs);
}
