import { keyNumber, type CallKey } from './call-keys.ts';
import { keyRunsOf, type FailedCall, type KeyRun } from './failed-calls.ts';
import type { RunFacts } from './run-facts.ts';

/** A key holds if it failed in this number of earlier sessions, and in this share of those that ran it. */
const MIN_SESSIONS = 2;
const MIN_SHARE = 0.8;
const MAX_KEYS = 50_000;
const MAX_FAILURES = 20_000;

export interface LessonRun extends Pick<
  RunFacts,
  'id' | 'parentId' | 'source' | 'startedAtMs' | 'failures' | 'keys' | 'instructions'
> {
  readonly project?: string | undefined;
}

export interface PlacedFailure extends FailedCall {
  readonly runId: string;
  readonly source: string;
  readonly sessionId: string;
  readonly numbers: readonly number[];
}

export interface LessonSession {
  readonly id: string;
  readonly startedAtMs: number;
  readonly failures: readonly PlacedFailure[];
  readonly keys: ReadonlyMap<number, KeyRun & { readonly runId: string }>;
}

/** A key in the sessions so far, from the first one in which it failed. */
export interface KeyState {
  readonly key: CallKey;
  readonly ran: number;
  /** Number of sessions in which its first or its last call failed. */
  readonly failed: number;
  /** Number of sessions in which no call with it failed for its reason. */
  readonly fine: number;
  readonly lastFailed: boolean;
  /** True if it failed in the last session, and then worked. */
  readonly lastRecovered: boolean;
  readonly wasHeld: boolean;
}

/** Joins the runs of one project into sessions, the earliest first. A subagent belongs to the session that started it. */
export function sessionsOf(runs: readonly LessonRun[]): readonly LessonSession[] {
  const parents = new Map(runs.map(({ id, parentId }) => [id, parentId]));
  const inOrder = runs.toSorted((a, b) => a.startedAtMs - b.startedAtMs || (a.id < b.id ? -1 : 1));
  const bySession = Map.groupBy(inOrder, ({ id }) => rootOf(id, parents));
  const seen = new Set<string>();
  const failed = repeatedKeys(bySession);
  return [...bySession].map(([id, members]) => {
    const keys = new Map<number, KeyRun & { readonly runId: string }>();
    for (const run of failed.size === 0 ? [] : members) {
      for (const one of keyRunsOf(run.keys, failed)) {
        const known = keys.get(one.key);
        if (known === undefined) keys.set(one.key, { ...one, runId: run.id });
        else if (one.last !== 'none') keys.set(one.key, { ...known, last: one.last });
      }
    }
    const failures = members.flatMap((run) =>
      run.failures.filter((failure) => isNew(failure, seen)).map((failure) => placed(failure, run, id)),
    );
    return { id, startedAtMs: members[0]?.startedAtMs ?? 0, failures, keys };
  });
}

/** A key that failed in fewer sessions teaches nothing, and few keys failed in more. */
function repeatedKeys(bySession: ReadonlyMap<string, readonly LessonRun[]>): ReadonlySet<number> {
  const sessions = new Map<number, number>();
  for (const members of bySession.values()) {
    const failures = members.flatMap((run) => run.failures.filter(({ kind }) => kind !== 'check'));
    for (const number of new Set(failures.flatMap(({ keys }) => keys.map(keyNumber))))
      sessions.set(number, (sessions.get(number) ?? 0) + 1);
  }
  return new Set([...sessions].filter(([, count]) => count >= MIN_SESSIONS).map(([number]) => number));
}

/** A resumed session begins with a copy of the calls of the session before it. */
function isNew({ atMs, number, shown }: FailedCall, seen: Set<string>): boolean {
  if (atMs === 0) return true;
  const text = `${atMs} ${number} ${shown}`;
  return !seen.has(text) && seen.add(text) !== undefined;
}

function placed(failure: FailedCall, { id, source }: LessonRun, sessionId: string): PlacedFailure {
  return { ...failure, runId: id, source, sessionId, numbers: failure.keys.map(keyNumber) };
}

function rootOf(id: string, parents: ReadonlyMap<string, string | undefined>): string {
  let root = id;
  for (let depth = 0; depth < 8; depth += 1) {
    const parent = parents.get(root);
    if (parent === undefined) break;
    root = parent;
  }
  return root;
}

/** The keys of one project, learned session by session. Memory: 50,000 keys and 20,000 failures. */
export class LessonBook {
  readonly #states = new Map<number, KeyState>();
  readonly #failures: PlacedFailure[] = [];

  /** Adds the next session. Sessions are added in the order of time. */
  learn({ failures, keys }: LessonSession): void {
    const failed = new Map<number, CallKey>();
    for (const failure of failures) {
      if (failure.kind === 'check') continue;
      if (this.#failures.length < MAX_FAILURES) this.#failures.push(failure);
      for (const [index, key] of failure.keys.entries()) failed.set(failure.numbers[index] ?? 0, key);
    }
    for (const { first, key: number, last } of keys.values()) {
      const key = this.#states.get(number)?.key ?? failed.get(number);
      if (key === undefined || last === 'none') continue;
      const hasFailed = failed.has(number);
      // A copy of calls of an earlier session is no failure of its own.
      if (last === 'failed' && !hasFailed) continue;
      const state = this.#states.get(number) ?? { ...NEW, key };
      if (!this.#states.has(number) && this.#states.size >= MAX_KEYS) continue;
      const isFailed = hasFailed && (first === 'failed' || last === 'failed');
      const next = {
        ran: state.ran + 1,
        failed: state.failed + (isFailed ? 1 : 0),
        fine: state.fine + (hasFailed ? 0 : 1),
        lastFailed: last === 'failed',
        lastRecovered: hasFailed && last === 'worked',
      };
      this.#states.set(number, { ...state, ...next, wasHeld: state.wasHeld || holds(next) });
    }
  }

  get held(): ReadonlyMap<number, KeyState> {
    return new Map([...this.#states].filter(([, { wasHeld }]) => wasHeld));
  }

  stateOf(number: number | undefined): KeyState | undefined {
    return number === undefined ? undefined : this.#states.get(number);
  }

  armed(number: number): KeyState | undefined {
    const state = this.#states.get(number);
    return state !== undefined && holds(state) && state.lastFailed ? state : undefined;
  }

  get failures(): readonly PlacedFailure[] {
    return this.#failures;
  }
}

const NEW = { ran: 0, failed: 0, fine: 0, lastFailed: false, lastRecovered: false, wasHeld: false } as const;

/** True if it failed in enough of the sessions so far. */
export function holds({ failed, ran }: Pick<KeyState, 'failed' | 'ran'>): boolean {
  return failed >= MIN_SESSIONS && failed >= MIN_SHARE * ran;
}
