import type { TimeSpan } from '../../../base/deadline.ts';
import { LruMap } from '../../../base/lru-map.ts';
import type { ReadRun, ReadRunsItem } from '../../../formats/read-runs.ts';
import type { Notifier } from '../../../notify/notifier.ts';
import { RunNotifications } from '../../../notify/run-notifications.ts';
import type { Problems } from '../../runs/problems.ts';
import { RunLabels } from './run-labels.ts';
import type { WatchedEvent } from './watched-item.ts';
import { WatchedRun } from './watched-run.ts';

/** Runs that are watched at a time. */
const MAX_OPEN = 256;

/** Takes what happens in runs. */
export interface WatchedFeed {
  take(event: WatchedEvent): Promise<void>;
  /** More calls have begun in some run. */
  called(count: number): void;
}

/** What a `Watcher` works with. */
export interface WatcherParts {
  readonly feed: WatchedFeed;
  readonly notifiers: readonly Notifier[];
  readonly deadline: TimeSpan | undefined;
}

/** What is known of the source of an item. */
export interface WatchedSource {
  readonly problems: Problems;
  /** Whether the item is news, of which people are notified. */
  readonly isLive: (atMs: number) => boolean;
  /** What its runs are called; default: by their ids. */
  readonly name?: string;
  /** Steered runs of a store: their patterns and advice are those on record. */
  readonly isStore?: boolean;
}

/** Folds the records of runs and hands on what a reader should know. Of more than 256 runs the one that was silent longest is given up. */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #notices: RunNotifications;
  readonly #labels = new RunLabels();
  readonly #open = new LruMap<WatchedRun>(MAX_OPEN);
  readonly #begun = new WeakSet<ReadRun>();
  readonly #givenUp = new WeakSet<ReadRun>();

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.#notices = new RunNotifications({ deadline: parts.deadline });
  }

  async take(item: ReadRunsItem, source: WatchedSource): Promise<void> {
    const { feed, notifiers } = this.#parts;
    if (item.type === 'end') this.#open.delete(keyOf(item.run, source));
    if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') source.problems.fault(item.diagnostic);
    if (item.type !== 'record') return;
    const watched = this.#of(item.run, source);
    if (watched === undefined) return;
    const { calls } = watched;
    const seen = watched.take(item.record);
    feed.called(watched.calls - calls);
    for (const { record, events } of seen) {
      for (const notice of this.#notices.take(record, item.run.id)) {
        if (source.isLive(record.recorded_at_unix_ms)) for (const notifier of notifiers) notifier.tell(notice);
      }
      for (const event of events) await feed.take(event);
    }
  }

  /** The watch over a run; undefined when it was given up. */
  #of(run: ReadRun, source: WatchedSource): WatchedRun | undefined {
    const { isStore = false, name, problems } = source;
    const known = this.#open.get(keyOf(run, source));
    if (known !== undefined) return known;
    if (this.#begun.has(run)) {
      if (!this.#givenUp.has(run)) {
        const message = `run ${run.id} goes on after ${MAX_OPEN} other runs; it is no longer watched`;
        problems.note({ message });
      }
      this.#givenUp.add(run);
      return undefined;
    }
    const label = this.#labels.take(run.id, name);
    const watched = new WatchedRun(run, { label, deadline: this.#parts.deadline, isStore });
    this.#begun.add(run);
    this.#open.set(keyOf(run, source), watched);
    return watched;
  }
}

/** A run that a transcript and a store hold is read by itself from each. */
function keyOf({ id }: ReadRun, { isStore = false }: WatchedSource): string {
  return `${isStore ? 'store' : 'file'} ${id}`;
}
