import type { Budget } from '../../../core/base/budget.ts';
import type { TimeSpan } from '../../../core/base/deadline.ts';
import { LruMap } from '../../../core/base/lru-map.ts';
import { type ReadRun, type ReadRunsItem, readRuns } from '../../../formats/read-runs.ts';
import type { Notifier } from '../../../hosts/notify/notifier.ts';
import type { Notification } from '../../../hosts/notify/notification.ts';
import { RunNotifications } from '../../../hosts/notify/run-notifications.ts';
import type { Problems } from '../../runs/problems.ts';
import { secretRemover } from '../../runs/run-totals.ts';
import { standsAs, type Standing } from '../../runs/run-standing.ts';
import type { WatchedEvent, WatchPlace } from './watched-item.ts';
import { present } from '../../../core/base/json.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { FleetFailures } from '../../../core/facts/fleet-failures.ts';
import { errorLineOf, type RunCall } from '../../../core/facts/run-call.ts';
import { RunView } from '../../../core/facts/run-view.ts';
import { alertOf, type AlertNow, type RunAlert } from '../../../core/facts/run-alert.ts';
import { defaultDetectors } from '../../../core/detect/detectors/default-detectors.ts';
import { isFlagged } from '../../../core/facts/seen-pattern.ts';
import { standardSteering } from '../../../core/steering/standard-steering.ts';
import { SteeringReplay } from '../../../core/replay/steering-replay.ts';
import { callEventOf, liveEventOf } from '../../runs/live-event.ts';
import { withoutNumber } from '../../../core/facts/task-title.ts';
import { verdictOf, type RunOutcome } from '../../../core/facts/run-verdict.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { sessionIdOf, stateOfSession } from '../../../formats/find-sessions.ts';
import { importSource } from '../../../formats/import-source.ts';

interface WatchedRunOptions {
  readonly label: string;
  readonly deadline?: TimeSpan | undefined;
  /** True if the run comes from a store. The records of a steered run then contain patterns and advice. */
  readonly isStore?: boolean;
  /** True if only notifications are wanted: no advice is worked out. */
  readonly isQuiet?: boolean;
}

interface SeenRecord {
  readonly record: TrajectoryRecord;
  readonly events: readonly WatchedEvent[];
}

class WatchedRun {
  readonly #run: ReadRun;
  readonly #label: string;
  readonly #steering: SteeringReplay | undefined;
  readonly view: RunView;
  readonly #isStore: boolean;
  #isRecorded = false;
  #alerted = '';
  #closed = '';
  #failure: readonly [call: RunCall, cause: string] | undefined;

  constructor(run: ReadRun, { label, deadline, isQuiet = false, isStore = false }: WatchedRunOptions) {
    this.#run = run;
    this.#label = label;
    this.#isStore = isStore;
    // A subagent has the deadline of its parent.
    const limit = deadline === undefined || run.depth > 0 ? {} : { deadline };
    this.view = isQuiet ? new RunView({ detectors: defaultDetectors() }) : new RunView();
    this.#steering = isQuiet
      ? undefined
      : new SteeringReplay({ steering: standardSteering(), growing: true, ...limit });
  }

  get runId(): string {
    return this.#run.id;
  }

  get claudeSession(): string | undefined {
    const { started } = this.view;
    const program = started?.format ?? started?.host;
    return program === 'claude-code' && this.#run.depth === 0 ? withoutNumber(this.#run.id) : undefined;
  }

  get failure(): readonly [call: RunCall, cause: string] | undefined {
    return this.#failure;
  }

  alertAt(view: RunView, now: AlertNow): RunAlert | undefined {
    const alert = alertOf(view, now);
    const key = `${alert?.kind} ${alert?.sinceMs}`;
    if (alert === undefined || key === this.#alerted) return undefined;
    this.#alerted = key;
    return alert;
  }

  /** Words for the work during which the process of the run ended. Undefined if it was not at work, or if this was returned before. */
  brokenOff({ lastAct, outcome }: RunView): string | undefined {
    const { evidence, verdict } = verdictOf(KILLED, [], lastAct);
    if (outcome !== undefined || verdict !== 'cut_off' || this.#alerted === 'gone') return undefined;
    this.#alerted = 'gone';
    return evidence;
  }

  /** How the run, whose process has ended, ended before, in the words of the report. Undefined if it has said so before. */
  closedAs({ checks, lastAct, outcome = KILLED }: RunView): string | undefined {
    const { evidence } = verdictOf(outcome, checks, lastAct);
    if (evidence === this.#closed) return undefined;
    this.#closed = evidence;
    return evidence;
  }

  placeOf(atMs: number): WatchPlace {
    return { run: this.#run.id, label: this.#label, ...(atMs > 0 ? { atMs } : {}) };
  }

  endOf({ outcome, reason, success }: RunOutcome, atMs: number): Extract<WatchedEvent, { readonly type: 'run_ended' }> {
    return { type: 'run_ended', ...this.placeOf(atMs), outcome, ...present({ reason, success }) };
  }

  take(record: TrajectoryRecord): readonly SeenRecord[] {
    const call = this.view.fold(record);
    const { payload } = record;
    const cause = call?.failed === true ? errorLineOf(call, record) : undefined;
    this.#failure = call === undefined || cause === undefined ? undefined : [call, cause];
    if (this.#isStore && payload.kind === 'run_started') this.#isRecorded = payload.steering !== undefined;
    if (this.#isRecorded) return [{ record, events: this.#eventsOf(record, call) }];
    if (this.#steering === undefined) {
      const found = this.view.changedPatterns.filter(
        (pattern) => isFlagged(pattern) && pattern.clearedAt === undefined,
      );
      const flags = found.map(
        (pattern) => ({ kind: 'pattern_flagged', pattern, cause_seq: record.seq, ordinal: 0 }) as const,
      );
      return [payload, ...flags].map((one) => ({ record: Object.assign({}, record, { payload: one }), events: [] }));
    }
    return this.#steering.take(record).map((item) => ({ record: item, events: this.#eventsOf(item, call) }));
  }

  #eventsOf(record: TrajectoryRecord, call: RunCall | undefined): readonly WatchedEvent[] {
    const { payload, recorded_at_unix_ms: atMs } = record;
    const place = this.placeOf(atMs);
    if (payload.kind === 'run_started') {
      // A run that hooks record has the program as its host.
      const { host = 'coxswain', format = host, task } = payload;
      return [{ type: 'run_started', ...place, format, ...present({ parentRun: this.#run.parentId, task }) }];
    }
    if (payload.kind === 'run_ended') {
      return [this.endOf(payload, atMs)];
    }
    const event = payload.kind === 'tool_ended' ? callEventOf(call, record) : liveEventOf(payload);
    return event === undefined ? [] : [{ ...event, ...place }];
  }
}

const MAX_OPEN = 256;

export interface WatchedFeed {
  take(event: WatchedEvent): Promise<void>;
  called(count: number): void;
  /** How a run ended whose process is gone. */
  closed?(run: string, how: string): void;
}

interface WatcherParts {
  readonly feed: WatchedFeed;
  readonly notifiers: readonly Notifier[];
  readonly deadline: TimeSpan | undefined;
  readonly budget?: Budget | undefined;
  /** True if only notifications are wanted. */
  readonly isQuiet?: boolean;
}

export interface WatchedSource {
  readonly problems: Problems;
  readonly isLive: (atMs: number) => boolean;
  readonly name?: string;
  readonly isStore?: boolean;
  readonly fileOf?: (runId: string) => SessionState | undefined;
  readonly look?: (runId: string) => string;
}

/** Following a file holds the last answer back until the next one, and hooks do not tell that a call began. */
interface SessionState {
  readonly changedAtMs: number;
  readonly bytes: number;
  /** The runs of the file by id, read to its end; undefined while it grows. */
  readonly views: ReadonlyMap<string, RunView> | undefined;
}

interface WatchTick {
  readonly standing: Standing | undefined;
  readonly nowMs: number;
  /** A clock that stands while the machine sleeps. */
  readonly steadyMs: number;
}

const SLEPT_MS = 30_000;
/** Time without a record before a session without a process counts as cut off, in milliseconds. */
const GONE_MS = 60_000;

/** How a run ends if its process does. */
const KILLED = { outcome: 'aborted', reason: 'killed' } as const;

interface OpenRun {
  readonly watched: WatchedRun;
  readonly source: WatchedSource;
}

/** Converts the records of runs to events and writes them. Beyond 256 runs, drops the least recently active run. */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #notices: RunNotifications;
  readonly #labels = new RunLabels();
  readonly #fleet = new FleetFailures();
  readonly #withoutSecrets = secretRemover();
  readonly #open = new LruMap<OpenRun>(MAX_OPEN);
  readonly #childAtMs = new LruMap<number>(MAX_OPEN);
  #lastTick: Pick<WatchTick, 'nowMs' | 'steadyMs'> | undefined;
  #awokeAtMs = 0;
  readonly #started = new WeakSet<ReadRun>();
  readonly #dropped = new WeakSet<ReadRun>();

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.#notices = new RunNotifications({ deadline: parts.deadline, budget: parts.budget });
  }

  async take(item: ReadRunsItem, source: WatchedSource): Promise<void> {
    const { feed, notifiers } = this.#parts;
    if (item.type === 'end') this.#open.delete(keyOf(item.run, source));
    if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') source.problems.fault(item.diagnostic);
    if (item.type !== 'record') return;
    const watched = this.#watchedRun(item.run, source);
    if (watched === undefined) return;
    const { calls } = watched.view;
    const change = watched.take(source.isStore === true ? item.record : this.#withoutSecrets(item.record));
    feed.called(watched.view.calls - calls);
    await this.#noteFailure(watched, item, source);
    for (const { record, events } of change) {
      const about = { project: source.name, view: watched.view, look: () => source.look?.(item.run.id) };
      for (const notice of this.#notices.take(record, item.run.id, about)) {
        if (source.isLive(record.recorded_at_unix_ms)) for (const notifier of notifiers) notifier.tell(notice);
      }
      for (const event of events) await feed.take(event);
      if (item.run.parentId !== undefined) this.#childAtMs.set(item.run.parentId, record.recorded_at_unix_ms);
    }
  }

  async #noteFailure(
    watched: WatchedRun,
    { record, run }: Extract<ReadRunsItem, { readonly type: 'record' }>,
    source: WatchedSource,
  ): Promise<void> {
    const { failure } = watched;
    const atMs = record.recorded_at_unix_ms;
    if (failure === undefined || atMs <= 0) return;
    const place = { project: source.name ?? '', session: run.parentId ?? run.id, atMs };
    const found = this.#fleet.take(...failure, place);
    if (found === undefined || !source.isLive(atMs)) return;
    await this.#parts.feed.take({ type: 'alert', ...watched.placeOf(atMs), kind: 'failing', ...found });
    const notice = this.#notices.found(watched.runId, ['stuck', found.text], found.sinceMs);
    const day = new Date(atMs).toISOString().slice(0, 10);
    this.#tell(notice && { ...notice, topic: `failing ${day} ${place.project} ${found.text}` });
  }

  async tick({ nowMs, standing, steadyMs }: WatchTick): Promise<void> {
    const { feed } = this.#parts;
    const last = this.#lastTick;
    this.#lastTick = { nowMs, steadyMs };
    if (last !== undefined && nowMs - last.nowMs - (steadyMs - last.steadyMs) > SLEPT_MS) this.#awokeAtMs = nowMs;
    for (const notifier of this.#parts.notifiers) notifier.release();
    for (const notice of this.#notices.overdue(nowMs)) this.#tell(notice);
    for (const [, { source, watched }] of this.#open.entries()) {
      const file = source.fileOf?.(watched.runId);
      const found = file === undefined ? watched.view : file.views?.get(watched.runId);
      if (found === undefined) continue;
      // A file of Gemini CLI has a call once it has ended; a hook reports its start, and a permission that it waits for.
      const isBehind = watched.view.lastAtMs >= found.lastAtMs;
      const hasCall = found.runningCall === undefined && watched.view.runningCall !== undefined;
      const waits = found.waitsFor === '' && watched.view.waitsFor !== '';
      const view = isBehind && (hasCall || waits) ? watched.view : found;
      const { outcome } = view;
      // Following has not come to the end that the whole file has.
      if (outcome !== undefined && watched.view.outcome === undefined && source.isLive(view.lastAtMs)) {
        const told = this.#notices.ended(watched.runId, view);
        if (told !== undefined) await feed.take(watched.endOf(outcome, view.lastAtMs));
        this.#tell(told);
      }
      const session = watched.claudeSession;
      if (session !== undefined && standsAs(session, standing) === 'killed') {
        const brokenOff = nowMs - view.lastAtMs > GONE_MS ? watched.brokenOff(view) : undefined;
        const closed = watched.closedAs(view);
        if (closed !== undefined) feed.closed?.(watched.runId, closed);
        if (brokenOff === undefined) continue;
        await feed.take({ ...watched.endOf(KILLED, view.lastAtMs), evidence: brokenOff });
        this.#tell(this.#notices.brokenOff(watched.runId, `was cut off: ${brokenOff}`, view.lastAtMs));
        continue;
      }
      const process = session === undefined ? undefined : standing?.open.get(session);
      const alert = watched.alertAt(view, {
        nowMs,
        activeAtMs: Math.max(this.#awokeAtMs, this.#childAtMs.get(watched.runId) ?? 0, file?.changedAtMs ?? 0),
        hostWaitsFor: process?.waitingFor,
        isAlive: process !== undefined,
      });
      if (alert === undefined) continue;
      await feed.take({ type: 'alert', ...watched.placeOf(nowMs), ...alert });
      this.#tell(this.#notices.found(watched.runId, [alert.kind, alert.text], alert.sinceMs));
    }
  }

  #tell(notice: Notification | undefined): void {
    if (notice !== undefined) for (const notifier of this.#parts.notifiers) notifier.tell(notice);
  }

  #watchedRun(run: ReadRun, source: WatchedSource): WatchedRun | undefined {
    const { isStore = false, name, problems } = source;
    const watchedRun = this.#open.get(keyOf(run, source));
    if (watchedRun !== undefined) return watchedRun.watched;
    if (this.#started.has(run)) {
      if (!this.#dropped.has(run)) {
        const message = `run ${run.id} continues after ${MAX_OPEN} other runs; it is no longer watched`;
        problems.note({ message });
      }
      this.#dropped.add(run);
      return undefined;
    }
    const label = this.#labels.take(run.id, name);
    const watched = new WatchedRun(run, {
      label,
      deadline: this.#parts.deadline,
      isStore,
      isQuiet: this.#parts.isQuiet === true,
    });
    this.#started.add(run);
    this.#open.set(keyOf(run, source), { watched, source });
    return watched;
  }
}

function keyOf({ id }: ReadRun, { isStore = false }: WatchedSource): string {
  return `${isStore ? 'store' : 'file'} ${id}`;
}

const ID_CHARS = 8;
const NAME_CHARS = 16;

class RunLabels {
  readonly #labels = new Set<string>();

  take(runId: string, name?: string): string {
    const ofId = runId.slice(runId.lastIndexOf('/') + 1).replace(/^agent-(?=.)/, '');
    const short = (name ?? ofId).slice(0, name === undefined ? ID_CHARS : NAME_CHARS).toWellFormed();
    let label = short;
    for (let count = 2; this.#labels.has(label); count += 1) label = `${short}~${count}`;
    this.#labels.add(label);
    return label;
  }
}

const SETTLED_MS = 60_000;
const SMALL_SETTLED_MS = 10_000;
const SMALL_BYTES = 256 * 1024;

export class SessionStates {
  readonly #files = new Map<string, SessionState>();
  /** The path of each session's file by the session's id, with which the names of such files end. */
  readonly #paths = new Map<string, string>();
  readonly #waiting = new Map<string, () => void>();
  readonly #withoutSecrets = secretRemover();
  #isStopped = false;

  /** Returns false if there is no such file. */
  async look(path: string): Promise<boolean> {
    const state = stateOfSession(path);
    if (state === undefined) return false;
    const { bytes, modifiedAtMs: changedAtMs } = state;
    const known = this.#files.get(path);
    const isSame = known?.changedAtMs === changedAtMs && known.bytes === bytes;
    if (isSame && known.views !== undefined) return true;
    this.#paths.set(sessionIdOf(path), path);
    const isSettled = systemClock.nowMs() - changedAtMs >= (bytes < SMALL_BYTES ? SMALL_SETTLED_MS : SETTLED_MS);
    this.#files.set(path, { changedAtMs, bytes, views: isSettled ? await this.#viewsIn(path) : undefined });
    if (!isSame) this.#waiting.get(path)?.();
    return true;
  }

  /** Returns a function that waits until a look finds the file changed since it was called before. */
  follow(path: string): () => Promise<void> {
    let seen: string | undefined;
    return async () => {
      while (!this.#isStopped && seen === this.#stateOf(path)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#waiting.set(path, resolve);
        await promise;
      }
      seen = this.#stateOf(path);
    };
  }

  stop(): void {
    this.#isStopped = true;
    for (const wake of this.#waiting.values()) wake();
  }

  #stateOf(path: string): string {
    const { bytes, changedAtMs } = this.#files.get(path) ?? {};
    return `${changedAtMs} ${bytes}`;
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
