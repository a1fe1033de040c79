import { isExpired, type TimeSpan, deadlineAfter } from '../../core/base/deadline.ts';
import { budgetRemaining, type Budget } from '../../core/base/budget.ts';
import { countOf, periodText } from '../../core/base/number-text.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { printableCut } from '../../core/base/printable.ts';
import { LIMIT_AHEAD_PERCENT, limitIn, type LimitUsed } from '../../core/facts/limit-used.ts';
import { inWords } from '../../core/records/words.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import { present } from '../../core/base/json.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { taskTitle } from '../../core/facts/task-title.ts';
import { pressureOf, withWork, type RecentWork } from '../../core/facts/run-pressure.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { cutOffText, isCutOff, type RunOutcome } from '../../core/facts/run-verdict.ts';
import { checksWith, type SubagentWork } from '../../core/facts/subagent-work.ts';
import { changeOf } from '../../core/facts/seen-pattern.ts';
import {
  situationAfterStart,
  deadlineOf,
  EMPTY_SITUATION,
  knownUsage,
  type RunSituation,
} from '../../core/run/run-situation.ts';
import { timeOfDay, type Notification, type NotifyEvent } from './notification.ts';

const MAX_RUNS = 256;
const MAX_DEPTH = 16;

export interface RunNotificationsOptions {
  /** Deadline for runs that have neither a parent nor a deadline, counted from their first record. */
  readonly deadline?: TimeSpan | undefined;
  /** Budget for runs that have neither a parent nor a budget. */
  readonly budget?: Budget | undefined;
}

/** What a notification says about a run beside its news. */
export interface AboutRun {
  readonly project?: string | undefined;
  /** The run as the caller has folded it. Default: it is folded here. */
  readonly view?: RunView;
  /** Returns the command that shows the run, such as `coxswain show 545b45d4`. */
  readonly look?: () => string | undefined;
}

interface RunNotes {
  readonly situation: RunSituation;
  readonly isSubagent: boolean;
  readonly parentId?: string | undefined;
  /** What it and its subagents did in the last ten minutes. */
  readonly recent: readonly RecentWork[];
  readonly about: AboutRun;
  readonly view: RunView;
  /** Of the answers so far. */
  readonly costUsd: number;
  readonly hasEnded: boolean;
  /** The time of an end that was told before its record came, until the run goes on. */
  readonly toldEndAtMs?: number | undefined;
  readonly calls: number;
  readonly wasAdvised: boolean;
  readonly sent: readonly NotifyEvent[];
}

/** Derives notifications from the records of live runs. The end of a subagent causes no notification. Memory: 256 runs. */
export class RunNotifications {
  readonly #options: RunNotificationsOptions;
  readonly #runs = new LruMap<RunNotes>(MAX_RUNS);

  constructor(options: RunNotificationsOptions = {}) {
    this.#options = options;
  }

  /** Processes the next record of a run and returns its notifications. Older records must be passed too. */
  take(record: TrajectoryRecord, run: string, about: AboutRun = {}): readonly Notification[] {
    const knownNotes = this.#runs.get(run) ?? this.#notesOf(record, about.view ?? new RunView());
    const { view = knownNotes.view } = about;
    if (about.view === undefined) view.fold(record);
    const isAnswer = record.payload.kind === 'message_appended' && record.payload.message.role === 'assistant';
    // The total that the host states at the end was spent before.
    const spentUsd = isAnswer ? (view.usage.costUsd ?? 0) : knownNotes.costUsd;
    const costUsd = Math.max(0, spentUsd - knownNotes.costUsd);
    const before = { ...knownNotes, about, view, costUsd: spentUsd };
    const { notes, news } = this.#notesAfter(before, record, run);
    this.#runs.set(run, notes);
    const children = record.payload.kind === 'run_started' && notes.isSubagent ? 1 : 0;
    const work = { atMs: record.recorded_at_unix_ms, costUsd, children };
    // Only these change the size of a context, or what was spent.
    const pressure = isAnswer || children > 0 ? this.#pressure(run, work) : [];
    const told = [...news.map((one) => notificationOf(run, notes, one)), ...pressure];
    return work.atMs > 0 ? told.map((one) => Object.assign(one, { atMs: work.atMs })) : told;
  }

  /** Counts the work of a run in it and in the session that started it. */
  #pressure(run: string, work: RecentWork): readonly Notification[] {
    if (work.atMs <= 0) return [];
    let at: string | undefined = run;
    for (let level = 0; level < MAX_DEPTH && at !== undefined; level += 1) {
      const notes: RunNotes | undefined = this.#runs.get(at);
      if (notes === undefined) return [];
      if (!notes.isSubagent) return this.#pressureOn(at, notes, work);
      at = notes.parentId;
    }
    return [];
  }

  #pressureOn(run: string, notes: RunNotes, work: RecentWork): readonly Notification[] {
    const recent = work.costUsd > 0 || work.children > 0 ? withWork(notes.recent, work) : notes.recent;
    const found = pressureOf(notes.view.context, recent, work.atMs);
    const news = found.filter(({ kind }) => !notes.sent.includes(kind));
    const sent = [...notes.sent, ...news.map(({ kind }) => kind)];
    this.#runs.set(run, { ...notes, recent, sent });
    return news.map(({ kind, text }) => notificationOf(run, notes, [kind, text]));
  }

  viewOf(run: string): RunView | undefined {
    return this.#runs.get(run)?.view;
  }

  overdue(nowMs: number): readonly Notification[] {
    return this.#runs.entries().flatMap(([run, notes]) => {
      const deadline = deadlineOf(notes.situation);
      const isDue = deadline !== undefined && !notes.hasEnded && !notes.isSubagent && isExpired(deadline, nowMs);
      if (!isDue || notes.sent.includes('deadline')) return [];
      this.#runs.set(run, { ...notes, sent: [...notes.sent, 'deadline'] });
      return [notificationOf(run, notes, ['deadline', PAST_DEADLINE])];
    });
  }

  /** @param sinceMs  Unix milliseconds. An event of a run is sent once for each */
  found(run: string, [event, what]: News, sinceMs: number): Notification | undefined {
    const notes = this.#runs.get(run);
    if (notes === undefined || notes.isSubagent) return undefined;
    return { ...notificationOf(run, notes, [event, `${what}, since ${timeOfDay(sinceMs)}`]), cause: String(sinceMs) };
  }

  /** Returns the notification of an end that only the whole file of a run tells. It is returned once. */
  ended(run: string, view: RunView): Notification | undefined {
    const { lastAtMs, outcome } = view;
    const notes = outcome === undefined ? undefined : this.#endedNotes(run, lastAtMs);
    return outcome && notes && notificationOf(run, notes, endNews(outcome, view, this.#workBelow(run)));
  }

  /** Returns the notification of a run whose process ended in the middle of work. The record of this end is then no news. */
  brokenOff(run: string, what: string, sinceMs: number): Notification | undefined {
    const notes = this.#endedNotes(run, sinceMs);
    return notes && this.found(run, ['failed', what], sinceMs);
  }

  /** Undefined if the end was told before. */
  #endedNotes(run: string, atMs: number): RunNotes | undefined {
    const notes = this.#runs.get(run);
    if (notes === undefined || notes.isSubagent || notes.hasEnded) return undefined;
    this.#runs.set(run, { ...notes, hasEnded: true, toldEndAtMs: atMs });
    return notes;
  }

  #notesOf(record: TrajectoryRecord, view: RunView): RunNotes {
    const { recorded_at_unix_ms: atMs, depth } = record;
    const { budget = {}, deadline } = this.#options;
    const isSubagent = depth > 0;
    const deadlineAtMs = isSubagent || deadline === undefined || atMs === 0 ? null : deadlineAfter(atMs, deadline).atMs;
    return {
      situation: { ...EMPTY_SITUATION, deadlineAtMs, budget: isSubagent ? {} : budget },
      isSubagent,
      ...present({ parentId: record.parent_run_id }),
      recent: [],
      about: {},
      view,
      costUsd: 0,
      hasEnded: false,
      calls: 0,
      wasAdvised: false,
      sent: [],
    };
  }

  /** What its subagents did, and theirs, as far as they were passed. */
  #workBelow(run: string): readonly SubagentWork[] {
    const runs = this.#runs.entries();
    const ids = new Set([run]);
    // A set visits what is added while it is read.
    for (const at of ids) for (const [id, { parentId }] of runs) if (parentId === at) ids.add(id);
    ids.delete(run);
    return runs.flatMap(([id, { view }]) => (ids.has(id) ? [{ id, ...view.workAt(view.verdict) }] : []));
  }

  #notesAfter(before: RunNotes, record: TrajectoryRecord, run: string): { notes: RunNotes; news: readonly News[] } {
    const { recorded_at_unix_ms: atMs, payload } = record;
    const notes = this.#updatedNotes(before, record);
    const news: News[] = [];
    const deadline = deadlineOf(notes.situation);
    if (deadline !== undefined && atMs > 0 && isExpired(deadline, atMs)) news.push(['deadline', PAST_DEADLINE]);
    const statedUsage = payload.kind === 'evaluation' ? payload : {};
    const { costUsd = null, tokens = null } = notes.view.usage;
    const spent = knownUsage({ ...notes.situation, costUsd, tokens }, notes.calls, statedUsage);
    const budgetLeft = budgetRemaining(notes.situation.budget, spent);
    if (Object.values(budgetLeft).includes(0)) news.push(['budget', 'has used up its budget']);
    const onceOnly = notes.isSubagent ? [] : news.filter(([event]) => !notes.sent.includes(event));
    const otherNews: News[] = [];
    const limit = notes.isSubagent ? undefined : limitIn(payload);
    if (limit !== undefined) otherNews.push(...limitNews(limit, atMs));
    if (payload.kind === 'pattern_flagged') otherNews.push(...patternNews(payload.pattern, before.wasAdvised));
    if (payload.kind === 'run_ended' && !notes.isSubagent && notes.toldEndAtMs === undefined)
      otherNews.push(endNews(payload, notes.view, this.#workBelow(run)));
    return {
      notes: { ...notes, sent: [...notes.sent, ...onceOnly.map(([event]) => event)] },
      news: [...onceOnly, ...otherNews],
    };
  }

  #updatedNotes(before: RunNotes, { payload, recorded_at_unix_ms: atMs }: TrajectoryRecord): RunNotes {
    const isWork = payload.kind === 'message_appended' || payload.kind === 'tool_started';
    // An agent program continues a session after its end. Records of before the end that was told may follow it.
    const isGoingOn = isWork && (before.toldEndAtMs === undefined || atMs > before.toldEndAtMs);
    const notes = isGoingOn ? { ...before, hasEnded: false, toldEndAtMs: undefined } : before;
    const { situation } = notes;
    if (payload.kind === 'run_ended') return { ...notes, hasEnded: true };
    if (payload.kind === 'run_started' || payload.kind === 'run_identified' || payload.kind === 'child_ended') {
      const next = situationAfterStart(situation, payload);
      const budget = Object.keys(next.budget).length > 0 ? next.budget : situation.budget;
      return { ...notes, situation: { ...next, budget, deadlineAtMs: next.deadlineAtMs ?? situation.deadlineAtMs } };
    }
    if (payload.kind === 'deadline_set') {
      return { ...notes, situation: { ...situation, deadlineAtMs: payload.deadline_at_unix_ms ?? null } };
    }
    if (payload.kind === 'compaction') return { ...notes, sent: notes.sent.filter((event) => event !== 'context') };
    if (payload.kind === 'tool_ended') return { ...notes, calls: notes.calls + 1 };
    return isHeardAdvice(payload) ? { ...notes, wasAdvised: true } : notes;
  }
}

/** Only advice that reached the agent counts. */
function isHeardAdvice(payload: TrajectoryRecord['payload']): boolean {
  if (payload.kind === 'feedback_delivered') return payload.delivered;
  return payload.kind === 'guidance_delivered' && payload.guidance.delivered;
}

type News = readonly [event: NotifyEvent, what: string];

const PAST_DEADLINE = 'is past its deadline';
const TITLE_CHARS = 60;
/** The reasons that a limit of the model's provider has. */
const LIMITS: ReadonlySet<string | undefined> = new Set(['rate_limit', 'credit']);

/** The sentence names the project, the task, the news and the command to look. */
function notificationOf(run: string, { about, situation }: RunNotes, [event, what]: News): Notification {
  const title = taskTitle(situation.task ?? '');
  const parts = [about.project, title === undefined ? undefined : `‘${printableCut(title, TITLE_CHARS)}’`];
  const subject = parts.filter((part) => part !== undefined).join(', ') || `Run ${run}`;
  const look = about.look?.();
  return { event, run, message: `${subject} ${what}${look === undefined ? '' : `; ${look}`}` };
}

function endNews(
  { labels, outcome, reason, success }: RunOutcome,
  view: RunView,
  below: readonly SubagentWork[],
): News {
  const hasFailed = success === false || (success === undefined && isCutOff({ outcome, ...present({ reason }) }));
  const reasonText = reason === undefined ? inWords('outcome', outcome) : inWords('reason', reason);
  // The host's own words say when a limit ends.
  const error = labels?.['error'];
  const words = typeof error === 'string' && error.trim() !== '' ? [`"${error.trim()}"`] : [];
  if (hasFailed && LIMITS.has(reason)) return ['limit', `reached a limit: ${words[0] ?? reasonText}`];
  const { lastAct, verdict, work } = view;
  if (reason === 'killed') {
    const { evidence } = verdict;
    return verdict.verdict === 'cut_off' ? ['failed', `was cut off: ${evidence}`] : ['ended', `ended: ${evidence}`];
  }
  if (hasFailed) return ['failed', ['failed', reasonText, ...words].join(': ')];
  if (success === true) return ['ended', `ended: ${reasonText}`];
  // A host that is ended from outside says no more than that it ended.
  if (reason === undefined && lastAct.isRunning === true) return ['failed', `was ${cutOffText(lastAct)}`];
  const failed = checksWith(view.workAt(verdict).checks, below).findLast((check) => check.failed);
  if (failed !== undefined) {
    const command = printableCut(failed.command, TITLE_CHARS);
    const place = failed.agent === undefined ? '' : ' in a subagent';
    return ['ended', `ended: ${reasonText}, but "${command}" failed${place} and did not pass later`];
  }
  if (verdict.isRefused === true) return ['ended', `ended: ${verdict.why ?? reasonText}`];
  const { question } = work.work;
  if (verdict.answer === 'shown' && question !== undefined) return ['ended', `ended and asks: ${question}`];
  return ['ended', `ended: ${reasonText}`];
}

const DAY_MS = 24 * 3_600_000;

function limitNews({ resetsAtMs, usedPercent, windowMinutes }: LimitUsed, atMs: number): readonly News[] {
  if (usedPercent < LIMIT_AHEAD_PERCENT) return [];
  const day =
    resetsAtMs !== undefined && resetsAtMs - atMs > DAY_MS ? `${new Date(resetsAtMs).toISOString().slice(0, 10)} ` : '';
  const resets = resetsAtMs === undefined ? '' : `, which resets at ${day}${timeOfDay(resetsAtMs)}`;
  const limit = `a limit of ${periodText(windowMinutes * 60_000)}`;
  return [['limit', `has used ${Math.floor(usedPercent)} % of ${limit}${resets}`]];
}

function patternNews(pattern: TrajectoryPattern, wasAdvised: boolean): readonly News[] {
  if (!pattern.stuck || pattern.level === 'hint') return [];
  const toolText = pattern.tool === undefined ? '' : ` (${pattern.tool})`;
  const patternText = `${inWords('pattern', pattern.kind)}${toolText}, seen ${countOf(pattern.occurrences, 'time')}`;
  return changeOf(pattern) === 'raised' && wasAdvised
    ? [['continued', `continues after advice: ${patternText}`]]
    : [['stuck', `is stuck: ${patternText}`]];
}
