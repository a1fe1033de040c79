import { setTimeout as sleep } from 'node:timers/promises';

import { present } from '../../core/base/json.ts';
import { systemClock, steadyMs } from '../../core/base/clock.ts';
import { readPageCursor, writePageCursor } from '../../core/store/page-cursor.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { hasNoPrice, isLeast } from '../../core/facts/usage-text.ts';
import type { ListedRow, RunExtras, RunsAnswer } from './api-shapes.ts';
import type { FoundRuns } from './full-text.ts';
import type { LabelsFile } from './labels-file.ts';
import type { ListedSource } from './listed-source.ts';
import { matchRuns, needsExtras, storedNames, type MatchedRun, type Matches } from './task-groups.ts';
import { type RunFilter, type RunsQuery, type RunSort, extrasAt, groupOf, isLive } from './run-query.ts';
import { viewerFault } from './viewer-fault.ts';
import { waitAtMost } from './wait-at-most.ts';

const NEEDS_EXTRAS: ReadonlySet<RunSort> = new Set(['cost', 'wasted']);
const READ_MS = 400;
const SEARCH_MS = 1_500;
const BUSY_MS = 50;
const REUSE_MS = 1_000;
const LIST_MS = 1_000;
const MAX_CHILDREN = 1_000;

interface Candidate {
  readonly matched: MatchedRun;
  readonly key: number;
}

export type ListMatches = Matches & Pick<RunsAnswer, 'version' | 'notIndexed' | 'pending' | 'notLookedAt'>;

/** Lists runs. Cost: one pass over all runs, and sorting the matching ones. */
export class RunList {
  readonly #sources: readonly ListedSource[];
  readonly #labels: LabelsFile;
  #latestMatches: { readonly key: string; readonly matches: ListMatches; readonly untilMs: number } | undefined;
  readonly #backgroundReads = new Map<ListedSource, Promise<void>>();

  constructor(sources: readonly ListedSource[], labels: LabelsFile) {
    this.#sources = sources;
    this.#labels = labels;
  }

  version(): number {
    return this.#sources.reduce((sum, { source }) => sum + source.version, 0);
  }

  /** Runs that have not been read yet are read in the background. `needsAllExtras` waits a short time for them. */
  async matchingRuns(filter: RunFilter, needsAllExtras: boolean): Promise<ListMatches> {
    const labelled = await this.#labels.ids();
    const key = JSON.stringify([filter, needsAllExtras, labelled?.version, this.version()]);
    const latest = this.#latestMatches;
    // The pages of a list are requested one after another.
    if (latest?.key === key && latest.matches.pending === 0 && steadyMs() < latest.untilMs) return latest.matches;
    const matches = await this.#match(filter, needsAllExtras, labelled?.ids);
    this.#latestMatches = { key, matches, untilMs: steadyMs() + REUSE_MS };
    return matches;
  }

  async #match(
    filter: RunFilter,
    needsAllExtras: boolean,
    labelled: ReadonlySet<string> | undefined,
  ): Promise<ListMatches> {
    const sources = filter.source === undefined ? this.#sources : [this.sourceOf(filter.source)];
    const areListed = await Promise.all(sources.map(({ source }) => source.refreshWithin(LIST_MS)));
    const reading = this.#readInBackground(sources);
    if (needsAllExtras || needsExtras(filter)) await reading;
    // Files that are still being read may contain more runs.
    let pending = sources.filter(({ source }, index) => areListed[index] !== true || source.isReading).length;
    let notIndexed = 0;
    const foundBySource = new Map<ListedSource, FoundRuns>();
    for (const listed of filter.q === undefined ? [] : sources) {
      const foundRuns = await searchSource(listed, filter.q ?? '');
      if (foundRuns !== undefined) foundBySource.set(listed, foundRuns);
      notIndexed += foundRuns?.notIndexed ?? 0;
      if (foundRuns?.isPending === true) pending += 1;
    }
    const version = this.version();
    const matches = matchRuns(sources, filter, foundBySource, labelled, storedNames(this.#sources));
    const notLookedAt = sources.reduce((sum, listed) => sum + countUnreadRuns(listed), 0);
    if (needsAllExtras || needsExtras(filter)) pending += notLookedAt;
    return { ...matches, version, notIndexed, pending, notLookedAt };
  }

  /** @throws CoxswainError `invalid-argument` for an invalid cursor, `not-found` for an unknown source */
  async page({ after, filter, limit, sort }: RunsQuery): Promise<RunsAnswer> {
    const place = after === undefined ? undefined : readPageCursor(after, readPlace);
    const { facets, notIndexed, notLookedAt, pending, runs, version } = await this.matchingRuns(
      filter,
      NEEDS_EXTRAS.has(sort),
    );
    const groups = { needs: 0, running: 0, done: 0 };
    const sums = { costUsd: 0, isLeast: false, withoutPrice: 0, damaged: 0 };
    const nowMs = systemClock.nowMs();
    const candidates = runs.map((matched): Candidate => {
      const group = groupOf(matched.run, matched.extras, nowMs);
      groups[group] += 1;
      sums.costUsd += matched.extras?.costUsd ?? 0;
      if (matched.extras !== undefined && hasNoPrice(matched.extras)) sums.withoutPrice += 1;
      sums.isLeast ||= matched.extras !== undefined && isLeast(matched.extras);
      if (matched.run.problem !== undefined) sums.damaged += 1;
      return { matched, key: sort === 'group' ? GROUP_RANKS[group] : SORT_KEYS[sort](matched) };
    });
    candidates.sort((a, b) => comparePlaces(placeOf(a), placeOf(b)));
    const firstIndex = place === undefined ? 0 : firstIndexAfter(candidates, place);
    const page = candidates.slice(firstIndex, firstIndex + limit);
    const lastCandidate = page.at(-1);
    return {
      runs: page.map(({ matched: { found, listed, run } }) =>
        Object.assign(runRowOf(listed, run, listed.overviews.knownExtras(run)), present({ found })),
      ),
      ...(lastCandidate !== undefined && firstIndex + limit < candidates.length
        ? { next: writePageCursor(placeOf(lastCandidate)) }
        : {}),
      version,
      total: candidates.length,
      groups,
      ...sums,
      notIndexed,
      pending,
      notLookedAt,
      facets,
    };
  }

  sourceOf(id: string): ListedSource {
    const listed = this.#sources.find(({ source }) => source.id === id);
    if (listed !== undefined) return listed;
    throw viewerFault('not-found', `there is no source ${id.slice(0, 80)}`, 'Start at the list of runs.');
  }

  /** Returns the requested rows, with the extras that can be read within `waitMs`. Unknown runs are left out. */
  async rows(keys: readonly (readonly [string, string])[], waitMs: number): Promise<readonly ListedRow[]> {
    const endMs = steadyMs() + waitMs;
    const rows: ListedRow[] = [];
    for (const [sourceId, runId] of keys) {
      const listed = this.sourceOf(sourceId);
      const run = listed.source.runs.get(runId);
      if (run === undefined) continue;
      const leftMs = endMs - steadyMs();
      const extras = leftMs > 0 ? await listed.overviews.extras(run, leftMs) : listed.overviews.knownExtras(run);
      rows.push(runRowOf(listed, run, extras));
    }
    return rows;
  }

  childrenOf(listed: ListedSource, runId: string): readonly ListedRow[] {
    const { overviews, source } = listed;
    const children = source.childrenOf(runId).flatMap((id) => source.runs.get(id) ?? []);
    children.sort((a, b) => a.startedAtMs - b.startedAtMs);
    return children.slice(0, MAX_CHILDREN).map((run) => runRowOf(listed, run, overviews.knownExtras(run)));
  }

  async #readInBackground(sources: readonly ListedSource[]): Promise<void> {
    const reads = sources.map((listed) => {
      const read =
        this.#backgroundReads.get(listed) ?? readAllRuns(listed).finally(() => this.#backgroundReads.delete(listed));
      this.#backgroundReads.set(listed, read);
      return read;
    });
    await waitAtMost(Promise.all(reads), READ_MS);
  }
}

export function runRowOf({ isKilled, source }: ListedSource, run: RunSummary, known: RunExtras | undefined): ListedRow {
  return listedRow(run, known, {
    source: source.id,
    title: source.titleOf(run),
    childCount: source.countChildren(run.runId),
    isKilled: isKilled(run),
    nowMs: systemClock.nowMs(),
  });
}

export function listedRow(
  run: RunSummary,
  known: RunExtras | undefined,
  {
    isKilled = false,
    nowMs,
    ...place
  }: Pick<ListedRow, 'source' | 'title' | 'childCount'> & { readonly isKilled?: boolean; readonly nowMs: number },
): ListedRow {
  const { openCalls: _openCalls, source: from, ...summary } = run;
  const extras = extrasAt(run, known, nowMs, isKilled);
  return {
    ...summary,
    ...place,
    title: known?.name ?? place.title,
    ...present({ from }),
    live: !isKilled && isLive(run, nowMs),
    group: groupOf(run, extras, nowMs),
    pendingCalls: run.openCalls?.length ?? 0,
    extras: extras !== undefined,
    ...extras,
  };
}

/** Reads the runs of a source. It never throws. An unreadable run stays unread, and its page shows the reason. */
async function readAllRuns({ overviews, source }: ListedSource): Promise<void> {
  const runs = [...source.runs.values()].filter((run) => overviews.knownExtras(run) === undefined);
  // Shortest first, so that most runs are known early.
  runs.sort((a, b) => a.records - b.records || b.startedAtMs - a.startedAtMs);
  for (const run of runs) {
    while (overviews.isBusy) await sleep(BUSY_MS, undefined, { ref: false });
    try {
      await overviews.extras(run, 60_000);
    } catch {
      // The store is gone or locked. `refresh` reports this.
      return;
    }
  }
}

async function searchSource({ fullText, source }: ListedSource, text: string): Promise<FoundRuns | undefined> {
  try {
    return await fullText.findRuns(text, SEARCH_MS);
  } catch (error) {
    // Other sources are still searched.
    source.reportProblem(error);
    return undefined;
  }
}

function countUnreadRuns({ overviews, source }: ListedSource): number {
  let unread = 0;
  for (const run of source.runs.values()) if (overviews.knownExtras(run) === undefined) unread += 1;
  return unread;
}

const GROUP_RANKS = { needs: 2, running: 1, done: 0 } as const;

const SORT_KEYS: Readonly<Record<Exclude<RunSort, 'group'>, (matched: MatchedRun) => number>> = {
  started: ({ run }) => run.startedAtMs,
  calls: ({ run }) => run.calls,
  errors: ({ run }) => run.errors,
  cost: ({ extras }) => extras?.costUsd ?? -1,
  wasted: ({ extras }) => extras?.wasted?.calls ?? -1,
  lasted: ({ run }) => run.lastAtMs - run.startedAtMs,
};

/** The position in the list: sort key, start time, source id, run id. */
type Place = readonly [number, number, string, string];

function placeOf({ key, matched: { listed, run } }: Candidate): Place {
  return [key, run.startedAtMs, listed.source.id, run.runId];
}

/** Places descend. */
function comparePlaces(a: Place, b: Place): number {
  if (a[0] !== b[0]) return b[0] - a[0];
  if (a[1] !== b[1]) return b[1] - a[1];
  if (a[2] !== b[2]) return a[2] < b[2] ? -1 : 1;
  return a[3] === b[3] ? 0 : a[3] < b[3] ? -1 : 1;
}

function firstIndexAfter(candidates: readonly Candidate[], place: Place): number {
  const index = candidates.findIndex((candidate) => comparePlaces(placeOf(candidate), place) > 0);
  return index < 0 ? candidates.length : index;
}

function readPlace([key, startedAtMs, source, runId, ...more]: readonly unknown[]): Place | undefined {
  const isPlace =
    typeof key === 'number' &&
    typeof startedAtMs === 'number' &&
    typeof source === 'string' &&
    typeof runId === 'string' &&
    more.length === 0;
  return isPlace ? [key, startedAtMs, source, runId] : undefined;
}
