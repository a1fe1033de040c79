import { isExpired, type TimeSpan, deadlineAfter } from '../../core/base/deadline.ts';
import { budgetRemaining } from '../../core/base/budget.ts';
import { countOf } from '../../core/base/number-text.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { inWords } from '../../core/records/words.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { isCutOff } from '../../core/facts/run-verdict.ts';
import { changeOf } from '../../core/facts/seen-pattern.ts';
import {
  situationAfterResponse,
  situationAfterStart,
  deadlineOf,
  EMPTY_SITUATION,
  knownUsage,
  type RunSituation,
} from '../../core/run/run-situation.ts';
import type { Notification, NotifyEvent } from './notification.ts';

const MAX_RUNS = 256;

/** Selects the advice that counts, and sets a default deadline. */
export interface RunNotificationsOptions {
  /** True: only delivered advice counts. False (default): produced advice counts too. */
  readonly delivered?: boolean;
  /** Deadline for runs that have neither a parent nor a deadline, counted from their first record. */
  readonly deadline?: TimeSpan | undefined;
}

interface RunNotes {
  readonly situation: RunSituation;
  readonly isSubagent: boolean;
  readonly calls: number;
  readonly wasAdvised: boolean;
  /** Events of the run that were already sent. */
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
  take(record: TrajectoryRecord, run: string): readonly Notification[] {
    const knownNotes = this.#runs.get(run) ?? this.#notesOf(record);
    const { notes, news } = this.#notesAfter(knownNotes, record);
    this.#runs.set(run, notes);
    return news.map(([event, what]) => ({ event, run, message: `${what}. Run ${run}.` }));
  }

  #notesOf(record: TrajectoryRecord): RunNotes {
    const { recorded_at_unix_ms: atMs, depth } = record;
    const { deadline } = this.#options;
    const isSubagent = depth > 0;
    const deadlineAtMs = isSubagent || deadline === undefined || atMs === 0 ? null : deadlineAfter(atMs, deadline).atMs;
    return { situation: { ...EMPTY_SITUATION, deadlineAtMs }, isSubagent, calls: 0, wasAdvised: false, sent: [] };
  }

  #notesAfter(before: RunNotes, record: TrajectoryRecord): { notes: RunNotes; news: readonly News[] } {
    const { recorded_at_unix_ms: atMs, payload } = record;
    const notes = this.#updatedNotes(before, record);
    const news: News[] = [];
    const deadline = deadlineOf(notes.situation);
    if (deadline !== undefined && atMs > 0 && isExpired(deadline, atMs))
      news.push(['deadline', 'A run is past its deadline']);
    const statedUsage = payload.kind === 'evaluation' ? payload : {};
    const budgetLeft = budgetRemaining(notes.situation.budget, knownUsage(notes.situation, notes.calls, statedUsage));
    if (Object.values(budgetLeft).includes(0)) news.push(['budget', 'A run has used up its budget']);
    const onceOnly = notes.isSubagent ? [] : news.filter(([event]) => !notes.sent.includes(event));
    const otherNews: News[] = [];
    if (payload.kind === 'pattern_flagged') otherNews.push(...patternNews(payload.pattern, before.wasAdvised));
    if (payload.kind === 'run_ended' && !notes.isSubagent) {
      const hasFailed = payload.success === false || (payload.success === undefined && isCutOff(payload));
      const reasonText =
        payload.reason === undefined ? inWords('outcome', payload.outcome) : inWords('reason', payload.reason);
      otherNews.push([hasFailed ? 'failed' : 'ended', `A run ${hasFailed ? 'failed' : 'ended'}: ${reasonText}`]);
    }
    return {
      notes: { ...notes, sent: [...notes.sent, ...onceOnly.map(([event]) => event)] },
      news: [...onceOnly, ...otherNews],
    };
  }

  #updatedNotes(notes: RunNotes, { payload }: TrajectoryRecord): RunNotes {
    const { situation } = notes;
    if (payload.kind === 'run_started' || payload.kind === 'run_identified' || payload.kind === 'child_ended') {
      const next = situationAfterStart(situation, payload);
      return { ...notes, situation: { ...next, deadlineAtMs: next.deadlineAtMs ?? situation.deadlineAtMs } };
    }
    if (payload.kind === 'deadline_set') {
      return { ...notes, situation: { ...situation, deadlineAtMs: payload.deadline_at_unix_ms ?? null } };
    }
    if (payload.kind === 'message_appended' && payload.message.role === 'assistant') {
      return { ...notes, situation: situationAfterResponse(situation, payload) };
    }
    if (payload.kind === 'tool_ended') return { ...notes, calls: notes.calls + 1 };
    return this.#isAdvice(payload) ? { ...notes, wasAdvised: true } : notes;
  }

  #isAdvice(payload: TrajectoryRecord['payload']): boolean {
    if (payload.kind === 'feedback_delivered') return payload.delivered;
    if (payload.kind === 'guidance_delivered') return payload.guidance.delivered;
    if (this.#options.delivered === true) return false;
    return payload.kind === 'feedback_produced' || payload.kind === 'guidance_produced';
  }
}

type News = readonly [event: NotifyEvent, what: string];

function patternNews(pattern: TrajectoryPattern, wasAdvised: boolean): readonly News[] {
  if (!pattern.stuck || pattern.level === 'hint') return [];
  const toolText = pattern.tool === undefined ? '' : ` (${pattern.tool})`;
  const patternText = `${inWords('pattern', pattern.kind)}${toolText}, seen ${countOf(pattern.occurrences, 'time')}`;
  return changeOf(pattern) === 'raised' && wasAdvised
    ? [['continued', `An agent continues after advice: ${patternText}`]]
    : [['stuck', `An agent is stuck: ${patternText}`]];
}
