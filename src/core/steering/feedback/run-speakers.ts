import type { Severity, StoredAssessment, StoredFeedback } from '../../records/spoken-advice.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { FeedbackContext, PatternTrigger } from '../prompt/feedback-provider.ts';
import type { FeedbackDelivery } from '../prompt/prompt-template.ts';
import type { Session } from '../../session/session.ts';
import {
  AssessmentEvent,
  FeedbackEvent,
  clearPendingTriggers,
  FileTriggerFired,
  FiredFileTrigger,
  PatternTriggerFired,
  PatternTriggerLedger,
  type PatternTriggerServed,
} from './advice-slices.ts';
import { REFUSAL_ADVICE, refusalRule } from '../prompt/refusal.ts';
import {
  checkDraft,
  type CheckedDraft,
  InvalidDraft,
  MAX_FEEDBACK_CHARS,
  renderAssessment,
  renderFeedback,
} from './check-draft.ts';
import {
  askInTime,
  type AskOptions,
  type FeedbackFault,
  type FeedbackFaultHandler,
  FeedbackFaults,
  ignoreRejection,
} from '../advice-engine.ts';
import { contextFor, type Situation, lastSpokenFor } from './advice-context.ts';
import { sessionFeedback, type Speaker } from './speaker.ts';
import { type AdviceCandidate, levelRank, type AdviceView, decideAdvice } from '../advice/advice.ts';
import { messageOf } from '../../base/error.ts';

/** Feedback or an assessment, before delivery. Plain data. */
export type ProducedFeedback = {
  /** The name of the provider or observer. */
  readonly name: string;
  readonly severity: Severity;
  readonly text: string;
  /** Conditions that were met, in the order of `FeedbackTrigger`. */
  readonly triggers: readonly FiredTrigger[];
} & (
  | { readonly source: 'feedback'; readonly feedback: StoredFeedback }
  | { readonly source: 'assessment'; readonly feedback: StoredAssessment }
);

/** The result of one evaluation. Plain data. */
export interface FeedbackEvaluation {
  /** In order of declaration; at most one with delivery `first`. */
  readonly produced: readonly ProducedFeedback[];
  readonly faults: readonly FeedbackFault[];
}

export interface RunSpeakersOptions extends AskOptions {
  readonly delivery: FeedbackDelivery;
  /** Noise control. If false, the feedback is dropped as if its provider had not run. Must not throw. Default: all are admitted. */
  readonly admit?: ((item: ProducedFeedback) => boolean) | undefined;
  /** Returns true if `admit` would refuse a provider's feedback about this pattern. The provider then does not run. */
  readonly refuses?: ((pattern: TrajectoryPattern, provider: string) => boolean) | undefined;
  /** Called if feedback waits because one of the last calls was refused. Must not throw. */
  readonly onHeld?: ((provider: string, pattern: CheckedDraft['pattern']) => void) | undefined;
  readonly onFault?: FeedbackFaultHandler | undefined;
}

/** Stores the feedback of providers and observers, then the fired triggers. Never throws because of one. */
export function runSpeakers(
  speakers: readonly Speaker[],
  situation: Situation,
  getContext: () => FeedbackContext,
  options: RunSpeakersOptions,
): FeedbackEvaluation {
  const { session } = situation;
  const { redact = (text: string): string => text } = options;
  const faults = new FeedbackFaults(options.onFault, redact);
  const state = sessionFeedback(session);
  if (state.runningSpeaker !== undefined) {
    const message = 'feedback was requested while feedback was being produced';
    faults.report(state.runningSpeaker, 'provide', 'provider-recursed', message);
    return { produced: [], faults: faults.list() };
  }
  const produced: ProducedFeedback[] = [];
  const ranSpeakers: RanSpeaker[] = [];
  try {
    for (const speaker of speakers) {
      if (options.disabled?.has(speaker.key) === true) continue;
      const triggers = evaluateTriggers(speaker, situation, faults);
      if (triggers.length === 0 || isRefused(speaker, triggers, options)) continue;
      state.runningSpeaker = speaker;
      const context = contextFor(speaker, triggers, getContext(), situation);
      const { hasRun, draft: ownDraft } = askSpeaker(speaker, context, faults, options);
      const draft = ownDraft && afterRefusal(ownDraft, triggers, situation);
      if (draft === 'hold') {
        options.onHeld?.(speaker.provider.name, ownDraft?.pattern);
        continue;
      }
      const item = draft === undefined ? undefined : compose(speaker, redactDraft(draft, redact), triggers, situation);
      const isValid = item !== undefined && checkLength(item, speaker, faults);
      if (isValid && options.admit?.(item) === false) continue;
      if (hasRun) ranSpeakers.push({ speaker, triggers });
      if (!isValid) continue;
      dispatchFeedback(item, session);
      produced.push(item);
      if (options.delivery === 'first') break;
    }
  } finally {
    state.runningSpeaker = undefined;
  }
  if (ranSpeakers.length > 0) settleTriggers(session, ranSpeakers, situation.nowMs);
  return { produced, faults: faults.list() };
}

/** If calls of the pattern were refused, another draft replaces it. `hold`: not now. Without a pattern, it stays. */
function afterRefusal(
  draft: CheckedDraft,
  triggers: readonly FiredTrigger[],
  { trajectory }: Situation,
): CheckedDraft | 'hold' {
  const pattern = draft.pattern ?? triggers.find((trigger) => trigger.condition === 'onPattern')?.pattern;
  const rule = pattern && refusalRule(trajectory, pattern);
  if (rule !== 'ask') return rule ?? draft;
  return { ...draft, summary: REFUSAL_ADVICE, observations: [], suggestions: [] };
}

function isRefused(
  { provider }: Speaker,
  triggers: readonly FiredTrigger[],
  { refuses }: Pick<RunSpeakersOptions, 'refuses'>,
): boolean {
  if (refuses === undefined || !('refersToTriggerPattern' in provider)) return false;
  const patternTrigger = triggers.find((trigger) => trigger.condition === 'onPattern');
  return patternTrigger !== undefined && refuses(patternTrigger.pattern, provider.name);
}

function evaluateTriggers(speaker: Speaker, situation: Situation, faults: FeedbackFaults): readonly FiredTrigger[] {
  try {
    return firedTriggers(speaker, situation);
  } catch (thrown) {
    faults.report(speaker, 'trigger', 'provider-failed', messageOf(thrown));
    return [];
  }
}

function checkLength(item: ProducedFeedback, speaker: Speaker, faults: FeedbackFaults): boolean {
  const { length } = item.text;
  if (length <= MAX_FEEDBACK_CHARS) return true;
  const message = `rendered, it has ${length} characters, at most ${MAX_FEEDBACK_CHARS} are allowed`;
  faults.report(speaker, 'provide', 'provider-invalid', message);
  return false;
}

function redactDraft(draft: CheckedDraft, redact: (text: string) => string): CheckedDraft {
  return {
    ...draft,
    summary: redact(draft.summary),
    suggestions: draft.suggestions.map(redact),
    observations: draft.observations.map(({ category, description, evidence }) => ({
      category: redact(category),
      description: redact(description),
      ...(evidence === undefined ? {} : { evidence: redact(evidence) }),
    })),
  };
}

function compose(
  speaker: Speaker,
  draft: CheckedDraft,
  triggers: readonly FiredTrigger[],
  situation: Situation,
): ProducedFeedback {
  const { name } = speaker.provider;
  const { nowMs: atMs, callCount: callIndex, promptName } = situation;
  const common = { name, severity: draft.severity, triggers };
  const advice = { ...draft, atMs, callIndex, promptName };
  if (speaker.source === 'feedback') {
    const feedback = { providerName: name, ...advice };
    return { ...common, source: 'feedback', feedback, text: renderFeedback(feedback) };
  }
  const assessment = { observerName: name, ...advice };
  return { ...common, source: 'assessment', feedback: assessment, text: renderAssessment(assessment) };
}

function dispatchFeedback(item: ProducedFeedback, session: Session): void {
  const options = { atMs: item.feedback.atMs };
  session.dispatch(
    item.source === 'feedback' ? FeedbackEvent(item.feedback, options) : AssessmentEvent(item.feedback, options),
  );
}

interface SpeakerResult {
  /** True once `provide` was called, even if it failed. */
  readonly hasRun: boolean;
  readonly draft?: CheckedDraft;
}

/** Runs one speaker. Never throws. Faults are reported. */
function askSpeaker(
  speaker: Speaker,
  context: FeedbackContext,
  faults: FeedbackFaults,
  options: AskOptions,
): SpeakerResult {
  return askInTime(
    () => callSpeaker(speaker, context, faults),
    () => speaker.key,
    options,
    ({ hasRun }, message) => faults.report(speaker, hasRun ? 'provide' : 'shouldRun', 'provider-overrun', message),
  );
}

function callSpeaker(speaker: Speaker, context: FeedbackContext, faults: FeedbackFaults): SpeakerResult {
  const { provider } = speaker;
  let phase: 'shouldRun' | 'provide' = 'shouldRun';
  try {
    const isApplicable: unknown = provider.shouldRun(context);
    if (typeof isApplicable !== 'boolean') {
      ignoreRejection(isApplicable);
      throw new InvalidDraft(`shouldRun must return true or false synchronously, got ${typeof isApplicable}`);
    }
    if (!isApplicable) return { hasRun: false };
    phase = 'provide';
    const draft: unknown = provider.provide(context);
    ignoreRejection(draft);
    return { hasRun: true, draft: checkDraft(draft) };
  } catch (thrown) {
    if (thrown instanceof InvalidDraft) faults.report(speaker, phase, 'provider-invalid', thrown.message);
    else faults.report(speaker, phase, 'provider-failed', messageOf(thrown));
    return { hasRun: phase === 'provide' };
  }
}

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

/** Without any, the speaker does not run. Throws as `Filesystem.exists`. Cost: O(speakers with feedback + open patterns). */
function firedTriggers(speaker: Speaker, situation: Situation): readonly FiredTrigger[] {
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
  let held: FiredTrigger | undefined;
  for (const pattern of openMatches.toSorted((a, b) => levelRank(b.level) - levelRank(a.level))) {
    const candidate = createCandidate(speaker, pattern);
    if (!decideAdvice(ledger, candidate, view).say) continue;
    const fired = { condition: 'onPattern', pattern, served: { candidate, view } } as const;
    if (held === undefined && refusalRule(trajectory, pattern) !== 'hold') return fired;
    // A pattern that waits must not hide one of refused calls: about those the agent is told to ask.
    if (held !== undefined && 2 * (pattern.refused ?? 0) >= pattern.occurrences) return fired;
    held ??= fired;
  }
  return held;
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

interface RanSpeaker {
  readonly speaker: Speaker;
  readonly triggers: readonly FiredTrigger[];
}

function settleTriggers(session: Session, ran: readonly RanSpeaker[], atMs: number): void {
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
