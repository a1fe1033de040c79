import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../core/base/clock.ts';
import { loadNotifyConfig } from '../../../hosts/config/load-config.ts';
import { untrustedText } from '../../../hosts/config/loaded-config.ts';
import { followSource, type FollowState } from '../../../formats/follow-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { printable } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { commandTarget } from '../../../hosts/notify/webhook-target.ts';
import type { NotifyEvent } from '../../../hosts/notify/notification.ts';
import { Notifier, notifierOf, targetsOf } from '../../../hosts/notify/notifier.ts';
import { WatchFeed, LinesFeed, jsonOutput, textOutput, type WatchOutput } from './watch-output.ts';
import { SessionStates, Watcher, type WatchedSource } from './watcher.ts';
import type { TimeSpan } from '../../../core/base/deadline.ts';
import { CoxswainError, invalidArgument } from '../../../core/base/error.ts';
import { findSessions } from '../../../formats/find-sessions.ts';
import { findBackgroundWatch, startBackgroundWatch, stopBackgroundWatch } from './background-watch.ts';
import { requireTargets } from './watch-service.ts';
import { ListFeed } from './list-feed.ts';
import { spanOption, wholeOption } from '../../terminal/option-values.ts';
import { isOfLines, pause, PLACES, SCAN_MS, tick, watchMachine, type WatchMachineParts } from './watch-machine.ts';

async function newestSession(): Promise<string> {
  const sessions = findSessions(PLACES)
    .flatMap((host) => host.sessions)
    .filter(({ path }) => isOfLines(path));
  const [newest] = sessions.toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs);
  if (newest !== undefined) return newest.path;
  throw new CoxswainError(
    'input-io',
    'there is no session of an agent program yet; coxswain watch waits for the first',
  );
}

const STUCK: readonly NotifyEvent[] = ['stuck', 'continued', 'waiting', 'silent'];

export async function watchCommand(
  path: string | undefined,
  options: WatchOptions,
  terminal: Terminal,
): Promise<number> {
  checkOptions(path, options);
  if (options.stop === true) return stopCommand(terminal);
  if (options.background === true) return startCommand(terminal);
  const file = path ?? (options.newest === true ? await newestSession() : undefined);
  const deadline = spanOf(options.deadline);
  const intervalMs = wholeOption('--interval', options.interval ?? '250', [10, 60_000]);
  const stop = new AbortController();
  terminal.onInterrupt(() => stop.abort());
  const problems = new Problems(terminal);
  problems.source(file ?? 'watch');
  const notifiers = await notifiersOf(options, problems, terminal);
  if (file === undefined) {
    const feed: WatchMachineParts['feed'] = ({ sinceMs, startMs }) =>
      terminal.isWatched && options.json !== true
        ? new ListFeed(terminal, sinceMs)
        : new LinesFeed(outputOf(options, terminal), options.fromStart === true ? 0 : startMs);
    const { project } = options;
    const parts = { deadline, feed, intervalMs, notifiers, project, terminal, signal: stop.signal };
    const isComplete = await watchMachine(parts);
    for (const notifier of notifiers) await notifier.finish();
    return isComplete ? 0 : 1;
  }
  const output = outputOf(options, terminal);
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
      await reportState(state, file, feed, output);
    },
  });
  const watcher = new Watcher({ feed, notifiers, deadline });
  const files = new SessionStates();
  const source: WatchedSource = { problems, isLive: () => isLive, fileOf: () => files.of(file) };
  const ended = new AbortController();
  const clock = followClock(watcher, files, {
    file,
    signal: AbortSignal.any([stop.signal, ended.signal]),
    onEnd: () => options.untilEnd === true && stop.abort(),
  });
  try {
    for await (const item of readRuns(items, { source: file })) {
      await watcher.take(item, source);
      const isEnd = item.type === 'record' && item.record.payload.kind === 'run_ended' && item.run.depth === 0;
      if (options.untilEnd === true && isEnd) break;
    }
  } finally {
    ended.abort();
    await clock;
  }
  await feed.finish();
  for (const notifier of notifiers) await notifier.finish();
  problems.endSource();
  return problems.any ? 1 : 0;
}

async function followClock(
  watcher: Watcher,
  files: SessionStates,
  { file, onEnd, signal }: { readonly file: string; readonly onEnd: () => void; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await pause(SCAN_MS, signal);
    if (!(await files.look(file)) || signal.aborted) continue;
    await tick(watcher, [file]);
    const runs = [...(files.of(file)?.views ?? [])];
    if (runs.some(([, view]) => view.counts.depth === 0 && view.outcome !== undefined)) onEnd();
  }
}

async function startCommand(terminal: Terminal): Promise<number> {
  await requireTargets(terminal);
  const pid = await startBackgroundWatch();
  await terminal.write(`watching every agent in the background (process ${pid}); coxswain watch --stop ends it\n`);
  return 0;
}

async function stopCommand(terminal: Terminal): Promise<number> {
  const wasRunning = await stopBackgroundWatch();
  await terminal.write(wasRunning ? 'the watch in the background has ended\n' : 'no watch runs in the background\n');
  return 0;
}

function outputOf({ json }: WatchOptions, terminal: Terminal): WatchOutput {
  return json === true ? jsonOutput(terminal) : textOutput(terminal);
}

function openingText(file: string, { paint }: Terminal): string {
  return (
    `${paint('bold', `Watching ${printable(file)}`)}, Ctrl-C ends it. This only prints the advice the standard steering\n` +
    'would give: nothing reaches the agent.\n'
  );
}

async function notifiersOf(
  { bell, onStuck }: WatchOptions,
  problems: Problems,
  terminal: Terminal,
): Promise<readonly Notifier[]> {
  const onFailure = (message: string): void => problems.note({ message });
  const { resolved, untrusted } = await loadNotifyConfig(process.cwd(), onFailure);
  const ignored = untrustedText({ untrusted });
  if (ignored !== undefined) onFailure(ignored);
  const { notify = {} } = resolved;
  // The watch in the background tells these already.
  const isTold = findBackgroundWatch().state === 'running' || targetsOf(notify).length === 0;
  const ownTargets = [
    ...(onStuck === undefined ? [] : [commandTarget(onStuck, '--on-stuck')]),
    ...(bell === true ? [{ name: 'the bell', send: async () => terminal.ring() }] : []),
  ];
  return [
    ...(ownTargets.length === 0
      ? []
      : [new Notifier({ targets: ownTargets, on: STUCK, clock: systemClock, sleep, onFailure })]),
    ...(isTold ? [] : [notifierOf(notify, { onFailure })]),
  ];
}

async function reportState(state: FollowState, file: string, feed: WatchFeed, output: WatchOutput): Promise<void> {
  const writeNote = (message: string): Promise<void> => output({ type: 'note', message });
  if (state.type === 'missing') await writeNote(`${file} does not exist yet; waiting for it`);
  else if (state.type === 'restarted') await writeNote(`${file} was ${state.reason}: reading it again`);
  else if (state.waitingLines === 0) await feed.caughtUp();
  else await writeNote(`no format matches the first ${state.waitingLines} lines of ${file}; waiting for more`);
}

interface WatchOptions {
  readonly json?: boolean;
  readonly fromStart?: boolean;
  readonly untilEnd?: boolean;
  readonly wait?: boolean;
  readonly deadline?: string;
  readonly interval?: string;
  readonly onStuck?: string;
  readonly bell?: boolean;
  readonly newest?: boolean;
  readonly background?: boolean;
  readonly stop?: boolean;
  readonly project?: string;
}

function checkOptions(
  file: string | undefined,
  { background, newest, onStuck, stop, untilEnd, wait }: WatchOptions,
): void {
  if (file !== undefined && (background === true || stop === true)) {
    throw invalidArgument(`--${stop === true ? 'stop' : 'background'} is about every agent: omit the path`);
  }
  if (file === '-') throw invalidArgument('watch follows a file: write the stream to one, for example with tee');
  if (onStuck?.trim() === '') throw invalidArgument('--on-stuck is empty: give a shell command');
  if (file !== undefined && newest === true) throw invalidArgument('--newest finds the file: omit the path');
  if (file === undefined && newest !== true && (untilEnd === true || wait === false)) {
    const option = untilEnd === true ? '--until-end' : '--no-wait';
    throw invalidArgument(`${option} needs one file: name it, or add --newest`);
  }
}

function spanOf(text: string | undefined): TimeSpan | undefined {
  if (text === undefined) return undefined;
  return { seconds: spanOption('--deadline', text, '45m, 90s or 1h30m') / 1_000 };
}
