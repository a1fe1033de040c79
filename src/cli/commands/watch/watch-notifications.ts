import { deadlineAfter, isExpired, type Deadline, type TimeSpan } from '../../../base/deadline.ts';
import { LruMap } from '../../../base/lru-map.ts';
import { isCutOff } from '../../../run-view/run-verdict.ts';
import type { Notification } from '../notify/notification.ts';
import type { WatchedEvent } from './watched-item.ts';

const MAX_RUNS = 256;

interface RunNotes {
  readonly isSubagent: boolean;
  readonly deadline: Deadline | undefined;
  wasAdvised: boolean;
  isOverDeadline: boolean;
}

/**
 * What of the watched events people are notified of. A subagent's end is no news. Memory: 256 runs.
 *
 * @param deadline  from the first event of a run that is no subagent
 */
export class WatchNotifications {
  readonly #deadline: TimeSpan | undefined;
  readonly #runs = new LruMap<RunNotes>(MAX_RUNS);

  constructor(deadline: TimeSpan | undefined) {
    this.#deadline = deadline;
  }

  /** Takes the next event, also one that happened before anyone was to be notified. */
  take(event: WatchedEvent): readonly Notification[] {
    const notes = this.#notesOf(event);
    const { run, atMs } = event;
    const told: Notification[] = [];
    if (
      notes.deadline !== undefined &&
      atMs !== undefined &&
      !notes.isOverDeadline &&
      isExpired(notes.deadline, atMs)
    ) {
      notes.isOverDeadline = true;
      told.push({ event: 'deadline', run, message: `Run ${run} is over its deadline.` });
    }
    if (event.type === 'advice') notes.wasAdvised = true;
    if (event.type === 'pattern') told.push(...patternNotes(event, notes.wasAdvised));
    if (event.type === 'run_ended' && !notes.isSubagent) {
      const failed = event.success === false || (event.success === undefined && isCutOff(event));
      const message = `Run ${run} ${failed ? 'failed' : 'ended'}: outcome ${event.outcome}.`;
      told.push({ event: failed ? 'failed' : 'ended', run, message });
    }
    return told;
  }

  #notesOf(event: WatchedEvent): RunNotes {
    const known = this.#runs.get(event.run);
    if (known !== undefined) return known;
    const isSubagent = event.type === 'run_started' && event.parentRun !== undefined;
    const span = isSubagent ? undefined : this.#deadline;
    const deadline = span === undefined || event.atMs === undefined ? undefined : deadlineAfter(event.atMs, span);
    const notes = { isSubagent, deadline, wasAdvised: false, isOverDeadline: false };
    this.#runs.set(event.run, notes);
    return notes;
  }
}

function patternNotes(
  { run, change, pattern }: WatchedEvent & { readonly type: 'pattern' },
  wasAdvised: boolean,
): readonly Notification[] {
  if (!pattern.stuck || pattern.level === 'hint' || change === 'cleared') return [];
  const by = pattern.tool === undefined ? '' : ` of ${pattern.tool}`;
  const what = `${pattern.kind}${by}, seen ${pattern.occurrences} times`;
  return change === 'raised' && wasAdvised
    ? [{ event: 'continued', run, message: `Run ${run} went on after advice: ${what}.` }]
    : [{ event: 'stuck', run, message: `Run ${run} is stuck: ${what}.` }];
}
