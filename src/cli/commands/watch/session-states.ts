import { systemClock } from '../../../core/base/clock.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import { sessionIdOf } from '../../../formats/find-sessions.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { secretRemover } from '../../runs/run-totals.ts';
import type { SessionState } from './watcher.ts';
import { withoutNumber } from '../../../core/facts/task-title.ts';

/** A file that has not changed for this long is read to its end, in milliseconds. */
const SETTLED_MS = 60_000;

/** The session files, each read to its end once it has not changed for a minute. */
export class SessionStates {
  readonly #files = new Map<string, SessionState>();
  /** The path of each session's file by the session's id, with which the names of such files end. */
  readonly #paths = new Map<string, string>();
  readonly #withoutSecrets = secretRemover();

  async look(path: string, changedAtMs: number): Promise<void> {
    const known = this.#files.get(path);
    const isSame = known?.changedAtMs === changedAtMs;
    if (isSame && known.views !== undefined) return;
    this.#paths.set(sessionIdOf(path), path);
    const isSettled = systemClock.nowMs() - changedAtMs >= SETTLED_MS;
    this.#files.set(path, { changedAtMs, views: isSettled ? await this.#viewsIn(path) : undefined });
  }

  of(path: string): SessionState | undefined {
    return this.#files.get(path);
  }

  ofRun(runId: string): SessionState | undefined {
    const path = this.#paths.get(withoutNumber(runId));
    return path === undefined ? undefined : this.of(path);
  }

  async #viewsIn(path: string): Promise<ReadonlyMap<string, RunView>> {
    const views = new Map<string, RunView>();
    try {
      for await (const item of readRuns(importSource(path), { source: path })) {
        if (item.type !== 'record') continue;
        const view = views.get(item.run.id) ?? new RunView();
        views.set(item.run.id, view);
        view.fold(this.#withoutSecrets(item.record));
      }
    } catch {
      // Following the file reports the reason.
    }
    return views;
  }
}
