import { systemClock } from '../../core/base/clock.ts';
import { hashText } from '../../core/base/hash.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { laterVerdict, mayGoOn } from '../../core/facts/run-verdict.ts';
import type { FoundSource } from '../../formats/find-sources.ts';
import { stateOfSession } from '../../formats/find-sessions.ts';
import { storedFiles } from '../../formats/opencode/opencode.ts';
import { FactsCache } from './facts-cache.ts';
import { pricesInForce } from './open-store.ts';
import { standsAs, type Standing } from './run-standing.ts';
import type { SessionAnswer } from './session-threads.ts';

/** The last line of a session that is being written may be incomplete, or all of a file that has no lines. */
export const AT_REST_MS = 60_000;

interface About {
  readonly taken: SessionAnswer['taken'];
  readonly asked: SessionAnswer['asked'];
  readonly stands: readonly (readonly [sessionId: string, as: string])[];
}

/**
 * What was read from files of sessions at rest and from recorded runs, across processes. It is kept and used only if another reading would
 * give the same: the file or the summary, the processes of its sessions, the prices and the build are the same, and no run may be at work.
 */
export class KeptAnswers {
  readonly #cache: FactsCache;
  readonly #standing: Standing | undefined;
  #print: string | undefined;

  constructor(folder: string, standing: Standing | undefined) {
    this.#cache = new FactsCache(folder, 'reports');
    this.#standing = standing;
  }

  /** Changes with the file. Undefined for a file that may be changing, and for a database. */
  printOf({ format, path }: FoundSource): string | undefined {
    if (path.endsWith('.db')) return undefined;
    const others = format === 'opencode' && path.endsWith('.json') ? storedFiles(path) : [];
    const states = [path, ...others].map((file) => stateOfSession(file));
    const [own] = states;
    const modifiedAtMs = Math.max(...states.map((state) => state?.modifiedAtMs ?? 0));
    if (own?.isFile !== true || systemClock.nowMs() - modifiedAtMs < AT_REST_MS) return undefined;
    const bytes = states.reduce((sum, state) => sum + (state?.bytes ?? 0), 0);
    return this.#printWith(`${states.length} ${bytes} ${modifiedAtMs}`);
  }

  printOfRun(summary: RunSummary): string {
    return this.#printWith(JSON.stringify(summary));
  }

  #printWith(text: string): string {
    this.#print ??= hashText(JSON.stringify(pricesInForce() ?? null));
    return `${this.#print} ${text}`;
  }

  /**
   * @param place  the whole path of a file, or what names a recorded run
   * @param sinceMs  runs whose last record is earlier are left out, as in `runsOfSource`
   */
  find(place: string, print: string, sinceMs: number): SessionAnswer | undefined {
    const kept = this.#cache.get(place, print);
    if (kept === undefined) return undefined;
    // `keep` stores the same shape.
    const { asked, stands, taken } = kept.about as unknown as About;
    if (stands.some(([id, as]) => standsAs(id, this.#standing) !== as)) return undefined;
    const nowMs = systemClock.nowMs();
    const events: SessionAnswer['events'][number][] = [];
    for (const run of kept.runs) {
      const { lastAtMs } = run;
      const isOld = lastAtMs > 0 && lastAtMs < sinceMs;
      const later = factsAt(run, nowMs);
      // It may have been left open (`isLeftOpen`).
      if (later === undefined || (isOld && mayGoOn(run.verdict))) return undefined;
      if (!isOld) events.push({ type: 'run', run: later });
      else if (run.parentId === undefined) events.push({ type: 'left out' });
    }
    return { asked, events, stands: [], taken };
  }

  keep(place: string, print: string, { asked, events, stands, taken }: SessionAnswer): void {
    const nowMs = systemClock.nowMs();
    const runs = events.flatMap((event) => (event.type === 'run' && isSettled(event.run, nowMs) ? [event.run] : []));
    if (runs.length < events.length) return;
    const standings = stands.map((id) => [id, standsAs(id, this.#standing)] as const);
    if (standings.some(([, as]) => as === 'open')) return;
    const about = { asked, stands: standings, taken } satisfies About;
    this.#cache.put(place, print, { about, runs });
  }

  close(): void {
    this.#cache.close();
  }
}

function isSettled(run: RunFacts, nowMs: number): boolean {
  const isWhole = run.problem === undefined && run.diagnostics.every(({ severity }) => severity === 'note');
  return isWhole && factsAt(run, nowMs) !== undefined;
}

/** The facts of a run that has ended or is silent, at a later time. Undefined if they may be others then. */
function factsAt(run: RunFacts, nowMs: number): RunFacts | undefined {
  const { lastAtMs, moments, verdict } = run;
  const later = lastAtMs > nowMs ? undefined : laterVerdict(verdict, nowMs - lastAtMs);
  if (later === undefined || later === verdict) return later && run;
  const { evidence } = verdict;
  const atEnd = moments.findIndex(({ what }) => what === evidence);
  const end = moments[atEnd];
  if (end === undefined) return { ...run, verdict: later };
  return { ...run, verdict: later, moments: moments.with(atEnd, { ...end, what: later.evidence }) };
}
