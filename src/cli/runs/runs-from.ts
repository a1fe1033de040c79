import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import { folderOfFile, sessionFolder, type FoundSource } from '../../formats/find-sources.ts';
import { stateOfSession } from '../../formats/find-sessions.ts';
import type { FormatName } from '../../formats/importer.ts';
import { importGroups, withPath } from '../../formats/import-source.ts';
import { CUT_OFF_LINE } from '../../formats/reading/import-lines.ts';
import { importersOf } from '../../formats/importers.ts';
import { readRunGroups, type ReadRun, type ReadRunsItem } from '../../formats/read-runs.ts';
import { RunIds } from '../../formats/run-ids.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { mayGoOn } from '../../core/facts/run-verdict.ts';
import type { RunFactsFold, RunFactsOptions } from '../../core/facts/run-facts-fold.ts';
import { allRuns } from '../../core/store/run-page.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { projectAt } from '../../core/node/git-folder.ts';
import type { Problems, SourceProblem } from './problems.ts';
import { thinFacts, type FactsCache } from './facts-cache.ts';
import { AT_REST_MS, type KeptAnswers } from './kept-answers.ts';
import { markStanding, mayStand, type Standing } from './run-standing.ts';
import { SessionThreads, type SessionAnswer, type SessionRequest, type ThreadQuery } from './session-threads.ts';
import { createRunFold } from './run-recorder.ts';
import { secretRemover } from './run-totals.ts';

/** Beyond this number of open runs, the least recently changed one is yielded before its end. */
const MAX_OPEN = 1_000;

interface StoreQuery {
  /** Unix milliseconds; runs whose last record is earlier are left out. */
  readonly sinceMs: number;
  readonly standing?: Standing | undefined;
  readonly answers?: KeptAnswers | undefined;
  readonly placeOf?: (runId: string) => string | undefined;
  readonly cache?: FactsCache;
  /** Default: true with a cache. */
  readonly onlyLessons?: boolean;
  readonly isLeftOut?: (runId: string) => boolean;
}

/** The most recently started run first. For a damaged run, yields the readable part and the problem. Memory: one run. */
export async function* runsOfStore(
  store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>,
  { answers, cache, isLeftOut, onlyLessons = cache !== undefined, placeOf, sinceMs, standing }: StoreQuery,
): AsyncGenerator<RunFacts, void, void> {
  for await (const summary of allRuns(store)) {
    if (summary.lastAtMs < sinceMs || isLeftOut?.(summary.runId) === true) continue;
    const place = placeOf?.(summary.runId);
    const cacheKey = `${place ?? ''} ${summary.runId}`;
    const cached = cache?.get(cacheKey, JSON.stringify(summary));
    if (cached !== undefined) {
      yield* cached.runs;
      continue;
    }
    const print = answers?.printOfRun(summary) ?? '';
    const [kept] = answers?.find(cacheKey, print, 0)?.events ?? [];
    if (kept?.type === 'run') {
      yield kept.run;
      continue;
    }
    const fold = createRunFold(summary.runId, { place, onlyLessons });
    let { problem } = summary;
    const withoutSecrets = secretRemover(onlyLessons);
    try {
      for await (const record of store.readRun(summary.runId)) fold.fold(withoutSecrets(record));
    } catch (error) {
      if (error instanceof CoxswainError && error.code === 'store-closed') throw error;
      problem ??= messageOf(error);
    }
    const stands = mayStand(fold) ? [fold.sessionId] : [];
    if (standing !== undefined) markStanding(fold, standing);
    const facts = fold.facts(systemClock.nowMs(), problem);
    cache?.put(cacheKey, JSON.stringify(summary), { runs: [facts] });
    answers?.keep(cacheKey, print, { asked: [], events: [{ type: 'run', run: facts }], stands, taken: [] });
    yield facts;
  }
}

async function projectOfSource(source: string, runId: string): Promise<string> {
  return projectAt(await sessionFolder(source, runId)) ?? folderOfFile(source);
}

interface SourceQuery extends ThreadQuery, Pick<RunFactsOptions, 'detectors' | 'hints' | 'recompute'> {
  readonly problems: Problems;
  readonly ids?: RunIds;
  readonly format?: FormatName | undefined;
  /** Keeps what lessons need of unchanged files across processes. The facts then have nothing else. */
  readonly cache?: FactsCache;
  /** Keeps the facts of unchanged files across processes. */
  readonly answers?: KeptAnswers | undefined;
  /** Called for each run, except subagents, that is left out because its last record is older than `sinceMs`. */
  readonly onLeftOut?: () => void;
  /** Called with the session of a run of which processes may say more (`mayStand`). */
  readonly onStands?: (sessionId: string) => void;
  readonly onSource?: (path: string) => void;
  readonly onBytes?: (read: number, total: number | undefined) => void;
  readonly onItem?: (item: ReadRunsItem) => Promise<void>;
  /** Reads large amounts in threads, which know no more than `ThreadQuery`. */
  readonly usesThreads?: boolean;
}

/** An unreadable source is a reported problem, and reading continues. Memory: about 20 kB for each of 1,000 open runs. */
export async function* runsOfSources(
  sources: AsyncIterable<FoundSource>,
  query: SourceQuery,
): AsyncGenerator<RunFacts, void, void> {
  const { ids = new RunIds(), isVerbose = false, problems, reportsDamage = false } = query;
  for await (const found of readAhead(sources, query)) {
    const { format, named, path, sizeBytes } = found.source;
    problems.source(path);
    query.onSource?.(path);
    try {
      yield* factsOfSource(found, ids, query);
    } catch (error) {
      const code = error instanceof CoxswainError ? error.code : undefined;
      if (code === 'store-io' || code === 'store-closed') throw error;
      // A file in a folder may have a format that is not a trajectory, but not one in the folder of an agent program's sessions.
      const isSession = format !== undefined && sizeBytes !== 0;
      if (named || isSession || code !== 'format-unknown') problems.failure(error);
      else if (reportsDamage) problems.leaveOut(error, isVerbose);
    }
    problems.endSource();
  }
}

interface SourceAhead {
  readonly source: FoundSource;
  /** Changes with the file. Absent if nothing is kept of it. */
  readonly print?: string | undefined;
  readonly kept?: readonly RunFacts[] | undefined;
  readonly keptAnswer?: SessionAnswer | undefined;
  readonly answer?: Promise<SessionAnswer | undefined> | undefined;
}

const MAX_AHEAD = 32;

/** Asks threads for the sources of which nothing is kept, some sources before their turn. */
async function* readAhead(
  sources: AsyncIterable<FoundSource>,
  query: SourceQuery,
): AsyncGenerator<SourceAhead, void, void> {
  const { answers, cache, usesThreads = false } = query;
  const { isVerbose, onlyLessons, reportsDamage, sinceMs, standing, withProject } = readingOf(query);
  const asMain = { isVerbose, onlyLessons, reportsDamage, sinceMs, standing, withProject };
  const threads = usesThreads ? new SessionThreads(present(asMain)) : undefined;
  const ahead: SourceAhead[] = [];
  try {
    for await (const source of sources) {
      const { named, path, sizeBytes } = source;
      // Skips pipes and devices in a folder, because reading them may never end.
      if (!named && sizeBytes === undefined) continue;
      const print = cache === undefined ? answers?.printOf(source) : printOf(path);
      const kept = print === undefined ? undefined : cache?.get(resolve(path), print)?.runs;
      const keptAnswer = print === undefined ? undefined : answers?.find(resolve(path), print, query.sinceMs ?? 0);
      const answer = kept === undefined && keptAnswer === undefined ? threads?.ask(source) : undefined;
      ahead.push({ source, print, kept, keptAnswer, answer });
      const [first] = ahead;
      if (threads !== undefined && ahead.length < MAX_AHEAD) continue;
      ahead.shift();
      if (first !== undefined) yield first;
    }
    yield* ahead;
  } finally {
    await threads?.close();
  }
}

/** What is kept is not that of a time. */
function readingOf(query: SourceQuery): SourceQuery {
  return query.cache === undefined ? query : { ...query, onlyLessons: true, sinceMs: 0, withProject: true };
}

function printOf(path: string): string | undefined {
  const state = stateOfSession(path);
  return state?.isFile === true ? `${state.bytes} ${state.modifiedAtMs}` : undefined;
}

async function* factsOfSource(
  { answer, kept, keptAnswer, print, source }: SourceAhead,
  ids: RunIds,
  query: SourceQuery,
): AsyncGenerator<RunFacts, void, void> {
  const { answers, cache, sinceMs = 0 } = query;
  const { format, path } = source;
  let runs = kept;
  if (runs === undefined) {
    const isKept = answers !== undefined && print !== undefined && keptAnswer === undefined;
    const answered = keptAnswer ?? (await answer) ?? (isKept ? await answerOf(source, query) : undefined);
    if (isKept && answered !== undefined) answers.keep(resolve(path), print, answered);
    const read =
      answered !== undefined && ids.adopt(answered.taken, answered.asked)
        ? answeredRuns(answered, query, keptAnswer === undefined ? undefined : path)
        : runsOfSource(path, ids, readingOf(query), format);
    if (cache === undefined) {
      yield* read;
      return;
    }
    runs = await Array.fromAsync(read);
    if (print !== undefined) cache.put(resolve(path), print, { runs });
  }
  yield* runs.filter(({ lastAtMs }) => lastAtMs === 0 || lastAtMs >= sinceMs);
}

class NotedIds extends RunIds {
  readonly taken: { readonly wanted: string; readonly id: string }[] = [];
  readonly asked: string[] = [];

  override take(wanted: string): string {
    const id = super.take(wanted);
    this.taken.push({ wanted, id });
    return id;
  }

  override latest(wanted: string): string {
    this.asked.push(wanted);
    return super.latest(wanted);
  }
}

/** Undefined if the source cannot be read: `runsOfSource` says why. */
export async function answerOf(
  { format, path }: SessionRequest,
  query: ThreadQuery,
): Promise<SessionAnswer | undefined> {
  const ids = new NotedIds();
  const events: SessionAnswer['events'][number][] = [];
  const stands: string[] = [];
  const problems = {
    fault: (problem: SourceProblem): void => void events.push({ type: 'fault', problem }),
    note: (problem: SourceProblem): void => void events.push({ type: 'note', problem }),
    failure: (error: unknown): void => {
      throw error;
    },
  };
  try {
    const onLeftOut = (): void => void events.push({ type: 'left out' });
    const onStands = (sessionId: string): void => void stands.push(sessionId);
    const runs = runsOfSource(path, ids, { ...query, problems, onLeftOut, onStands }, format);
    for await (const run of runs) events.push({ type: 'run', run });
    return { asked: ids.asked, events, stands, taken: ids.taken };
  } catch {
    return undefined;
  }
}

async function* answeredRuns(
  { events }: SessionAnswer,
  { onLeftOut, problems, withProject = false }: SourceQuery,
  keptFrom: string | undefined,
): AsyncGenerator<RunFacts, void, void> {
  // A repository may have been made, moved or deleted since.
  const project = keptFrom !== undefined && withProject ? await projectOfSource(keptFrom, '') : undefined;
  for (const event of events) {
    if (event.type === 'run')
      yield project === undefined || project === event.run.project ? event.run : { ...event.run, project };
    else if (event.type === 'left out') onLeftOut?.();
    else problems[event.type](event.problem);
  }
}

function isAtRest(path: string): boolean {
  const modifiedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return modifiedAtMs !== undefined && systemClock.nowMs() - modifiedAtMs > AT_REST_MS;
}

const MAX_HANG_MS = 7 * 24 * 3_600_000;

/** True for a session without an end whose file was written in the time span, although its last record is older. */
function isLeftOpen(
  { view }: RunFactsFold,
  { path, sinceMs }: { readonly path: string; readonly sinceMs: number },
): boolean {
  if (view.counts.parentRunId !== undefined || view.lastAtMs < sinceMs - MAX_HANG_MS) return false;
  if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < sinceMs) return false;
  return mayGoOn(view.verdictAt(systemClock.nowMs()));
}

function hasOnlyPrompt({ view }: RunFactsFold): boolean {
  const { calls, parentRunId, turns } = view.counts;
  return turns === 0 && calls === 0 && parentRunId === undefined;
}

/** A session that begins with the plan of another one repeats the interruption of that one. */
const SAME_MOMENT_MS = 1_000;

/** A run that is dated further ahead of this machine's clock is not one of the last hours. */
const MAX_AHEAD_MS = 24 * 3_600_000;

const MAX_DAMAGE = 1_000;

async function* runsOfSource(
  path: string,
  ids: RunIds,
  query: Omit<SourceQuery, 'problems'> & { readonly problems: Pick<Problems, 'failure' | 'fault' | 'note'> },
  placeFormat: FormatName | undefined,
): AsyncGenerator<RunFacts, void, void> {
  const { detectors, format, hints, isVerbose = false, onBytes, onItem, problems, recompute, sinceMs = 0 } = query;
  const { onlyLessons = false, reportsDamage = false, standing, withProject = false } = query;
  let projectFound: Promise<string> | undefined;
  const isOfMany = path.endsWith('.db');
  const folds = new Map<ReadRun, RunFactsFold>();
  /** Runs that were yielded before their end. The value is true if a later record was lost. */
  const yielded = new Map<ReadRun, boolean>();
  const withoutSecrets = secretRemover(onlyLessons);
  /** Damage of a file whose runs are all older than the time that is asked for is no news. */
  let damage: { readonly line?: number | undefined; readonly message: string }[] = [];
  let hasOld = false;
  /** Runs of a prompt only. An older Claude Code begins a file with the prompt under the id of another session. */
  const prompts: RunFactsFold[] = [];
  let workedFromMs = Infinity;
  const reportDamage = (): void => {
    for (const one of damage) problems.fault(one);
    damage = [];
  };
  const take = (run: ReadRun): readonly RunFacts[] => {
    const fold = folds.get(run);
    folds.delete(run);
    if (fold === undefined) return [];
    if (fold.program !== 'claude-code' || !hasOnlyPrompt(fold)) return finish(fold);
    prompts.push(fold);
    return [];
  };
  const finish = (fold: RunFactsFold): readonly RunFacts[] => {
    const { counts, lastAtMs } = fold.view;
    if (counts.turns > 0) workedFromMs = Math.min(workedFromMs, counts.startedAtMs);
    if (lastAtMs > 0 && lastAtMs < sinceMs && !isLeftOpen(fold, { path, sinceMs })) {
      if (counts.parentRunId === undefined) query.onLeftOut?.();
      hasOld = true;
      return [];
    }
    if (sinceMs > 0 && lastAtMs > systemClock.nowMs() + MAX_AHEAD_MS) {
      const day = new Date(lastAtMs).toISOString().slice(0, 10);
      problems.failure(new CoxswainError('format-invalid', `${path}: left out, because it is dated ${day}`));
      return [];
    }
    reportDamage();
    if (mayStand(fold)) query.onStands?.(fold.sessionId);
    if (standing !== undefined) markStanding(fold, standing);
    const facts = fold.facts(systemClock.nowMs());
    return [onlyLessons ? thinFacts(facts) : facts];
  };
  const placed = async (runs: readonly RunFacts[]): Promise<readonly RunFacts[]> => {
    if (!withProject || runs.length === 0) return runs;
    // A database has the sessions of many projects.
    const projectOf = ({ id }: RunFacts): Promise<string> =>
      isOfMany ? projectOfSource(path, id) : (projectFound ??= projectOfSource(path, id));
    return Promise.all(runs.map(async (run) => ({ ...run, project: await projectOf(run) })));
  };
  // Recorded runs name the whole path of their source.
  const source = path === '-' ? path : resolve(path);
  let last: ReadRun | undefined;
  const groups = importGroups(path, { format, ...present({ importers: importersOf(placeFormat), onBytes }) });
  for await (const items of withPathInErrors(readRunGroups(groups, { source, ids }), path)) {
    for (const item of items) {
      if (item.type === 'diagnostic') {
        const { line, message, severity } = item.diagnostic;
        const isWhole = line !== undefined && message !== CUT_OFF_LINE;
        const isSettled = placeFormat !== undefined && (isWhole || isAtRest(path));
        const isDamage = severity === 'error' && (reportsDamage || isSettled);
        if (isDamage && damage.length < MAX_DAMAGE) damage.push({ line, message });
        else if (isVerbose) problems.note({ line, message });
        // A diagnostic without a run belongs to the current run.
        const owner = item.run ?? last;
        if (owner !== undefined) folds.get(owner)?.diagnose({ severity, message, ...present({ line }) });
        continue;
      }
      const { run } = item;
      if (item.type === 'record') {
        if (run !== last && yielded.has(run)) {
          if (yielded.get(run) === false) {
            const message = `run ${run.id} continues after ${MAX_OPEN} other runs; its report covers only the records before them`;
            problems.fault({ message });
          }
          yielded.set(run, true);
        } else if (run !== last) {
          const fold =
            folds.get(run) ??
            createRunFold(run.id, { source: path, onlyLessons, ...present({ detectors, hints, recompute }) });
          folds.delete(run);
          folds.set(run, fold);
          const [oldest] = folds.keys();
          if (folds.size > MAX_OPEN && oldest !== undefined) {
            yielded.set(oldest, false);
            yield* await placed(take(oldest));
          }
        }
        folds.get(run)?.fold(withoutSecrets(item.record));
      }
      if (onItem !== undefined) await onItem(item);
      last = item.type === 'record' ? run : undefined;
      if (item.type === 'end') yield* await placed(take(run));
    }
  }
  for (const fold of prompts)
    if (fold.view.counts.startedAtMs > workedFromMs + SAME_MOMENT_MS || workedFromMs === Infinity)
      yield* await placed(finish(fold));
  if (!hasOld) reportDamage();
}

async function* withPathInErrors<Item>(items: AsyncIterable<Item>, path: string): AsyncGenerator<Item, void, void> {
  try {
    yield* items;
  } catch (error) {
    throw withPath(error, path);
  }
}
