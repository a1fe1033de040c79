import { LruMap } from '../base/lru-map.ts';
import { failedKeysOf, isCheckFailure, keyNumber, keysOf, teachesNothing } from './call-keys.ts';
import type { RunCall } from './run-call.ts';

const SESSIONS = 5;
const WITHIN_MS = 3_600_000;
const MAX_KEYS = 5_000;

export interface FleetFailure {
  /** Continues "The run …". May contain a command of the agent. */
  readonly text: string;
  /** Unix milliseconds of the first failure. */
  readonly sinceMs: number;
}

interface Failing {
  readonly sessions: ReadonlyMap<string, number>;
  readonly isTold: boolean;
}

/** A failure that begins in five sessions of a project within an hour, reported once; not of checks. Memory: 5,000 keys. */
export class FleetFailures {
  readonly #keys = new LruMap<Failing>(MAX_KEYS);

  /** @param cause  the line that states the failure of the call */
  take(
    { args, tool }: Pick<RunCall, 'args' | 'tool'>,
    cause: string,
    { atMs, project, session }: { readonly project: string; readonly session: string; readonly atMs: number },
  ): FleetFailure | undefined {
    if (isCheckFailure(args, cause) || teachesNothing(args, cause)) return undefined;
    let found: FleetFailure | undefined;
    for (const key of failedKeysOf(keysOf(tool, args), cause)) {
      const id = `${project} ${keyNumber(key)}`;
      const { isTold, sessions } = this.#keys.get(id) ?? { sessions: new Map<string, number>(), isTold: false };
      const all = new Map(sessions);
      if (!all.has(session) && all.size < SESSIONS) all.set(session, atMs);
      const sinceMs = Math.min(...all.values());
      // A failure of which the first session is older is not new.
      const isFound = !isTold && all.size >= SESSIONS && atMs - sinceMs <= WITHIN_MS;
      this.#keys.set(id, { sessions: all, isTold: isTold || all.size >= SESSIONS });
      if (isFound)
        found = { text: `is one of ${SESSIONS} sessions in which "${key.text.slice(0, 80)}" failed`, sinceMs };
    }
    return found;
  }
}
