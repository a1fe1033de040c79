import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../../../base/clock.ts';
import type { TimeSpan } from '../../../base/deadline.ts';
import { CoxswainError } from '../../../base/error.ts';
import { present } from '../../../base/present.ts';
import { LruMap } from '../../../base/lru-map.ts';
import { loadConfig } from '../../../config/load-config.ts';
import { followSource, type FollowState } from '../../../formats/follow-source.ts';
import { readRuns, type ReadRun } from '../../../formats/read-runs.ts';
import { printable } from '../../terminal/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { RunLabels } from './run-labels.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { commandTarget } from '../../../notify/command-target.ts';
import type { NotifyEvent } from '../../../notify/notification.ts';
import { Notifier } from '../../../notify/notifier.ts';
import { RunNotifications } from '../../../notify/run-notifications.ts';
import { targetsOf } from '../../../notify/targets-of.ts';
import { WatchFeed } from './watch-feed.ts';
import { intervalOf, spanOf, type WatchOptions } from './watch-options.ts';
import { JsonWatchOutput, TextWatchOutput, type WatchOutput } from './watch-output.ts';
import { WatchedRun } from './watched-run.ts';

/** Runs of the file that are watched at a time. */
const MAX_OPEN = 256;
/** What `--on-stuck` is for. */
const STUCK: readonly NotifyEvent[] = ['stuck', 'continued'];

/**
 * `coxswain watch`: follows a growing file and says what the standard steering would say, until Ctrl-C. Nothing reaches
 * the agent.
 *
 * @returns the exit code: 0, or 1 when something could not be read
 * @throws CoxswainError `invalid-argument` for options; `input-io`, `format-unknown` and `format-invalid` as
 *   `followSource`
 */
export async function watchCommand(file: string, options: WatchOptions, terminal: Terminal): Promise<number> {
  const deadline = spanOf(options.deadline);
  const intervalMs = intervalOf(options.interval);
  if (file === '-') {
    throw new CoxswainError('invalid-argument', 'watch follows a file: write the stream to one, such as with tee');
  }
  const output = options.json === true ? new JsonWatchOutput(terminal) : new TextWatchOutput(terminal);
  const feed = new WatchFeed(output, options.fromStart === true);
  const notices = new RunNotifications({ deadline });
  let isLive = false;
  const stop = new AbortController();
  terminal.onInterrupt(() => stop.abort());
  if (options.json !== true) await terminal.write(openingText(file, terminal));
  const problems = new Problems(terminal);
  problems.source(file);
  const notifiers = await notifiersOf(options, problems);
  const items = followSource(file, {
    intervalMs,
    signal: stop.signal,
    wait: options.wait !== false,
    onState: async (state) => {
      // A file that appears while it is waited for is news; one that is read anew is not.
      isLive = state.type === 'missing' || (state.type === 'caught_up' && state.waitingLines === 0);
      await tellState(state, { file, feed, output });
    },
  });
  const runs = new WatchedRuns(deadline, problems);
  for await (const item of readRuns(items, { source: file })) {
    if (item.type === 'end') runs.end(item.run);
    if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') problems.fault(item.diagnostic);
    if (item.type !== 'record') continue;
    const watched = runs.of(item.run);
    if (watched !== undefined) {
      const { calls } = watched;
      const seen = watched.take(item.record);
      feed.called(watched.calls - calls);
      for (const { record, events } of seen) {
        for (const notice of notices.take(record, item.run.id)) {
          if (isLive) for (const notifier of notifiers) notifier.tell(notice);
        }
        for (const event of events) await feed.take(event);
      }
    }
    if (options.untilEnd === true && item.record.payload.kind === 'run_ended' && item.run.depth === 0) break;
  }
  await feed.finish();
  for (const notifier of notifiers) await notifier.finish();
  problems.endSource();
  return problems.any ? 1 : 0;
}

function openingText(file: string, { paint }: Terminal): string {
  return (
    `${paint('bold', `Watching ${printable(file)}`)}, Ctrl-C ends it. This only prints what the standard steering would\n` +
    'say: nothing reaches the agent.\n'
  );
}

/** One for `--on-stuck`, one for the user's own configuration. */
async function notifiersOf({ onStuck }: WatchOptions, problems: Problems): Promise<readonly Notifier[]> {
  const { resolved, ignored } = await loadConfig({ projectFolder: process.cwd() });
  for (const { path, file, why } of ignored) {
    if (path === 'notify') problems.note({ message: `notify of ${file} does not count: ${why}` });
  }
  const parts = {
    clock: systemClock,
    sleep,
    onFailure: (message: string): void => problems.note({ message }),
  };
  const { notify = {} } = resolved;
  const targets = targetsOf(notify);
  return [
    ...(onStuck === undefined
      ? []
      : [new Notifier({ ...parts, targets: [commandTarget(onStuck, '--on-stuck')], on: STUCK })]),
    ...(targets.length === 0 ? [] : [new Notifier({ ...parts, targets, ...present({ on: notify.on }) })]),
  ];
}

interface StateContext {
  readonly file: string;
  readonly feed: WatchFeed;
  readonly output: WatchOutput;
}

async function tellState(state: FollowState, { file, feed, output }: StateContext): Promise<void> {
  switch (state.type) {
    case 'missing':
      await output.write({ type: 'note', message: `${file} is not there yet; waiting for it` });
      return;
    case 'anew':
      await output.write({ type: 'note', message: `${file} was ${state.reason}: reading it anew` });
      return;
    default:
      if (state.waitingLines > 0) {
        const message = `nothing recognises the first ${state.waitingLines} lines of ${file}; waiting for more`;
        await output.write({ type: 'note', message });
      } else await feed.caughtUp();
  }
}

/** The runs that are open. Of more than 256 the one that was silent longest is no longer watched. */
class WatchedRuns {
  readonly #deadline: TimeSpan | undefined;
  readonly #problems: Problems;
  readonly #labels = new RunLabels();
  readonly #open = new LruMap<WatchedRun>(MAX_OPEN);
  readonly #begun = new WeakSet<ReadRun>();
  readonly #given = new WeakSet<ReadRun>();

  constructor(deadline: TimeSpan | undefined, problems: Problems) {
    this.#deadline = deadline;
    this.#problems = problems;
  }

  /** The watch over a run; undefined when it was given up. */
  of(run: ReadRun): WatchedRun | undefined {
    const known = this.#open.get(run.id);
    if (known === undefined && this.#begun.has(run)) {
      this.#giveUp(run);
      return undefined;
    }
    const watched = known ?? new WatchedRun(run, { label: this.#labels.take(run.id), deadline: this.#deadline });
    this.#begun.add(run);
    this.#open.set(run.id, watched);
    return watched;
  }

  end(run: ReadRun): void {
    this.#open.delete(run.id);
  }

  #giveUp(run: ReadRun): void {
    if (this.#given.has(run)) return;
    this.#given.add(run);
    this.#problems.note({ message: `run ${run.id} goes on after ${MAX_OPEN} other runs; it is no longer watched` });
  }
}
