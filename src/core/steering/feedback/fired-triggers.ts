import { type AdviceCandidate, levelRank, type AdviceView } from '../advice/advice.ts';
import { decideAdvice } from '../advice/decide-advice.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { PatternTrigger } from '../prompt/feedback-trigger.ts';
import { lastSpokenFor, type Situation } from './advice-context.ts';
import type { Speaker } from './speaker.ts';
import {
  clearPendingTriggers,
  FileTriggerFired,
  FiredFileTrigger,
  PatternTriggerFired,
  PatternTriggerLedger,
  type PatternTriggerServed,
} from './advice-slices.ts';
import type { Session } from '../../session/session.ts';

/** A trigger condition that was met, with its cause. Plain data. */
export type FiredTrigger =
  | { readonly condition: 'everyNCalls'; readonly calls: number }
  /** `elapsedMs` is null the first time. */
  | { readonly condition: 'everyNSeconds'; readonly elapsedMs: number | null }
  | { readonly condition: 'onSessionEvent'; readonly eventName: string }
  | {
      readonly condition: 'onPattern';
      readonly pattern: TrajectoryPattern;
      /** @internal */
      readonly served: PatternTriggerServed;
    }
  | { readonly condition: 'onFileCreated'; readonly path: string };

/**
 * Returns the conditions of a speaker's trigger that are met. If the list is empty, the speaker (provider or observer) does
 * not run.
 *
 * @throws as `Filesystem.exists`
 *
 * Cost: O(speakers that gave feedback), and O(open patterns) with `onPattern`.
 */
export function firedTriggers(speaker: Speaker, situation: Situation): readonly FiredTrigger[] {
  const { everyNCalls = 0, everyNSeconds = 0, onSessionEvent, onPattern, onFileCreated } = speaker.trigger;
  const fired: FiredTrigger[] = [];
  if (everyNCalls > 0 || everyNSeconds > 0) {
    const lastAdvice = lastSpokenFor(speaker, situation)?.said;
    const calls = situation.callCount - (lastAdvice?.callIndex ?? 0);
    const elapsedMs = lastAdvice === undefined ? null : situation.nowMs - lastAdvice.atMs;
    if (everyNCalls > 0 && calls >= everyNCalls) fired.push({ condition: 'everyNCalls', calls });
    if (everyNSeconds > 0 && (elapsedMs === null || elapsedMs >= everyNSeconds * 1_000)) {
      fired.push({ condition: 'everyNSeconds', elapsedMs });
    }
  }
  if (onSessionEvent !== undefined && situation.pendingEventNames.includes(onSessionEvent.eventName)) {
    fired.push({ condition: 'onSessionEvent', eventName: onSessionEvent.eventName });
  }
  const pattern = onPattern === undefined ? undefined : findFiredPattern(speaker, onPattern, situation);
  if (pattern !== undefined) fired.push(pattern);
  if (onFileCreated !== undefined && isNewFile(speaker, onFileCreated, situation)) {
    fired.push({ condition: 'onFileCreated', path: onFileCreated });
  }
  return fired;
}

function findFiredPattern(speaker: Speaker, trigger: PatternTrigger, situation: Situation): FiredTrigger | undefined {
  const { trajectory, session } = situation;
  const openMatches = trajectory?.openPatterns().filter((pattern) => matchesTrigger(pattern, trigger)) ?? [];
  if (trajectory === undefined || openMatches.length === 0) return undefined;
  const ledger = session.slice(PatternTriggerLedger).all();
  const view: AdviceView = {
    callIndex: trajectory.calls,
    turn: trajectory.turns,
    compactions: trajectory.compactions,
  };
  for (const pattern of openMatches.toSorted((a, b) => levelRank(b.level) - levelRank(a.level))) {
    const candidate = createCandidate(speaker, pattern);
    if (decideAdvice(ledger, candidate, view).say) {
      return { condition: 'onPattern', pattern, served: { candidate, view } };
    }
  }
  return undefined;
}

function matchesTrigger(pattern: TrajectoryPattern, { kind, level = 'warn', stuck }: PatternTrigger): boolean {
  return (
    levelRank(pattern.level) >= levelRank(level) &&
    (kind === undefined || pattern.kind === kind) &&
    (stuck === undefined || pattern.stuck === stuck)
  );
}

/** The ledger has one entry per speaker and occurrence of a pattern. A pattern that comes back is therefore flagged again. */
function createCandidate(speaker: Speaker, pattern: TrajectoryPattern): AdviceCandidate {
  return {
    source: 'feedback',
    identity: `${speaker.key} ${pattern.identity} ${pattern.flaggedAt ?? 'hint'}`,
    level: pattern.level,
    occurrences: pattern.occurrences,
  };
}

function isNewFile(speaker: Speaker, path: string, { session, fileExists }: Situation): boolean {
  const firedFiles = session.slice(FiredFileTrigger).all();
  return !firedFiles.some((item) => item.speaker === speaker.key && item.path === path) && fileExists(path);
}

/** A speaker that ran, and the conditions that were met. */
export interface RanSpeaker {
  readonly speaker: Speaker;
  readonly triggers: readonly FiredTrigger[];
}

/** Stores the fired triggers of the speakers that ran. Call it after all speakers were evaluated. */
export function settleTriggers(session: Session, ran: readonly RanSpeaker[], atMs: number): void {
  const eventNames: string[] = [];
  for (const { speaker, triggers } of ran) {
    for (const trigger of triggers) {
      if (trigger.condition === 'onSessionEvent') eventNames.push(trigger.eventName);
      if (trigger.condition === 'onPattern') session.dispatch(PatternTriggerFired(trigger.served, { atMs }));
      if (trigger.condition === 'onFileCreated') {
        session.dispatch(FileTriggerFired({ speaker: speaker.key, path: trigger.path }, { atMs }));
      }
    }
  }
  clearPendingTriggers(session, eventNames, atMs);
}
