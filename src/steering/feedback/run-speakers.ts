import type { StoredAssessment } from '../../records/assessment.ts';
import type { Severity, StoredFeedback } from '../../records/feedback.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackDelivery } from '../prompt/prompt-template.ts';
import type { Session } from '../../session/session.ts';
import { AssessmentEvent, FeedbackEvent } from './advice-slices.ts';
import { checkDraft, type CheckedDraft, InvalidDraft, MAX_FEEDBACK_CHARS } from './check-draft.ts';
import { contextFor } from './create-feedback-context.ts';
import { type FeedbackFault, type FeedbackFaultHandler, FeedbackFaults } from './feedback-fault.ts';
import { type FiredTrigger, firedTriggers, type RanSpeaker, settleTriggers } from './fired-triggers.ts';
import { renderAssessment, renderFeedback } from './render-feedback.ts';
import { sessionFeedback } from './prepare-feedback.ts';
import type { Situation } from './situation.ts';
import type { Speaker } from './speaker.ts';

/** Feedback or an assessment that was just produced, not yet delivered. Plain data. */
export type ProducedFeedback = ProducedParts &
  (
    | { readonly source: 'feedback'; readonly feedback: StoredFeedback }
    | { readonly source: 'assessment'; readonly feedback: StoredAssessment }
  );

interface ProducedParts {
  /** The provider's or observer's name. */
  readonly name: string;
  readonly severity: Severity;
  /** As the agent reads it. */
  readonly text: string;
  /** Every condition that was met, in the order of `FeedbackTrigger`. */
  readonly triggers: readonly FiredTrigger[];
}

/** What came of one evaluation. Plain data. */
export interface FeedbackEvaluation {
  /** In order of declaration; one at most when delivery is `first`. */
  readonly produced: readonly ProducedFeedback[];
  readonly faults: readonly FeedbackFault[];
}

/** How speakers are run. */
export interface RunSpeakersOptions extends AskOptions {
  readonly delivery: FeedbackDelivery;
  /** Keys (`feedback:NAME`, `assessment:NAME`) of speakers that are not asked. Default: none. */
  readonly disabled?: ReadonlySet<string> | undefined;
  /**
   * Noise control, asked once a speaker has spoken: what it refuses is not stored, its triggers stay as if the speaker
   * had not run, and the next one is asked. May not throw. Default: everything is admitted.
   */
  readonly admit?: ((item: ProducedFeedback) => boolean) | undefined;
  readonly onFault?: FeedbackFaultHandler | undefined;
  /**
   * Takes secrets out of each text of a draft and out of what speakers throw, before anything keeps it. May not throw.
   * Default: texts stay as they are.
   */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Evaluates triggers, asks, stores what is said, then settles the triggers. Never throws for what speakers do. */
export function runSpeakers(
  speakers: readonly Speaker[],
  situation: Situation,
  contextOf: () => FeedbackContext,
  options: RunSpeakersOptions,
): FeedbackEvaluation {
  const { session } = situation;
  const { redact = asItIs } = options;
  const faults = new FeedbackFaults(options.onFault, redact);
  const held = sessionFeedback(session);
  if (held.asking !== undefined) {
    const message = 'feedback was asked for while feedback is being produced';
    faults.report(held.asking, 'provide', 'provider-recursed', message);
    return { produced: [], faults: faults.list() };
  }
  const produced: ProducedFeedback[] = [];
  const ran: RanSpeaker[] = [];
  try {
    for (const speaker of speakers) {
      if (options.disabled?.has(speaker.key) === true) continue;
      const triggers = triggersOf(speaker, situation, faults);
      if (triggers.length === 0) continue;
      held.asking = speaker;
      const { ran: hasRun, draft } = askSpeaker(
        speaker,
        contextFor({ speaker, triggers }, contextOf(), situation),
        faults,
        options,
      );
      const item = draft === undefined ? undefined : compose(speaker, redacted(draft, redact), triggers, situation);
      const sayable = item !== undefined && fits(item, speaker, faults);
      if (sayable && options.admit?.(item) === false) continue;
      if (hasRun) ran.push({ speaker, triggers });
      if (!sayable) continue;
      store(item, session);
      produced.push(item);
      if (options.delivery === 'first') break;
    }
  } finally {
    held.asking = undefined;
  }
  if (ran.length > 0) settleTriggers(session, ran, situation.nowMs);
  return { produced, faults: faults.list() };
}

function triggersOf(speaker: Speaker, situation: Situation, faults: FeedbackFaults): readonly FiredTrigger[] {
  try {
    return firedTriggers(speaker, situation);
  } catch (thrown) {
    faults.reportThrown(speaker, 'trigger', thrown);
    return [];
  }
}

/** True for an item that may be said; what is too long as a whole is reported. */
function fits(item: ProducedFeedback, speaker: Speaker, faults: FeedbackFaults): boolean {
  const { length } = item.text;
  if (length <= MAX_FEEDBACK_CHARS) return true;
  const message = `rendered, it has ${length} characters, at most ${MAX_FEEDBACK_CHARS} are allowed`;
  faults.report(speaker, 'provide', 'provider-invalid', message);
  return false;
}

function asItIs(text: string): string {
  return text;
}

function redacted(draft: CheckedDraft, redact: (text: string) => string): CheckedDraft {
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
  const parts = { name, severity: draft.severity, triggers };
  const spoken = { ...draft, atMs, callIndex, promptName };
  if (speaker.source === 'feedback') {
    const feedback = { providerName: name, ...spoken };
    return { ...parts, source: 'feedback', feedback, text: renderFeedback(feedback) };
  }
  const assessment = { observerName: name, ...spoken };
  return { ...parts, source: 'assessment', feedback: assessment, text: renderAssessment(assessment) };
}

function store(item: ProducedFeedback, session: Session): void {
  const at = { atMs: item.feedback.atMs };
  session.dispatch(item.source === 'feedback' ? FeedbackEvent(item.feedback, at) : AssessmentEvent(item.feedback, at));
}

/** How long a speaker takes is measured only where the host gives a clock for it. */
interface AskOptions {
  /** A steady clock in milliseconds, such as `performance.now`. Default: nothing is measured. */
  readonly measureMs?: (() => number) | undefined;
  /** What a speaker may take before it counts as an overrun; default 50. */
  readonly timeLimitMs?: number | undefined;
  /** Told of each overrun: the key (`feedback:NAME`, `assessment:NAME`) and what it took. May not throw. */
  readonly onOverrun?: ((speakerKey: string, durationMs: number) => void) | undefined;
}

/** What came of asking. */
interface SpeakerAnswer {
  /** True once `provide` was called, whatever it did. */
  readonly ran: boolean;
  readonly draft?: CheckedDraft;
}

const DEFAULT_TIME_LIMIT_MS = 50;

/** Asks one speaker. Never throws: what goes wrong is reported. */
function askSpeaker(
  speaker: Speaker,
  context: FeedbackContext,
  faults: FeedbackFaults,
  options: AskOptions,
): SpeakerAnswer {
  const { measureMs, timeLimitMs = DEFAULT_TIME_LIMIT_MS } = options;
  const startedMs = measureMs?.();
  const answer = ask(speaker, context, faults);
  if (measureMs !== undefined && startedMs !== undefined) {
    const tookMs = measureMs() - startedMs;
    if (tookMs > timeLimitMs) {
      const message = `took ${Math.round(tookMs)} ms, at most ${timeLimitMs} ms are allowed`;
      faults.report(speaker, answer.ran ? 'provide' : 'shouldRun', 'provider-overrun', message);
      options.onOverrun?.(speaker.key, tookMs);
    }
  }
  return answer;
}

function ask(speaker: Speaker, context: FeedbackContext, faults: FeedbackFaults): SpeakerAnswer {
  const { provider } = speaker;
  let phase: 'shouldRun' | 'provide' = 'shouldRun';
  try {
    const willing: unknown = provider.shouldRun(context);
    if (typeof willing !== 'boolean') {
      heed(willing);
      throw new InvalidDraft(`shouldRun must answer true or false at once, got ${typeof willing}`);
    }
    if (!willing) return { ran: false };
    phase = 'provide';
    const said: unknown = provider.provide(context);
    heed(said);
    return { ran: true, draft: checkDraft(said) };
  } catch (thrown) {
    if (thrown instanceof InvalidDraft) faults.report(speaker, phase, 'provider-invalid', thrown.message);
    else faults.reportThrown(speaker, phase, thrown);
    return { ran: phase === 'provide' };
  }
}

/** A promise is refused as no answer; its later rejection must not end the process. */
function heed(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => undefined);
}
