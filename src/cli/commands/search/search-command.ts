import { CoxswainError } from '../../../core/base/error.ts';
import { present } from '../../../core/base/json.ts';
import { KINDS } from '../../../core/records/kinds.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import type { SearchHit, StoreReader } from '../../../core/store/trajectory-store.ts';
import { choiceOption, limitOf } from '../../terminal/option-values.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { openReadableStore, shownStore, storeNamed } from '../../runs/open-store.ts';
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
  const store = await openReadableStore(file);
  try {
    const run = options.run === undefined ? undefined : await namedRun(store, options.run, file);
    const query = {
      text: words.join(' '),
      limit,
      ...present({ runId: run?.runId, kinds, after: options.after }),
    };
    const { damaged = [], hits, next, notIndexed } = await store.search(query);
    const places = options.json === true ? new Map<string, string>() : await placesOf(store, hits);
    for (const hit of hits) {
      const place = places.get(`${hit.runId} ${hit.seq}`);
      await terminal.write(options.json === true ? outputLine(hit) : hitText(hit, place, terminal));
    }
    if (hits.length === 0) terminal.complain(`coxswain: nothing found in ${await searchedText(store, file)}`);
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

/** Session files are not searched: an empty store says nothing about them. */
async function searchedText(store: Pick<StoreReader, 'listRuns'>, file: string): Promise<string> {
  const { runs } = await store.listRuns({ limit: 1 });
  return runs.length > 0 ? shownStore(file) : `${shownStore(file)}: it has no run, and session files are not searched`;
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
        if (call !== undefined) places.set(`${runId} ${record.seq}`, `call ${call.number}`);
        else if (view.calls > 0) places.set(`${runId} ${record.seq}`, `after call ${view.calls}`);
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
