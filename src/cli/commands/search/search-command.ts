import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { present, textsIn } from '../../../core/base/json.ts';
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
import { commandLineOf } from '../../../core/facts/check-command.ts';
import type { RunCall } from '../../../core/facts/run-call.ts';
import { textOfContent } from '../../../core/records/agent-message.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { printableCut, outputLine } from '../../../core/base/printable.ts';
import { idStartOf, keptNumbers, namedRun } from '../../runs/numbered-runs.ts';
import { localTimeText, zoneText } from '../../terminal/time-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface SearchOptions {
  readonly store?: string;
  readonly run?: string;
  readonly kind?: readonly string[];
  readonly limit?: string;
  readonly after?: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

const MAX_DAMAGED = 10;
const OF_PROJECT = ' in the records of this project (--all: all session files)';

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
  if (isOfStore && options.all === true)
    throw invalidArgument('--all searches session files, so without --store, --run and --after');
  if (options.all === true || (!isOfStore && isMissing(file))) return searchFiles(query, options, terminal);
  const store = await openReadableStore(file);
  try {
    const run = options.run === undefined ? undefined : await namedRun(store, options.run, file);
    const found = await store.search({ ...query, ...present({ runId: run?.runId, after: options.after }) });
    const { damaged = [], hits, next, notIndexed } = found;
    if (!isOfStore && hits.length === 0 && notIndexed === 0 && damaged.length === 0)
      return await searchFiles(query, options, terminal);
    if (options.json === true) for (const hit of hits) await terminal.write(outputLine(hit));
    else await writeHits(hits, query.text, await seenOf(store, hits), isOfStore ? '' : OF_PROJECT, terminal);
    if (hits.length === 0) terminal.complain(`coxswain: nothing found in ${shownStore(file)}`);
    if (notIndexed > 0) {
      const count = countOf(notIndexed, 'record');
      terminal.complain(
        `coxswain: ${count} not searched because they are not indexed yet; the next process that records indexes them`,
      );
    }
    for (const { runId, seq } of damaged.slice(0, MAX_DAMAGED)) {
      const place = `run ${printableCut(runId, 80)}${seq === undefined ? '' : `, seq ${seq}`}`;
      terminal.complain(`coxswain: left out: ${place} is damaged; coxswain verify has more`);
    }
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
  const seen = new Map<string, SeenHit>();
  const sessions = machineSessions().flatMap((host) => host.sessions);
  let files = 0;
  for (const session of sessions.toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs)) {
    const last = scan.hits[checked.limit];
    if (last !== undefined && session.modifiedAtMs < last.atMs) break;
    files += 1;
    problems.source(session.path);
    try {
      for await (const { found, record } of matchesIn(session, checked)) {
        scan.offer(record);
        seen.set(`${record.run_id} ${record.seq}`, found);
      }
    } catch (error) {
      problems.failure(error);
    }
    problems.endSource();
  }
  const hits = scan.hits.slice(0, checked.limit);
  const where = `${countOf(files, 'session file')} of this machine`;
  if (json === true) for (const hit of hits) await terminal.write(outputLine(hit));
  else await writeHits(hits, query.text, seen, ` in ${where}`, terminal);
  if (scan.hits.length === 0) terminal.complain(`coxswain: nothing found in recorded runs and in ${where}`);
  if (scan.hits.length > checked.limit) terminal.complain(`coxswain: more follow: --limit ${checked.limit * 2}`);
  return problems.any ? 1 : 0;
}

async function* matchesIn(
  session: FoundSession,
  { phrases }: CheckedSearchQuery,
): AsyncGenerator<{ readonly record: TrajectoryRecord; readonly found: SeenHit }> {
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
      const shown = { ...withoutSecrets(record), run_id: run.id };
      yield { record: shown, found: seenHit(shown, view, call) };
    }
  }
}

/** A hit as a person reads it: the call, what it is, and its text in one line. */
interface SeenHit {
  readonly place: string;
  readonly what: string;
  readonly text: string;
}

const ROLES: Readonly<Record<string, string>> = { assistant: 'agent', tool_result: 'result' };

function seenHit({ payload }: TrajectoryRecord, { calls }: RunView, call: RunCall | undefined): SeenHit {
  const place = call === undefined ? (calls > 0 ? `after call ${calls}` : 'start') : `call ${call.number}`;
  switch (payload.kind) {
    case 'message_appended': {
      const { content, role } = payload.message;
      return { place, what: ROLES[role] ?? role, text: textOfContent(content) };
    }
    case 'tool_started':
      return { place, what: payload.tool_name, text: commandLineOf(payload.args) ?? textsIn(payload.args).join(' ') };
    case 'tool_ended':
      return { place, what: `${payload.tool_name} result`, text: textsIn(payload.result).join(' ') };
    default:
      return { place, what: kindText(payload.kind), text: '' };
  }
}

function kindText(kind: string): string {
  return kind.replaceAll('_', ' ');
}

async function seenOf(
  store: Pick<StoreReader, 'readRun'>,
  hits: readonly SearchHit[],
): Promise<ReadonlyMap<string, SeenHit>> {
  const seen = new Map<string, SeenHit>();
  for (const [runId, found] of Map.groupBy(hits, (hit) => hit.runId)) {
    const wantedSeqs = new Set(found.map(({ seq }) => seq));
    const view = new RunView();
    try {
      for await (const record of store.readRun(runId)) {
        const call = view.fold(record);
        if (!wantedSeqs.delete(record.seq)) continue;
        seen.set(`${runId} ${record.seq}`, seenHit(record, view, call));
        if (wantedSeqs.size === 0) break;
      }
    } catch (error) {
      // Hits after a damaged record are shown without a call number.
      if (!(error instanceof CoxswainError) || error.code === 'store-closed') throw error;
    }
  }
  return seen;
}

const CHARS_BEFORE = 24;
const WHAT_CHARS = 24;
const LEAST_TEXT_CHARS = 40;
const ID_CHARS = 80;
/** The time in the id of a session of Codex, and some of its random part. */
const ID_START_CHARS = 18;

/** One line for each hit: time, session, call, what, and the text around the words. */
async function writeHits(
  hits: readonly SearchHit[],
  query: string,
  seen: ReadonlyMap<string, SeenHit>,
  where: string,
  terminal: Terminal,
): Promise<void> {
  const numbers = keptNumbers();
  const rows = hits.map(({ atMs, kind, runId, seq, snippet }) => {
    const { place = '', text = '', what = kindText(kind) } = seen.get(`${runId} ${seq}`) ?? {};
    const session = numbers.get(runId)?.toString() ?? shownId(runId);
    const time = atMs > 0 ? localTimeText(atMs) : '';
    return { facts: [time, session, place, printableCut(what, WHAT_CHARS)], text, snippet };
  });
  const [first] = rows;
  if (first === undefined) return;
  const widths = first.facts.map((_fact, column) => Math.max(...rows.map(({ facts }) => facts[column]?.length ?? 0)));
  const times = hits.find(({ atMs }) => atMs > 0)?.atMs;
  const zone = times === undefined ? '' : `, times in ${zoneText(times)}`;
  await terminal.write(
    terminal.paint(
      'dim',
      `${countOf(hits.length, 'hit')}${where}, the newest first${zone}; coxswain show SESSION --call N shows a call\n`,
    ),
  );
  for (const { facts, snippet, text } of rows) {
    const shown = facts.map((fact, column) => fact.padEnd(widths[column] ?? 0));
    const start = shown.filter((fact) => fact !== '').join('  ');
    const room = Math.max(LEAST_TEXT_CHARS, terminal.width - start.length - 2);
    await terminal.write(
      `${terminal.paint('bold', start)}  ${printableCut(textAround(text, query) ?? oneLine(snippet), room)}\n`,
    );
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The text from a few characters before its longest word that was searched. Undefined if it has none, as for words in an id. */
function textAround(text: string, query: string): string | undefined {
  const line = oneLine(text);
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  const found = words
    .toSorted((a, b) => b.length - a.length)
    .map((word) => line.search(new RegExp(`(?<![\\p{L}\\p{N}])${word}`, 'iu')));
  const at = found.find((index) => index >= 0);
  if (at === undefined) return undefined;
  return at > CHARS_BEFORE ? `…${line.slice(at - CHARS_BEFORE).toWellFormed()}` : line;
}

/** Enough of the id for `coxswain show`. */
function shownId(runId: string): string {
  const start = idStartOf(runId);
  return printableCut(/^[\da-f-]{36}$/.test(start) ? start.slice(0, ID_START_CHARS) : start, ID_CHARS);
}
