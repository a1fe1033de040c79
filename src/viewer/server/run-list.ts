import { present } from '../../base/present.ts';
import { assertNever } from '../../base/assert-never.ts';
import { systemClock } from '../../base/clock.ts';
import { steadyMs } from '../../base/steady-ms.ts';
import { readPageCursor, writePageCursor } from '../../store/page-cursor.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { RunExtras, ListedRow, RunsAnswer } from './api-shapes.ts';
import { FullText, type FoundRuns } from './full-text.ts';
import { RunLooks } from './run-looks.ts';
import type { RunFilter, RunsQuery, RunSort } from './run-query.ts';
import { viewerFault } from './viewer-fault.ts';
import type { ViewerSource } from './viewer-source.ts';

/** A run without an outcome is at work when its last record is not older. */
const LIVE_MS = 120_000;
/** How long an answer waits for runs that have to be looked at. */
const LOOK_MS = 400;
const SEARCH_MS = 1_500;
/** How long an answer waits for the first list of a large folder. */
const LIST_MS = 1_000;
const MAX_CHILDREN = 1_000;

/** A source with what was seen in its runs. */
export interface ListedSource {
  readonly source: ViewerSource;
  readonly looks: RunLooks;
  readonly fullText: FullText;
}

export function listedSource(source: ViewerSource): ListedSource {
  return { source, looks: new RunLooks(source), fullText: new FullText(source) };
}

interface Candidate {
  readonly listed: ListedSource;
  readonly run: RunSummary;
  readonly extras: RunExtras | undefined;
  readonly key: number;
}

/** Lists the runs of some sources. Cost: a pass over all runs, and sorting those that match. */
export class RunList {
  readonly #sources: readonly ListedSource[];
  /** Runs that are looked at for a filter, one after the other. */
  readonly #crawls = new Map<ListedSource, Promise<void>>();

  constructor(sources: readonly ListedSource[]) {
    this.#sources = sources;
  }

  /** @throws CoxswainError `invalid-argument` for a cursor that no page gave, `not-found` for a source that does not exist */
  async page({ after, filter, limit, order, sort }: RunsQuery): Promise<RunsAnswer> {
    const place = after === undefined ? undefined : readPageCursor(after, toPlace);
    const sources = filter.source === undefined ? this.#sources : [this.sourceOf(filter.source)];
    const areListed = await Promise.all(sources.map(({ source }) => source.refreshWithin(LIST_MS)));
    const needsLook = filter.pattern !== undefined || filter.advice === true || filter.tool !== undefined;
    const isLookedAt = needsLook || sort === 'cost' || sort === 'advice';
    if (isLookedAt) await this.#lookAt(sources, filter);
    const candidates: Candidate[] = [];
    // Files that are still read may hold more runs.
    let pending = sources.filter(({ source }, at) => areListed[at] !== true || source.isReading).length;
    let notIndexed = 0;
    for (const listed of sources) {
      const found = filter.q === undefined ? undefined : await foundIn(listed, filter.q);
      notIndexed += found?.notIndexed ?? 0;
      if (found?.isPending === true) pending += 1;
      for (const run of listed.source.runs.values()) {
        if (!matchesSummary(run, filter, { found, listed })) continue;
        const extras = listed.looks.known(run);
        if (isLookedAt && extras === undefined) pending += 1;
        if (needsLook && !matchesExtras(extras, filter)) continue;
        candidates.push({ listed, run, extras, key: keyOf(run, extras, sort) });
      }
    }
    const sign = order === 'asc' ? 1 : -1;
    candidates.sort((a, b) => comparePlaces(placeOf(a), placeOf(b), sign));
    const from = place === undefined ? 0 : firstAfter(candidates, place, sign);
    const page = candidates.slice(from, from + limit);
    const last = page.at(-1);
    return {
      runs: page.map(({ extras, listed, run }) => runRowOf(listed, run, extras)),
      ...(last !== undefined && from + limit < candidates.length ? { next: writePageCursor(placeOf(last)) } : {}),
      total: candidates.length,
      notIndexed,
      pending,
    };
  }

  /** @throws CoxswainError with the reason `not-found` */
  sourceOf(id: string): ListedSource {
    const listed = this.#sources.find(({ source }) => source.id === id);
    if (listed !== undefined) return listed;
    throw viewerFault('not-found', `there is no source ${id.slice(0, 80)}`, 'Begin at the list of runs.');
  }

  /** The rows with extras, as many as can be looked at within `waitMs`. Runs that are not there are left out. */
  async rows(keys: readonly (readonly [string, string])[], waitMs: number): Promise<readonly ListedRow[]> {
    const endMs = steadyMs() + waitMs;
    const rows: ListedRow[] = [];
    for (const [sourceId, runId] of keys) {
      const listed = this.sourceOf(sourceId);
      const run = listed.source.runs.get(runId);
      if (run === undefined) continue;
      const leftMs = endMs - steadyMs();
      const extras = leftMs > 0 ? await listed.looks.extras(run, leftMs) : listed.looks.known(run);
      rows.push(runRowOf(listed, run, extras));
    }
    return rows;
  }

  /** Runs that this run started, by their start; 1,000 at most. */
  childrenOf({ looks, source, fullText }: ListedSource, runId: string): readonly ListedRow[] {
    const children = source.childrenOf(runId).flatMap((id) => source.runs.get(id) ?? []);
    children.sort((a, b) => a.startedAtMs - b.startedAtMs);
    return children.slice(0, MAX_CHILDREN).map((run) => runRowOf({ looks, source, fullText }, run, looks.known(run)));
  }

  /** Looks at runs in the background, and waits a little for it. */
  async #lookAt(sources: readonly ListedSource[], filter: RunFilter): Promise<void> {
    const crawls = sources.map((listed) => {
      const crawl = this.#crawls.get(listed) ?? crawled(listed, filter).finally(() => this.#crawls.delete(listed));
      this.#crawls.set(listed, crawl);
      return crawl;
    });
    const waited = new Promise<void>((resolve) => setTimeout(resolve, LOOK_MS).unref());
    await Promise.race([Promise.all(crawls), waited]);
  }
}

/** A run as a list shows it. */
export function runRowOf({ source }: ListedSource, run: RunSummary, extras: RunExtras | undefined): ListedRow {
  const { openCalls: _openCalls, source: from, ...summary } = run;
  return {
    ...summary,
    source: source.id,
    ...present({ from }),
    childCount: source.countChildren(run.runId),
    live: run.outcome === undefined && systemClock.nowMs() - run.lastAtMs < LIVE_MS,
    extras: extras !== undefined,
    ...extras,
  };
}

/** Never throws: a run that cannot be read stays unknown, and the page that shows it says why. */
async function crawled({ looks, source }: ListedSource, filter: RunFilter): Promise<void> {
  const runs = [...source.runs.values()].filter((run) => matchesTime(run, filter) && looks.known(run) === undefined);
  runs.sort((a, b) => b.startedAtMs - a.startedAtMs);
  for (const run of runs) {
    try {
      await looks.extras(run, 60_000);
    } catch {
      // A store that is gone or locked is the source's problem, which `refresh` tells.
      return;
    }
  }
}

async function foundIn({ fullText, source }: ListedSource, text: string): Promise<FoundRuns | undefined> {
  try {
    return await fullText.find(text, SEARCH_MS);
  } catch (error) {
    // Runs of other sources are found all the same.
    source.report(error);
    return undefined;
  }
}

interface MatchContext {
  readonly found: FoundRuns | undefined;
  readonly listed: ListedSource;
}

function matchesSummary(run: RunSummary, filter: RunFilter, { found, listed }: MatchContext): boolean {
  const { outcome, parent, q, roots, status } = filter;
  const { parentRunId } = run;
  if (roots === true && parentRunId !== undefined && listed.source.runs.has(parentRunId)) return false;
  if (parent !== undefined && parentRunId !== parent) return false;
  if (outcome !== undefined && !matchesOutcome(run, outcome)) return false;
  if (status !== undefined && !matchesOutcome(run, status)) return false;
  if (!matchesTime(run, filter)) return false;
  if (q === undefined || found?.runIds.has(run.runId) === true) return true;
  const wanted = q.toLowerCase();
  return run.runId.toLowerCase().includes(wanted) || (run.task ?? '').toLowerCase().includes(wanted);
}

function matchesOutcome({ outcome, success }: RunSummary, wanted: string): boolean {
  if (wanted === 'open') return outcome === undefined;
  if (wanted === 'ended') return outcome !== undefined;
  if (wanted === 'success') return success === true;
  if (wanted === 'failure' || wanted === 'failed') {
    return success === false || (success === undefined && (outcome === 'error' || outcome === 'aborted'));
  }
  return outcome === wanted;
}

function matchesTime({ lastAtMs, startedAtMs }: RunSummary, { sinceMs, untilMs }: RunFilter): boolean {
  return (sinceMs === undefined || lastAtMs >= sinceMs) && (untilMs === undefined || startedAtMs <= untilMs);
}

function matchesExtras(extras: RunExtras | undefined, { advice, pattern, tool }: RunFilter): boolean {
  if (extras === undefined) return false;
  const { adviceCount, patterns, stuck, tools } = extras;
  if (advice === true && adviceCount === 0) return false;
  if (tool !== undefined && !tools.includes(tool)) return false;
  if (pattern === undefined) return true;
  const wanted = plainName(pattern);
  if (wanted === 'stuck') return stuck;
  return wanted === 'any' ? patterns.length > 0 : patterns.some((kind) => plainName(kind) === wanted);
}

/** A pattern's name whatever its case and form: `ping_pong`, `Ping pong` and `ping-pong` are one. */
function plainName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function keyOf(run: RunSummary, extras: RunExtras | undefined, sort: RunSort): number {
  switch (sort) {
    case 'started':
      return run.startedAtMs;
    case 'calls':
      return run.calls;
    case 'errors':
      return run.errors;
    case 'cost':
      return extras?.costUsd ?? -1;
    case 'advice':
      return extras === undefined ? -1 : extras.adviceCount - extras.adviceUnsaid;
    default:
      return assertNever(sort);
  }
}

/** The sort key, the start, the source, the run. */
type Place = readonly [number, number, string, string];

function placeOf({ key, listed, run }: Candidate): Place {
  return [key, run.startedAtMs, listed.source.id, run.runId];
}

function comparePlaces(a: Place, b: Place, sign: number): number {
  if (a[0] !== b[0]) return sign * (a[0] - b[0]);
  if (a[1] !== b[1]) return sign * (a[1] - b[1]);
  if (a[2] !== b[2]) return a[2] < b[2] ? -1 : 1;
  return a[3] === b[3] ? 0 : a[3] < b[3] ? -1 : 1;
}

function firstAfter(candidates: readonly Candidate[], place: Place, sign: number): number {
  const at = candidates.findIndex((candidate) => comparePlaces(placeOf(candidate), place, sign) > 0);
  return at < 0 ? candidates.length : at;
}

function toPlace([key, startedAtMs, source, runId, ...more]: readonly unknown[]): Place | undefined {
  const isPlace =
    typeof key === 'number' &&
    typeof startedAtMs === 'number' &&
    typeof source === 'string' &&
    typeof runId === 'string' &&
    more.length === 0;
  return isPlace ? [key, startedAtMs, source, runId] : undefined;
}
