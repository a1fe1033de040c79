import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../../../core/base/clock.ts';
import { present } from '../../../core/base/present.ts';
import { loadConfig } from '../../../hosts/config/load-config.ts';
import { untrustedText } from '../../../hosts/config/loaded-config.ts';
import { followSource, type FollowState } from '../../../formats/follow-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { printable } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { commandTarget } from '../../../hosts/notify/command-target.ts';
import type { NotifyEvent } from '../../../hosts/notify/notification.ts';
import { Notifier } from '../../../hosts/notify/notifier.ts';
import { targetsOf } from '../../../hosts/notify/targets-of.ts';
import { WatchFeed } from './watch-feed.ts';
import { checkOptions, intervalOf, spanOf, type WatchOptions } from './watch-options.ts';
import { JsonWatchOutput, TextWatchOutput, type WatchOutput } from './watch-output.ts';
import { newestSession, watchMachine } from './watch-machine.ts';
import { Watcher } from './watcher.ts';

/** The events that trigger `--on-stuck` and `--bell`. */
const STUCK: readonly NotifyEvent[] = ['stuck', 'continued'];

/** Runs `coxswain watch`. @returns the exit code: 1 if something could not be read */
export async function watchCommand(
  path: string | undefined,
  options: WatchOptions,
  terminal: Terminal,
): Promise<number> {
  checkOptions(path, options);
  const file = path ?? (options.newest === true ? await newestSession() : undefined);
  const deadline = spanOf(options.deadline);
  const intervalMs = intervalOf(options.interval);
  const stop = new AbortController();
  terminal.onInterrupt(() => stop.abort());
  const problems = new Problems(terminal);
  problems.source(file ?? 'watch');
  const notifiers = await notifiersOf(options, problems, terminal);
  if (file === undefined) {
    const isComplete = await watchMachine(options, { deadline, intervalMs, notifiers, terminal, signal: stop.signal });
    for (const notifier of notifiers) await notifier.finish();
    return isComplete ? 0 : 1;
  }
  const output = options.json === true ? new JsonWatchOutput(terminal) : new TextWatchOutput(terminal);
  const feed = new WatchFeed(output, options.fromStart === true);
  let isLive = false;
  if (options.json !== true) await terminal.write(openingText(file, terminal));
  const items = followSource(file, {
    intervalMs,
    signal: stop.signal,
    wait: options.wait !== false,
    onState: async (state) => {
      // Records of a new file are live. Records of a replaced file that is read again are not live.
      isLive = state.type === 'missing' || (state.type === 'caught_up' && state.waitingLines === 0);
      await reportState(state, { file, feed, output });
    },
  });
  const watcher = new Watcher({ feed, notifiers, deadline });
  for await (const item of readRuns(items, { source: file })) {
    await watcher.take(item, { problems, isLive: () => isLive });
    const isEnd = item.type === 'record' && item.record.payload.kind === 'run_ended' && item.run.depth === 0;
    if (options.untilEnd === true && isEnd) break;
  }
  await feed.finish();
  for (const notifier of notifiers) await notifier.finish();
  problems.endSource();
  return problems.any ? 1 : 0;
}

function openingText(file: string, { paint }: Terminal): string {
  return (
    `${paint('bold', `Watching ${printable(file)}`)}, Ctrl-C ends it. This only prints the advice the standard steering\n` +
    'would give: nothing reaches the agent.\n'
  );
}

/** Returns a notifier for `--on-stuck` and `--bell`, and a notifier for the user's own configuration. */
async function notifiersOf(
  { bell, onStuck }: WatchOptions,
  problems: Problems,
  terminal: Terminal,
): Promise<readonly Notifier[]> {
  const { resolved, untrusted } = await loadConfig({ projectFolder: process.cwd() });
  const ignored = untrustedText({ untrusted });
  if (ignored !== undefined) problems.note({ message: ignored });
  const parts = {
    clock: systemClock,
    sleep,
    onFailure: (message: string): void => problems.note({ message }),
  };
  const { notify = {} } = resolved;
  const targets = targetsOf(notify);
  const ownTargets = [
    ...(onStuck === undefined ? [] : [commandTarget(onStuck, '--on-stuck')]),
    ...(bell === true ? [{ name: 'the bell', send: async () => terminal.ring() }] : []),
  ];
  return [
    ...(ownTargets.length === 0 ? [] : [new Notifier({ ...parts, targets: ownTargets, on: STUCK })]),
    ...(targets.length === 0 ? [] : [new Notifier({ ...parts, targets, ...present({ on: notify.on }) })]),
  ];
}

interface StateContext {
  readonly file: string;
  readonly feed: WatchFeed;
  readonly output: WatchOutput;
}

async function reportState(state: FollowState, { file, feed, output }: StateContext): Promise<void> {
  const writeNote = (message: string): Promise<void> => output.write({ type: 'note', message });
  if (state.type === 'missing') await writeNote(`${file} does not exist yet; waiting for it`);
  else if (state.type === 'restarted') await writeNote(`${file} was ${state.reason}: reading it again`);
  else if (state.waitingLines === 0) await feed.caughtUp();
  else await writeNote(`no format matches the first ${state.waitingLines} lines of ${file}; waiting for more`);
}
