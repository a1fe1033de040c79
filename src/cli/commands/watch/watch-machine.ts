import { setTimeout as sleep } from 'node:timers/promises';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { systemClock, steadyMs } from '../../../core/base/clock.ts';
import { present } from '../../../core/base/json.ts';
import { loadNotifyConfig } from '../../../hosts/config/load-config.ts';
import { followSource } from '../../../formats/follow-source.ts';
import { readRuns, type ReadRun, type ReadRunsItem } from '../../../formats/read-runs.ts';
import { Problems } from '../../runs/problems.ts';
import { Terminal } from '../../terminal/terminal.ts';
import { type Notifier, notifierOf, type NotifierParts } from '../../../hosts/notify/notifier.ts';
import type { MachineFeed } from './watch-output.ts';
import { SessionStates, Watcher, type WatchedSource } from './watcher.ts';
import { standingOf, type Standing } from '../../runs/run-standing.ts';
import { allRuns } from '../../../core/store/run-page.ts';
import type { TimeSpan } from '../../../core/base/deadline.ts';
import { logFault } from '../../../core/node/fault-log.ts';
import { CoxswainError, messageOf } from '../../../core/base/error.ts';
import { findSessions, type SessionPlaces } from '../../../formats/find-sessions.ts';
import { findSources, folderOfFile, sessionFolder } from '../../../formats/find-sources.ts';
import { importSource } from '../../../formats/import-source.ts';
import { lastSeqOf } from '../../../core/facts/run-summary.ts';
import type { LiveReader } from '../../../core/store/trajectory-store.ts';
import { isProjectNamed, machineStores, shownFolder, unknownProject } from '../../runs/machine-stores.ts';
import { BackgroundRecord } from './background-watch.ts';
import { lookAtRun } from '../../runs/numbered-runs.ts';
import { openReadableStore, shownStore } from '../../runs/open-store.ts';
import { StoredNames } from '../../../core/facts/task-title.ts';
import { projectAt } from '../../../core/node/git-folder.ts';
import type { Budget } from '../../../core/base/budget.ts';

const RECENT_MS = 30 * 60_000;
export const SCAN_MS = 2_000;
/** Factor for the pause after a scan, or after reading a file again: the pause is this factor times the duration. */
const REST = 20;
export const PLACES: SessionPlaces = { home: homedir(), env: process.env };

/** In the background it shall cost nothing when nothing happens, but a new session shall not wait for longer than a minute. */
const BACKGROUND_REST = 200;
const MAX_REST_MS = 60_000;
const BACKGROUND_SCAN_MS = 15_000;
/** Time between two looks at the files that are followed. They are read only if they changed. */
const BACKGROUND_LOOK_MS = 10_000;
const SEEN_LAG_MS = 2 * BACKGROUND_LOOK_MS;
/** Sessions that changed up to this long before the start are followed, if no watch was alive since. In milliseconds. */
const MAX_MISSED_MS = 12 * 3_600_000;

export interface WatchMachineParts {
  /** The feed that shows sessions which changed since `sinceMs`, and what happens from `startMs`. */
  readonly feed: (times: { readonly sinceMs: number; readonly startMs: number }) => MachineFeed;
  readonly project?: string | undefined;
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

/** A run in a file and in a store is followed in the store. A file without lines is read again after each change. */
export async function watchMachine(parts: WatchMachineParts): Promise<boolean> {
  const { budget, deadline, intervalMs, notifiers, background, signal, terminal } = parts;
  const startedAtMs = Math.floor(performance.timeOrigin);
  // Tells what happened since the last watch in the background ended.
  const startMs = Math.min(
    startedAtMs,
    Math.max(background?.aliveBeforeMs ?? startedAtMs, startedAtMs - MAX_MISSED_MS),
  );
  const sinceMs = startMs - RECENT_MS;
  const feed = parts.feed({ sinceMs, startMs });
  const watcher = new Watcher({ feed, notifiers, deadline, budget, isQuiet: background !== undefined });
  const storedNames = new StoredNames();
  const allProblems: Problems[] = [];
  const files = new SessionStates();
  const follow = async (path: string, place: Place, items: AsyncIterable<ReadRunsItem>, isStore = false) => {
    const problems = new Problems(terminal);
    problems.source(path);
    allProblems.push(problems);
    // An unknown time counts as the current time, because such a file is probably growing.
    const isLive = (atMs: number): boolean => atMs === 0 || atMs >= startMs;
    const source: WatchedSource = {
      problems,
      isLive,
      isStore,
      get name() {
        return basename(shownFolder(place.folder));
      },
      fileOf: (runId) => (isStore ? files.ofRun(runId) : files.of(path)),
      look: (runId) => lookAtRun({ id: runId, path, isStore }),
    };
    try {
      for await (const item of items) {
        if (item.type === 'record' && item.record.payload.kind === 'run_started') await place.look?.();
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
  const places = new Map<string, SessionPlace>();
  const followed = new Set<string>();
  let isTold = false;
  // Files that a scan finds are read in the pause after it.
  let [seenMs, nextSeenMs]: (number | undefined)[] = [];
  const [scanMs, rest, lookMs] =
    background === undefined ? [SCAN_MS, REST, SCAN_MS] : [BACKGROUND_SCAN_MS, BACKGROUND_REST, BACKGROUND_LOOK_MS];
  try {
    while (!signal.aborted) {
      const scanStartMs = steadyMs();
      const scanAtMs = systemClock.nowMs();
      // A store may be created, or change again, later.
      for (const { address, project } of machineStores({ project: parts.project, sinceMs }, terminal)) {
        if (stores.has(address)) continue;
        const store = await openReadableStore(address).catch(() => undefined);
        if (store === undefined) continue;
        stores.set(address, store);
        for await (const run of allRuns(store)) if (run.lastAtMs >= sinceMs) storedNames.add(run);
        const onFault = (error: unknown): void =>
          terminal.complain(`coxswain: ${shownStore(address)}: ${messageOf(error)}`);
        const runs = followStore(store, { signal, intervalMs, stored: storedNames, sinceMs, onFault });
        running.push(follow(shownStore(address), { folder: project }, runs, true));
      }
      for await (const { path } of findSources(recentSessions(sinceMs))) {
        const place = places.get(path) ?? new SessionPlace(path);
        places.set(path, place);
        await place.look();
        if (followed.has(path) || (parts.project !== undefined && !isProjectNamed(place.folder, parts.project)))
          continue;
        followed.add(path);
        const changed = files.follow(path);
        const runs = isOfLines(path)
          ? readRuns(followSource(path, { intervalMs, signal, ...(background && { changed }) }), { source: path })
          : readChanges(path, changed, signal);
        running.push(follow(path, place, runs));
      }
      if (!isTold && parts.project !== undefined && followed.size === 0 && stores.size === 0) {
        const known = [...places.values()].map(({ folder }) => basename(shownFolder(folder)));
        terminal.complain(`coxswain: ${unknownProject(parts.project, known).message}; waiting for one`);
      }
      isTold = true;
      if (background?.keep(seenMs) === false) break;
      [seenMs, nextSeenMs] = [nextSeenMs, scanAtMs - SEEN_LAG_MS];
      const nextScanMs = steadyMs() + Math.max(scanMs, Math.min(MAX_REST_MS, rest * (steadyMs() - scanStartMs)));
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

interface Place {
  readonly folder: string;
  look?(): Promise<void>;
}

/** The project of a session, looked up again while it is unknown: a program may write the folder after its first lines. */
class SessionPlace implements Place {
  readonly #path: string;
  #folder: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get folder(): string {
    return this.#folder ?? folderOfFile(this.#path);
  }

  async look(): Promise<void> {
    this.#folder ??= projectAt(await sessionFolder(this.#path));
  }
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

export function isOfLines(path: string): boolean {
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

/** A store that cannot be read is read again after a pause: another process may have it. `onFault` gets each reason once. */
export async function* followStore(
  reader: Pick<LiveReader, 'changes' | 'findRun' | 'listRuns' | 'readRun'>,
  options: {
    readonly signal: AbortSignal;
    readonly intervalMs: number;
    readonly stored: StoredNames;
    readonly sinceMs: number;
    readonly onFault: (error: unknown) => void;
  },
): AsyncGenerator<ReadRunsItem> {
  const { intervalMs, onFault, signal, sinceMs, stored } = options;
  const followedRuns = new Map<string, { readonly run: ReadRun; nextSeq: number }>();
  const faults = new Set<string>();
  let isWhole = false;
  while (!signal.aborted) {
    const startMs = steadyMs();
    try {
      const changes = await reader.changes();
      // A read that failed may have passed over changes.
      const changedIds = isWhole ? changes : undefined;
      isWhole = false;
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
      isWhole = true;
    } catch (error) {
      if (!faults.has(messageOf(error))) onFault(error);
      faults.add(messageOf(error));
    }
    await pause(Math.max(intervalMs, REST * (steadyMs() - startMs)), signal);
  }
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Ignores the abort error, because the caller checks the signal.
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

export async function tick(watcher: Watcher, files: readonly string[]): Promise<Standing | undefined> {
  const standing = await standingOf(files);
  await watcher.tick({ nowMs: systemClock.nowMs(), steadyMs: steadyMs(), standing });
  return standing;
}

/** Watches every agent for the notifications alone. Failures go to the log that `coxswain doctor` reads. */
export async function watchInBackground(): Promise<void> {
  const terminal = new Terminal(process);
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const record = new BackgroundRecord(Math.floor(performance.timeOrigin));
  const onFailure = (message: string): void =>
    void logFault({ where: 'watch', message }, { env: process.env, nowMs: systemClock.nowMs() }, true);
  // Notifications are sent even if the record cannot be written, for example on a full disk.
  const keep = (change: Parameters<typeof record.keep>[0]): boolean => {
    try {
      return record.keep(change);
    } catch (error) {
      onFailure(messageOf(error));
      return true;
    }
  };
  try {
    if (!keep({})) return;
    const { resolved } = await loadNotifyConfig(homedir(), onFailure);
    const { budget, deadline, notify = {} } = resolved;
    const { pending, sent: sentBefore } = record;
    const onSent: NotifierParts['onSent'] = (sent, onTheirWay) => void keep({ sent, pending: onTheirWay });
    const notifier = notifierOf(notify, { onFailure, sent: sentBefore, pending, onSent });
    const parts = { budget, deadline, intervalMs: BACKGROUND_LOOK_MS, notifiers: [notifier], terminal };
    const { aliveBeforeMs } = record;
    await watchMachine({
      ...parts,
      feed: () => NO_FEED,
      background: { aliveBeforeMs, keep: (aliveAtMs) => keep(present({ aliveAtMs })) },
      signal: stop.signal,
    });
    await notifier.finish();
  } catch (error) {
    onFailure(messageOf(error));
    process.exitCode = 1;
  }
}
