import { setTimeout as sleep } from 'node:timers/promises';
import { homedir } from 'node:os';
import { basename, dirname } from 'node:path';

import { systemClock, steadyMs } from '../../../core/base/clock.ts';
import { present } from '../../../core/base/json.ts';
import { loadNotifyConfig } from '../../../hosts/config/load-config.ts';
import { untrustedText } from '../../../hosts/config/loaded-config.ts';
import { followSource, type FollowState } from '../../../formats/follow-source.ts';
import { readRuns, type ReadRun, type ReadRunsItem } from '../../../formats/read-runs.ts';
import { printable } from '../../../core/base/printable.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { commandTarget } from '../../../hosts/notify/webhook-target.ts';
import type { NotifyEvent } from '../../../hosts/notify/notification.ts';
import { Notifier, notifierOf, type NotifierParts, targetsOf } from '../../../hosts/notify/notifier.ts';
import {
  WatchFeed,
  LinesFeed,
  type MachineFeed,
  JsonWatchOutput,
  TextWatchOutput,
  type WatchOutput,
} from './watch-output.ts';
import { SessionStates, Watcher, type WatchedSource } from './watcher.ts';
import type { OpenSessions } from './watched-item.ts';
import { allRuns } from '../../../core/store/run-page.ts';
import type { TimeSpan } from '../../../core/base/deadline.ts';
import { logFault } from '../../../core/node/fault-log.ts';
import { CoxswainError, invalidArgument, messageOf } from '../../../core/base/error.ts';
import { findSessions, hostFolder, type SessionPlaces } from '../../../formats/find-sessions.ts';
import { findSources, sessionFolder } from '../../../formats/find-sources.ts';
import { importSource } from '../../../formats/import-source.ts';
import { openSessions } from '../../../hosts/claude-code/open-sessions.ts';
import { lastSeqOf } from '../../../core/facts/run-summary.ts';
import type { LiveReader } from '../../../core/store/trajectory-store.ts';
import { isProjectNamed, machineStores } from '../../runs/machine-stores.ts';
import { completeProjects } from '../../runs/complete-project.ts';
import {
  BackgroundRecord,
  findBackgroundWatch,
  isInBackground,
  startBackgroundWatch,
  stopBackgroundWatch,
} from './background-watch.ts';
import { requireTargets } from './watch-service.ts';
import { lookAtRun } from '../../runs/runs-from.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';
import { StoredNames } from '../../../core/facts/task-title.ts';
import { projectAt } from '../../../core/node/git-folder.ts';
import { ListFeed } from './list-feed.ts';
import type { Budget } from '../../../core/base/budget.ts';
import { spanOption, wholeOption } from '../../terminal/option-values.ts';

const RECENT_MS = 30 * 60_000;
const SCAN_MS = 2_000;
/** Factor for the pause after a scan, or after reading a file again: the pause is this factor times the duration. */
const REST = 20;
const PLACES: SessionPlaces = { home: homedir(), env: process.env };

/** In the background it shall cost nothing when nothing happens: a scan takes at most this share of the time. */
const BACKGROUND_REST = 200;
const BACKGROUND_SCAN_MS = 15_000;
/** Time between two looks at the files that are followed. They are read only if they changed. */
const BACKGROUND_LOOK_MS = 5_000;
const SEEN_LAG_MS = 2 * BACKGROUND_LOOK_MS;
/** Sessions that changed up to this long before the start are followed, if no watch was alive since. In milliseconds. */
const MAX_MISSED_MS = 12 * 3_600_000;

interface WatchMachineParts {
  /** In the background. `keep` notes that all before a time was seen, and returns false if another process has become the watch. */
  readonly background?: {
    readonly aliveBeforeMs: number | undefined;
    readonly keep: (seenUntilMs?: number) => boolean;
  };
  readonly deadline: TimeSpan | undefined;
  readonly budget?: Budget | undefined;
  readonly intervalMs: number;
  readonly notifiers: readonly Notifier[];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

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

/** A run in a file and in a store is followed in the store. A file without lines is read again after each change. */
async function watchMachine(options: WatchOptions, parts: WatchMachineParts): Promise<boolean> {
  const { budget, deadline, intervalMs, notifiers, background, signal, terminal } = parts;
  const startedAtMs = Math.floor(performance.timeOrigin);
  // What happened since the last watch in the background ended is news.
  const startMs = Math.min(
    startedAtMs,
    Math.max(background?.aliveBeforeMs ?? startedAtMs, startedAtMs - MAX_MISSED_MS),
  );
  const sinceMs = startMs - RECENT_MS;
  const isList = terminal.isWatched && options.json !== true;
  const output = options.json === true ? new JsonWatchOutput(terminal) : new TextWatchOutput(terminal);
  const feed: MachineFeed =
    background !== undefined
      ? NO_FEED
      : isList
        ? new ListFeed(terminal, sinceMs)
        : new LinesFeed(output, options.fromStart === true ? 0 : startMs);
  const watcher = new Watcher({ feed, notifiers, deadline, budget, isQuiet: background !== undefined });
  const storedNames = new StoredNames();
  const allProblems: Problems[] = [];
  const files = new SessionStates();
  const follow = async (path: string, name: string, items: AsyncIterable<ReadRunsItem>, isStore = false) => {
    const problems = new Problems(terminal);
    problems.source(path);
    allProblems.push(problems);
    // An unknown time counts as the current time, because such a file is probably growing.
    const isLive = (atMs: number): boolean => atMs === 0 || atMs >= startMs;
    const source: WatchedSource = {
      problems,
      isLive,
      isStore,
      name,
      fileOf: (runId) => (isStore ? files.ofRun(runId) : files.of(path)),
      look: (runId) => lookAtRun({ id: runId, path, isStore }),
    };
    try {
      for await (const item of items) {
        const storedId = isStore || item.run === undefined ? undefined : storedNames.idOf(item.run.id);
        if (storedId === undefined) await watcher.take(item, source);
        else if (storedId !== item.run?.id) feed.drop(item.run?.id ?? '');
      }
    } catch (error) {
      const isUnknown = error instanceof CoxswainError && error.code === 'format-unknown';
      if (!signal.aborted && !isUnknown) problems.failure(error);
    }
  };
  const stores = new Map<string, LiveReader>();
  const running: Promise<void>[] = [];
  const followed = new Set<string>();
  // Files that a scan finds are read in the pause after it.
  let [seenMs, nextSeenMs]: (number | undefined)[] = [];
  const [scanMs, rest, lookMs] =
    background === undefined ? [SCAN_MS, REST, SCAN_MS] : [BACKGROUND_SCAN_MS, BACKGROUND_REST, BACKGROUND_LOOK_MS];
  try {
    while (!signal.aborted) {
      const scanStartMs = steadyMs();
      const scanAtMs = systemClock.nowMs();
      await completeProjects(stores);
      // A store may be created, or change again, later.
      for (const { address, project } of machineStores({ project: options.project, sinceMs }, terminal)) {
        if (stores.has(address)) continue;
        const store = await openReadableStore(address).catch(() => undefined);
        if (store === undefined) continue;
        stores.set(address, store);
        for await (const run of allRuns(store)) if (run.lastAtMs >= sinceMs) storedNames.add(run);
        const runs = followStore(store, { signal, intervalMs, stored: storedNames, sinceMs });
        running.push(follow(shownStore(address), basename(project), runs, true));
      }
      for await (const { path } of findSources(recentSessions(sinceMs))) {
        if (followed.has(path)) continue;
        followed.add(path);
        const place = projectAt(await sessionFolder(path)) ?? dirname(path);
        if (options.project !== undefined && !isProjectNamed(place, options.project)) continue;
        const changed = files.follow(path);
        const runs = isOfLines(path)
          ? readRuns(followSource(path, { intervalMs, signal, ...(background && { changed }) }), { source: path })
          : readChanges(path, changed, signal);
        running.push(follow(path, basename(place), runs));
      }
      if (background?.keep(seenMs) === false) break;
      [seenMs, nextSeenMs] = [nextSeenMs, scanAtMs - SEEN_LAG_MS];
      const nextScanMs = steadyMs() + Math.max(scanMs, rest * (steadyMs() - scanStartMs));
      while (!signal.aborted && steadyMs() < nextScanMs) {
        for (const path of followed) await files.look(path);
        await feed.scanned(await tick(watcher, [...followed]));
        await pause(lookMs, signal);
      }
    }
  } finally {
    files.stop();
    await Promise.all(running);
    for (const store of stores.values()) await store.close();
  }
  await feed.finish();
  for (const problems of allProblems) problems.endSource();
  return !allProblems.some(({ any }) => any);
}

function recentSessions(sinceMs: number): readonly string[] {
  const sessions = findSessions(PLACES).flatMap((host) => host.sessions);
  return sessions.filter(({ modifiedAtMs }) => modifiedAtMs >= sinceMs).map(({ path }) => path);
}

const NO_FEED: MachineFeed = {
  take: async () => {},
  called: () => {},
  scanned: async () => {},
  drop: () => {},
  finish: async () => {},
};

function isOfLines(path: string): boolean {
  return path.endsWith('.jsonl');
}

async function* readChanges(
  path: string,
  changed: () => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<ReadRunsItem> {
  const followedRuns = new Map<string, { readonly run: ReadRun; nextSeq: number }>();
  while (!signal.aborted) {
    const startMs = steadyMs();
    for await (const item of readRuns(importSource(path), { source: path })) {
      if (item.type !== 'record') continue;
      const { record } = item;
      const followedRun = followedRuns.get(item.run.id) ?? { run: item.run, nextSeq: 0 };
      followedRuns.set(item.run.id, followedRun);
      if (record.seq < followedRun.nextSeq) continue;
      followedRun.nextSeq = lastSeqOf(record) + 1;
      yield { type: 'record', run: followedRun.run, record };
    }
    await pause(REST * (steadyMs() - startMs), signal);
    await changed();
  }
}

async function* followStore(
  reader: LiveReader,
  options: {
    readonly signal: AbortSignal;
    readonly intervalMs: number;
    readonly stored: StoredNames;
    readonly sinceMs: number;
  },
): AsyncGenerator<ReadRunsItem> {
  const { intervalMs, signal, sinceMs, stored } = options;
  const followedRuns = new Map<string, { readonly run: ReadRun; nextSeq: number }>();
  while (!signal.aborted) {
    const startMs = steadyMs();
    const changedIds = await reader.changes();
    const foundRuns = changedIds && (await Promise.all(changedIds.map((runId) => reader.findRun(runId))));
    for (const summary of foundRuns ?? (await Array.fromAsync(allRuns(reader)))) {
      if (summary === undefined || summary.lastAtMs < sinceMs) continue;
      const { depth, lastSeq, parentRunId, runId } = summary;
      stored.add(summary);
      const run = { key: runId, id: runId, depth, ...present({ parentId: parentRunId }) };
      const followedRun = followedRuns.get(runId) ?? { run, nextSeq: 0 };
      followedRuns.set(runId, followedRun);
      if (followedRun.nextSeq > lastSeq) continue;
      for await (const record of reader.readRun(runId, { fromSeq: followedRun.nextSeq })) {
        followedRun.nextSeq = lastSeqOf(record) + 1;
        yield { type: 'record', run: followedRun.run, record };
      }
    }
    await pause(Math.max(intervalMs, REST * (steadyMs() - startMs)), signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Ignores the abort error, because the caller checks the signal.
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

const STUCK: readonly NotifyEvent[] = ['stuck', 'continued', 'waiting', 'silent'];

export async function watchCommand(
  path: string | undefined,
  options: WatchOptions,
  terminal: Terminal,
): Promise<number> {
  checkOptions(path, options);
  if (options.stop === true) return stopCommand(terminal);
  if (options.background === true) return isInBackground() ? runInBackground(terminal) : startCommand(terminal);
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

async function tick(watcher: Watcher, files: readonly string[]): Promise<OpenSessions> {
  const open = await openSessions(hostFolder('claude-code', PLACES));
  const localIds = new Set(files.map((path) => basename(path, '.jsonl')));
  await watcher.tick({ nowMs: systemClock.nowMs(), steadyMs: steadyMs(), open, localIds });
  return open;
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

/** Watches every agent for the notifications alone. Failures go to the log that `coxswain doctor` reads. */
async function runInBackground(terminal: Terminal): Promise<number> {
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const record = new BackgroundRecord(Math.floor(performance.timeOrigin));
  const onFailure = (message: string): void =>
    void logFault({ where: 'watch', message }, { env: process.env, nowMs: systemClock.nowMs() }, true);
  // A record that cannot be written, for example on a full disk, keeps nobody from being told.
  const keep = (change: Parameters<typeof record.keep>[0]): boolean => {
    try {
      return record.keep(change);
    } catch (error) {
      onFailure(messageOf(error));
      return true;
    }
  };
  try {
    if (!keep({})) return 0;
    const { resolved } = await loadNotifyConfig(homedir(), onFailure);
    const { budget, deadline, notify = {} } = resolved;
    const { pending, sent: sentBefore } = record;
    const onSent: NotifierParts['onSent'] = (sent, onTheirWay) => void keep({ sent, pending: onTheirWay });
    const notifier = notifierOf(notify, { onFailure, sent: sentBefore, pending, onSent });
    const parts = { budget, deadline, intervalMs: BACKGROUND_LOOK_MS, notifiers: [notifier], terminal };
    const { aliveBeforeMs } = record;
    await watchMachine(
      {},
      {
        ...parts,
        background: { aliveBeforeMs, keep: (aliveAtMs) => keep(present({ aliveAtMs })) },
        signal: stop.signal,
      },
    );
    await notifier.finish();
    return 0;
  } catch (error) {
    onFailure(messageOf(error));
    return 1;
  }
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

function intervalOf(text = '250'): number {
  return wholeOption('--interval', text, [10, 60_000]);
}
