import { CoxswainError } from '../../../core/base/error.ts';
import { present } from '../../../core/base/json.ts';
import { KINDS } from '../../../core/records/kinds.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import type { SearchHit, SearchQuery, StoreReader } from '../../../core/store/trajectory-store.ts';
import { choiceOption, limitOf } from '../../terminal/option-values.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { isMissing, machineSessions, openReadableStore, shownStore, storeNamed } from '../../runs/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import { secretRemover } from '../../runs/run-totals.ts';
import { checkSearchQuery, createSearchScan, toHit, type CheckedSearchQuery } from '../../../core/store/search-page.ts';
import { filesOfSessions, type FoundSession } from '../../../formats/find-sessions.ts';
import { importSource } from '../../../formats/import-source.ts';
import { importersOf } from '../../../formats/importers.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import type { RunCall } from '../../../core/facts/run-call.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { printableCut, outputLine } from '../../../core/base/printable.ts';
import { namedRun } from '../../runs/numbered-runs.ts';
import { timeText } from '../../terminal/time-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface SearchOptions {
  readonly store?: string;
  readonly run?: string;
  readonly kind?: readonly string[];
  readonly limit?: string;
  readonly after?: string;
  readonly json?: boolean;
}

const MAX_DAMAGED = 10;

export async function searchCommand(
  words: readonly string[],
  options: SearchOptions,
  terminal: Terminal,
): Promise<number> {
  const limit = limitOf(options.limit);
  const kinds = options.kind?.map((kind) => choiceOption('--kind', kind, Object.keys(KINDS)));
  const file = storeNamed(options.store, terminal);
  const query = { text: words.join(' '), limit, ...present({ kinds }) };
  const isOfStore = [options.store, options.run, options.after].some((option) => option !== undefined);
  if (!isOfStore && isMissing(file)) return searchFiles(query, options, terminal);
  const store = await openReadableStore(file);
  try {
    const run = options.run === undefined ? undefined : await namedRun(store, options.run, file);
    const found = await store.search({ ...query, ...present({ runId: run?.runId, after: options.after }) });
    const { damaged = [], hits, next, notIndexed } = found;
    if (!isOfStore && hits.length === 0 && notIndexed === 0 && damaged.length === 0)
      return await searchFiles(query, options, terminal);
    const places = options.json === true ? new Map<string, string>() : await placesOf(store, hits);
    for (const hit of hits) {
      const place = places.get(`${hit.runId} ${hit.seq}`);
      await terminal.write(options.json === true ? outputLine(hit) : hitText(hit, place, terminal));
    }
    if (hits.length === 0) terminal.complain(`coxswain: nothing found in ${shownStore(file)}`);
    if (notIndexed > 0) {
      const count = countOf(notIndexed, 'record');
      terminal.complain(
        `coxswain: ${count} not searched because they are not indexed yet; the next process that records indexes them`,
      );
    }
    for (const place of damaged.slice(0, MAX_DAMAGED)) terminal.complain(`coxswain: left out: ${damagedText(place)}`);
    if (damaged.length > MAX_DAMAGED)
      terminal.complain(`coxswain: and ${countText(damaged.length - MAX_DAMAGED)} more`);
    if (next !== undefined) terminal.complain(`coxswain: more follow: --after ${next}`);
    return damaged.length === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** Searches what the agent programs keep on this machine, the newest session first, as far back as the limit needs. */
async function searchFiles(query: SearchQuery, { json }: SearchOptions, terminal: Terminal): Promise<number> {
  const checked = checkSearchQuery(query);
  const scan = createSearchScan(checked);
  const problems = new Problems(terminal);
  const places = new Map<string, string>();
  const sessions = machineSessions().flatMap((host) => host.sessions);
  let files = 0;
  for (const session of sessions.toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs)) {
    const last = scan.hits[checked.limit];
    if (last !== undefined && session.modifiedAtMs < last.atMs) break;
    files += 1;
    problems.source(session.path);
    try {
      for await (const { place, record } of matchesIn(session, checked)) {
        scan.offer(record);
        if (place !== undefined) places.set(`${record.run_id} ${record.seq}`, place);
      }
    } catch (error) {
      problems.failure(error);
    }
    problems.endSource();
  }
  for (const hit of scan.hits.slice(0, checked.limit)) {
    const text = json === true ? outputLine(hit) : hitText(hit, places.get(`${hit.runId} ${hit.seq}`), terminal);
    await terminal.write(text);
  }
  const where = `${countOf(files, 'session file')} of this machine`;
  if (scan.hits.length === 0) terminal.complain(`coxswain: nothing found in recorded runs and in ${where}`);
  if (scan.hits.length > checked.limit) terminal.complain(`coxswain: more follow: --limit ${checked.limit * 2}`);
  return problems.any ? 1 : 0;
}

async function* matchesIn(
  session: FoundSession,
  { phrases }: CheckedSearchQuery,
): AsyncGenerator<{ readonly record: TrajectoryRecord; readonly place: string | undefined }> {
  const withoutSecrets = secretRemover();
  for await (const { format, path } of filesOfSessions([session], 0)) {
    const views = new Map<string, RunView>();
    const importing = importSource(path, { format, ...present({ importers: importersOf(format) }) });
    for await (const item of readRuns(importing, { source: path })) {
      if (item.type !== 'record') continue;
      const { record, run } = item;
      const view = views.get(run.id) ?? new RunView({ hasWork: false });
      views.set(run.id, view);
      const call = view.fold(record);
      if (toHit(record, phrases) === undefined) continue;
      yield { record: { ...withoutSecrets(record), run_id: run.id }, place: placeOf(view, call) };
    }
  }
}

function placeOf({ calls }: RunView, call: RunCall | undefined): string | undefined {
  if (call !== undefined) return `call ${call.number}`;
  return calls > 0 ? `after call ${calls}` : undefined;
}

function damagedText({ runId, seq }: { readonly runId: string; readonly seq?: number }): string {
  return `run ${printableCut(runId, 80)}${seq === undefined ? '' : `, seq ${seq}`} is damaged; coxswain verify has more`;
}

async function placesOf(
  store: Pick<StoreReader, 'readRun'>,
  hits: readonly SearchHit[],
): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>();
  for (const [runId, found] of Map.groupBy(hits, (hit) => hit.runId)) {
    const wantedSeqs = new Set(found.map(({ seq }) => seq));
    const view = new RunView();
    try {
      for await (const record of store.readRun(runId)) {
        const call = view.fold(record);
        if (!wantedSeqs.delete(record.seq)) continue;
        const place = placeOf(view, call);
        if (place !== undefined) places.set(`${runId} ${record.seq}`, place);
        if (wantedSeqs.size === 0) break;
      }
    } catch (error) {
      // Hits after a damaged record are shown without a call number.
      if (!(error instanceof CoxswainError) || error.code === 'store-closed') throw error;
    }
  }
  return places;
}

function hitText({ runId, atMs, kind, snippet }: SearchHit, place: string | undefined, { paint }: Terminal): string {
  const facts = [
    ...(place === undefined ? [] : [place]),
    printableCut(kind.replaceAll('_', ' '), 60),
    ...(atMs > 0 ? [timeText(atMs)] : []),
  ];
  return `${paint('bold', facts.join(', '))}  ${paint('dim', `run ${printableCut(runId, 80)}`)}\n  ${printableCut(snippet, 200)}\n`;
}
