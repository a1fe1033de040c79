import type { FactsCache } from '../../runs/facts-cache.ts';
import { KeptAnswers } from '../../runs/kept-answers.ts';
import { BUILD_HASH } from '../../../core/node/build-hash.ts';
import { cacheRoot } from '../../../core/node/state-places.ts';
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';

import { allRuns } from '../../../core/store/run-page.ts';
import { countOf, durationText, parseDuration } from '../../../core/base/number-text.ts';
import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { findUnread, filesOfSessions, type HostSessions, type FoundSession } from '../../../formats/find-sessions.ts';
import { findSources, sessionFolder } from '../../../formats/find-sources.ts';
import { storeKindAt } from '../../../stores/registry/open-store.ts';
import { storePath } from '../../../stores/store-address.ts';
import type { LiveReader } from '../../../core/store/trajectory-store.ts';
import { completeProjects } from '../../runs/complete-project.ts';
import { projectInstructions } from '../../runs/project-instructions.ts';
import type { Lessons } from '../../../core/facts/lessons.ts';
import { keepLessons } from '../../../hosts/claude-code/project-lessons.ts';
import {
  isProjectNamed,
  machineStores,
  projectOfStore,
  openMachineStores,
  unknownProject,
  type MachineReader,
  type MachineStore,
} from '../../runs/machine-stores.ts';
import { configuredStore, machineSessions, openReadableStore, shownStore } from '../../runs/open-store.ts';
import { Problems, lostAtEnd, lostAtEndText, spillNote } from '../../runs/problems.ts';
import { keepNumberedRuns, keptNumbers, viewCommandOf, type NumberedRun } from '../../runs/numbered-runs.ts';
import { completedBy } from '../../runs/recorded-session.ts';
import { judgedTogether } from '../../runs/judged-together.ts';
import { standingNow, type Standing } from '../../runs/run-standing.ts';
import { runsOfSources, runsOfStore } from '../../runs/runs-from.ts';
import { StoredNames } from '../../../core/facts/task-title.ts';
import { projectAt, projectStoreFile } from '../../../core/node/git-folder.ts';
import { choiceOption } from '../../terminal/option-values.ts';
import { printable, printableCut, outputLine } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { folderOf, namesOfFolders, needsPerson } from './night-sections.ts';
import { GROUPINGS, NightReport, type Grouping, type ReportFrame } from './night-report.ts';
import { factsJson, type Moment, type RunFacts } from '../../../core/facts/run-facts.ts';
import { RunIds } from '../../../formats/run-ids.ts';
import { reportTarget, type ReportForm, writeReport } from './write-report.ts';
import { checkReplaceable } from '../../runs/write-output.ts';
import { pageStart } from '../../document/write-document.ts';
import { present } from '../../../core/base/json.ts';

export interface ReportOptions extends ReportForm {
  readonly until?: string;
  readonly since?: string;
  readonly by?: string;
  readonly project?: string;
  readonly keepsLessons?: boolean;
  readonly cache?: FactsCache;
}

interface ReportContext {
  readonly options: ReportOptions;
  readonly by: Grouping | undefined;
  readonly terminal: Terminal;
  readonly problems: Problems;
  readonly untilMs: number;
  readonly ownProjects: boolean;
}

const DEFAULT_SINCE_MS = 12 * 3_600_000;

export async function reportCommand(
  paths: readonly string[],
  options: ReportOptions,
  terminal: Terminal,
): Promise<number> {
  const by = checkOptions(options);
  const [path] = paths;
  const problems = new Problems(terminal, { isBrief: true });
  const nowMs = Date.now();
  const untilMs = options.until === undefined ? nowMs : momentOf('--until', options.until, nowMs);
  const context = { options, by, terminal, problems, untilMs, ownProjects: path === undefined };
  if (sinceOf(context, true) >= untilMs) throw invalidArgument('--since is not before --until');
  let isSent: boolean;
  if (path === undefined) isSent = await machineReport(context);
  else if (paths.length === 1 && (await storeKindAt(path)) !== undefined) isSent = await storeReport(path, context);
  else {
    const sinceMs = sinceOf(context, false);
    const ids = new RunIds();
    const runs = runsOfSources(findSources(paths), {
      problems: context.problems,
      sinceMs,
      ids,
      reportsDamage: true,
      withProject: by === 'project' || by === undefined,
      usesThreads: true,
      ...present({ cache: options.cache }),
    });
    const report = await foldRuns(runs, (moment, source) => momentCommand(moment, source), context);
    context.problems.endSources(ids.repeated);
    isSent = await writeReportTo(report, { from: paths.join(', '), sinceMs, untilMs: context.untilMs }, context);
  }
  return context.problems.any || !isSent ? 1 : 0;
}

async function storeReport(path: string, context: ReportContext): Promise<boolean> {
  const { problems, untilMs } = context;
  // A database has the runs of a team, of months.
  const sinceMs = sinceOf(context, storePath(path) === undefined);
  const name = shownStore(path);
  const store = await openReadableStore(path);
  try {
    const standing = await standingNow();
    const cache = present({ cache: context.options.cache });
    const runs = runsOfStore(store, { sinceMs, placeOf: () => resolve(path), standing, ...cache });
    const report = await foldRuns(
      reportProblems(placedIn(projectOfStore(path), runs), problems, name),
      (moment) => momentCommand(moment, name),
      context,
    );
    const placeOf = (): Omit<NumberedRun, 'id'> => ({ path, isStore: true });
    const isSent = await writeReportTo(report, { from: name, sinceMs, untilMs }, context, placeOf);
    await noteMissingRuns(path, store, { report, context });
    return isSent;
  } finally {
    await store.close();
  }
}

async function* placedIn(project: string, runs: AsyncIterable<RunFacts>): AsyncGenerator<RunFacts, void, void> {
  for await (const run of runs) yield run.source === '' ? { ...run, project } : run;
}

async function machineReport(context: ReportContext): Promise<boolean> {
  const { problems, terminal, untilMs } = context;
  const sinceMs = sinceOf(context, true);
  const { address: place, projectFolder } = configuredStore(terminal);
  // A work tree belongs to its repository.
  const project = projectAt(projectFolder) ?? projectFolder;
  const storeName = shownStore(place);
  await completeProjects();
  const hosts = machineSessions(projectFolder);
  const store = await openStores({ sinceMs }, { hosts, place, problems, terminal });
  if (store === undefined && hosts.every(({ sessions }) => sessions.length === 0) && context.options.json !== true) {
    const titles = hosts.map(({ title }) => title).join(', ');
    await terminal.write(
      `No session of ${titles} on this machine, and no recorded run.\nTry coxswain demo, or coxswain init to record the sessions of this project.\n`,
    );
    return true;
  }
  let answers: KeptAnswers | undefined;
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
    for (const { sessions: files, title } of findUnread({ home: homedir(), env: process.env })) {
      const { length } = files.filter(({ modifiedAtMs }) => modifiedAtMs >= sinceMs);
      if (length > 0) inputs.push(`not read: ${length} of ${title}`);
    }
    const isMany = store !== undefined && store.stores.length > 1;
    if (store !== undefined) inputs.unshift(isMany ? `the stores of ${store.stores.length} projects` : storeName);
    const storedNames = new StoredNames();
    const stores = new Map<string, MachineStore>();
    const placeOf = (runId: string): string => stores.get(runId)?.address ?? place;
    const standing = await standingNow(hosts.flatMap((host) => host.sessions));
    let olderCount = 0;
    const { cache } = context.options;
    const isKept = cache === undefined && BUILD_HASH !== undefined;
    answers = isKept ? new KeptAnswers(cacheRoot({ env: process.env }), standing) : undefined;
    const runs = runsOfMachine({
      onLeftOut: () => (olderCount += 1),
      store,
      stores,
      storeName,
      project,
      sessions,
      stored: storedNames,
      problems,
      sinceMs,
      standing,
      answers,
      cache,
    });
    const commandOf = (moment: Moment, source: string): string =>
      storedNames.has(moment.runId)
        ? momentCommand(moment, shownStore(placeOf(moment.runId)))
        : momentCommand(moment, source, true);
    const report = await foldRuns(reportProblems(runs, problems, storeName), commandOf, context);
    if (context.options.keepsLessons === true) keepProjectLessons(report.keepsFailing);
    const inputText = inputs.length === 0 ? 'no recent session file' : inputs.join(', ');
    const isSent = await writeReportTo(report, { from: inputText, sinceMs, untilMs }, context, ({ id, source }) =>
      storedNames.has(id) ? { path: placeOf(id), isStore: true } : { path: resolve(source), isStore: false },
    );
    if (store !== undefined) await noteMissingRuns(place, store, { report, context });
    const fileCount = hosts.flatMap((host) => host.sessions).length;
    if (olderCount > 0 && report.sums.count > 0) {
      terminal.complain(
        `coxswain: ${countOf(olderCount, 'session')} left out: written in this time, but the last record is older; --since all goes further back`,
      );
    }
    if (report.sums.count === 0 && fileCount > 0 && context.options.project === undefined) {
      terminal.complain(`coxswain: no run in this time; --since all reads ${countOf(fileCount, 'session file')}`);
    }
    return isSent;
  } finally {
    answers?.close();
    await store?.close();
  }
}

function keepProjectLessons({ lessons, projects }: Lessons): void {
  const byProject = Map.groupBy(lessons, ({ project }) => project);
  const nowMs = Date.now();
  for (const projectFolder of projects.filter((folder) => isAbsolute(folder)))
    keepLessons({ projectFolder, env: process.env }, byProject.get(projectFolder) ?? [], nowMs);
}

/** Opens the stores of all projects. Returns undefined if none can be opened but there are sessions to report. */
async function openStores(
  query: { readonly sinceMs: number },
  parts: {
    readonly hosts: readonly HostSessions[];
    readonly place: string;
    readonly problems: Problems;
    readonly terminal: Terminal;
  },
): Promise<MachineReader | undefined> {
  try {
    return await openMachineStores(query, parts.terminal);
  } catch (error) {
    const isMissing = error instanceof CoxswainError && error.code === 'input-io';
    const hasSessions = parts.hosts.some(({ sessions }) => sessions.length > 0);
    if (!hasSessions && !isMissing) throw error;
    if (!hasSessions) return undefined;
    parts.problems.source(shownStore(parts.place));
    if (!isMissing) parts.problems.failure(error);
    return undefined;
  }
}

function momentCommand({ call, runId: id }: Moment, path: string, isSession = false): string {
  return viewCommandOf({ id, path }, { call, isSession });
}

/** Events in spill files, records lost at the end of a process, and older runs. */
async function noteMissingRuns(
  address: string,
  store: Pick<LiveReader, 'listRuns' | 'findRun'>,
  { report, context }: { readonly report: NightReport; readonly context: ReportContext },
): Promise<void> {
  const { terminal, untilMs } = context;
  const { unusable, waiting } = spillNote(address);
  for (const note of [waiting, unusable]) if (note !== undefined) terminal.complain(`coxswain: ${printable(note)}`);
  let lost = 0;
  for (const [runId, count] of lostAtEnd(sinceOf(context, true)))
    if (context.ownProjects || (await store.findRun(runId)) !== undefined) lost += count;
  if (lost > 0) terminal.complain(`coxswain: ${lostAtEndText(lost)}`);
  if (report.sums.count > 0) return;
  for await (const { lastAtMs } of allRuns(store)) {
    const age = durationText(Math.max(0, untilMs - lastAtMs));
    terminal.complain(`coxswain: the most recent run was active ${age} ago: --since all looks further back`);
    break;
  }
}

async function foldRuns(
  runs: AsyncIterable<RunFacts>,
  commandOf: (moment: Moment, source: string) => string,
  { by, options: { hasFailuresOnly, json, needsMe, project }, ownProjects, terminal, untilMs }: ReportContext,
): Promise<NightReport> {
  // A report on a part of the runs, or one for a program, leaves the numbers that are still on the screen.
  const numbers =
    project !== undefined || json === true || needsMe === true ? keptNumbers() : new Map<string, number>();
  const report = new NightReport(commandOf, by, ownProjects ? projectInstructions : undefined, numbers);
  const others = new Set<string>();
  for await (const found of judgedTogether(runs)) {
    if (found.lastAtMs > untilMs) continue;
    if (project !== undefined && !isProjectNamed(folderOf(found), project)) {
      others.add(folderOf(found));
      continue;
    }
    if (hasFailuresOnly === true) {
      report.addFailures(found);
      continue;
    }
    report.add(found);
    if (json === true && (needsMe !== true || needsPerson(found))) await terminal.write(outputLine(factsJson(found)));
  }
  // Of a project that is there, no run in this time is no error.
  if (project !== undefined && report.sums.count === 0 && !isKnownProject(project, others))
    throw unknownProject(project, [...namesOfFolders(others).values()]);
  return report;
}

/** @param others  projects that do not have this name. The file of a store has a similar one */
function isKnownProject(name: string, others: ReadonlySet<string>): boolean {
  if (statSync(resolve(name), { throwIfNoEntry: false })?.isDirectory() === true) return true;
  const stores = new Set([...others].map((folder) => projectStoreFile(folder, { env: process.env })));
  return machineStores({ project: name }).some(({ address }) => !stores.has(address));
}

async function writeReportTo(
  report: NightReport,
  frame: ReportFrame,
  { options, terminal }: ReportContext,
  placeOf: (run: RunFacts) => Omit<NumberedRun, 'id'> = ({ source }) => ({ path: resolve(source), isStore: false }),
): Promise<boolean> {
  const isPast = options.until !== undefined;
  const isWritten = await writeReport(report, { ...frame, isPast }, { form: options, terminal });
  // The numbers that are still on the screen stay.
  if (options.to !== undefined || options.hasFailuresOnly === true) return isWritten;
  const items = report.sections.flatMap((section) => section.items);
  const numbered = new Map(
    items.map(({ below, number, run }) => {
      const place = placeOf(run);
      const files = new Set(
        below.map(placeOf).flatMap(({ isStore, path }) => (isStore || path === place.path ? [] : path)),
      );
      return [number, { id: run.id, ...place, ...(files.size === 0 ? {} : { below: [...files] }) }] as const;
    }),
  );
  // So they do after a report without runs.
  if (numbered.size > 0) keepNumberedRuns(numbered, report.numbers);
  return isWritten;
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

function checkOptions({ all, by, html, json, markdown, needsMe, to }: ReportOptions): Grouping | undefined {
  if (needsMe === true && (all ?? by) !== undefined) throw invalidArgument('give one of --needs-me, --all and --by');
  const forms = [json === true, markdown === true, html !== undefined, to !== undefined].filter(Boolean);
  if (forms.length > 1) throw invalidArgument('give one of --json, --markdown, --html and --to');
  to?.forEach(reportTarget);
  if (html !== undefined) checkReplaceable(html, pageStart());
  return by === undefined ? undefined : choiceOption('--by', by, GROUPINGS);
}

function sinceOf({ options: { since }, untilMs }: ReportContext, isRecent: boolean): number {
  if (since === undefined) return isRecent ? untilMs - DEFAULT_SINCE_MS : 0;
  return since === 'all' ? 0 : momentOf('--since', since, untilMs);
}

/** @param endMs  the end of a span; days and times are those of the clock */
function momentOf(option: '--since' | '--until', text: string, endMs: number): number {
  const spanMs = parseDuration(text);
  const startMs = spanMs === undefined ? localStartOf(text, Date.now()) : Math.max(0, endMs - spanMs);
  if (startMs !== undefined) return startMs;
  throw invalidArgument(
    `${option} ${printableCut(text, 80)}: give a span such as 12h or 7d, a time such as 22:00, yesterday, a day such as 2026-11-27${option === '--since' ? ', or all' : ''}`,
  );
}

/** Parses `22:00`, `today`, `yesterday` and `2026-11-27` in the time zone of this machine. A time is the last one before now. */
function localStartOf(text: string, nowMs: number): number | undefined {
  const day = new Date(nowMs);
  day.setHours(0, 0, 0, 0);
  if (text === 'today') return day.getTime();
  if (text === 'yesterday') return day.setDate(day.getDate() - 1);
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours !== undefined) {
    day.setHours(Number(hours), Number(minutes));
    return day.getTime() <= nowMs ? day.getTime() : day.setDate(day.getDate() - 1);
  }
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date));
  return start.getMonth() === Number(month) - 1 && start.getTime() <= nowMs ? start.getTime() : undefined;
}

interface MachineSources {
  readonly store: MachineReader | undefined;
  readonly stores: Map<string, MachineStore>;
  readonly storeName: string;
  readonly project: string;
  readonly sessions: readonly FoundSession[];
  readonly stored: StoredNames;
  readonly problems: Problems;
  readonly onLeftOut: () => void;
  readonly sinceMs: number;
  readonly cache: FactsCache | undefined;
  readonly answers: KeptAnswers | undefined;
  readonly standing: Standing | undefined;
}

/**
 * A run in both sources is yielded from the store, with the end and the usage that only the transcript has. A run from
 * OpenTelemetry is left out if its session is yielded.
 */
async function* runsOfMachine(sources: MachineSources): AsyncGenerator<RunFacts, void, void> {
  const { problems, project, sessions, sinceMs, standing, store, stored, stores, storeName } = sources;
  if (store !== undefined) {
    for await (const run of allRuns(store)) {
      if (run.lastAtMs < sinceMs) continue;
      stored.add(run);
      const found = await store.storeOf(run.runId);
      if (found !== undefined) stores.set(run.runId, found);
    }
  }
  const folders = new Map<string, string>();
  const files = new Map<string, RunFacts>();
  const query = {
    problems,
    sinceMs,
    onLeftOut: sources.onLeftOut,
    withProject: true,
    usesThreads: true,
    ...present({ answers: sources.answers, standing, cache: sources.cache }),
  };
  for await (const found of runsOfSources(filesOfSessions(sessions, sinceMs), query)) {
    const storedId = stored.idOf(found.id);
    stored.addTranscript(found.id);
    if (storedId === undefined) {
      yield found;
      continue;
    }
    if (!folders.has(storedId)) {
      const folder = projectAt(await sessionFolder(found.source, found.id));
      if (folder !== undefined) folders.set(storedId, folder);
    }
    // Facts that were read for lessons have no verdict and no usage.
    const known = files.get(storedId);
    if (sources.cache === undefined && (known === undefined || known.calls <= found.calls)) files.set(storedId, found);
  }
  if (store === undefined) return;
  problems.source(storeName);
  let leftOut = 0;
  const isLeftOut = (runId: string): boolean => {
    const repeats = stored.repeatsSession(runId);
    if (repeats) leftOut += 1;
    return repeats;
  };
  for await (const found of runsOfStore(store, {
    sinceMs,
    isLeftOut,
    placeOf: (id) => stores.get(id)?.address,
    standing,
    answers: sources.answers,
    ...present({ cache: sources.cache }),
  })) {
    const own = stores.get(found.id)?.project ?? project;
    // Of another project the store has only the name of the folder.
    const at = own === project ? project : (folders.get(found.id) ?? own);
    yield { ...completedBy(found, files.get(found.id)), project: at };
  }
  if (leftOut > 0)
    problems.note({ message: `${countOf(leftOut, 'run')} of telemetry left out: the session itself is in the report` });
}
