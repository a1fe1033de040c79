import { present } from '../base/json.ts';
import {
  type AdviceCandidate,
  recordAdvice,
  type AdviceLedger,
  type AdviceView,
  decideAdvice,
} from '../steering/advice/advice.ts';
import type { DerivedDraft } from '../records/derived-payload.ts';
import { CHOICES } from '../records/shapes.ts';
import type { DecisionPoint } from '../records/spoken-advice.ts';
import type { Evaluation } from '../records/trajectory-record.ts';
import { evaluatePrepared } from '../steering/feedback/evaluate-feedback.ts';
import type { ProducedFeedback } from '../steering/feedback/run-speakers.ts';
import { guidanceContextOf, turnsOf } from './evaluation-payload.ts';
import {
  evaluateGuidance,
  type GuidanceEvaluation,
  guidanceCandidate,
  guidanceSubject,
} from '../steering/guidance/evaluate-guidance.ts';
import { verdictGuidance } from '../steering/guidance/model-classifier.ts';
import type { ResolvedSteering } from '../steering/resolve-steering.ts';
import type { GuidanceProviderConfig } from '../steering/prompt/guidance-provider.ts';
import { deadlineOf, EMPTY_STEERING, knownUsage, type SteeringState } from './run-situation.ts';
import type { PromptSpeakers } from './run-speakers-by-prompt.ts';
import type { Session } from '../session/session.ts';
import type { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';
import { faultDraft } from '../steering/advice-engine.ts';

export interface PointInput {
  /** `seq` of the evaluation. */
  readonly seq: number;
  readonly nowMs: number;
  readonly session: Session;
  readonly analysis: TrajectoryAnalysis;
  readonly steering: ResolvedSteering;
  readonly speakers: PromptSpeakers;
  readonly state: SteeringState;
  readonly measureMs: (() => number) | undefined;
  readonly onOverrun: ((provider: string, durationMs: number) => void) | undefined;
  readonly redact: (text: string) => string;
}

export interface PointOutcome {
  readonly drafts: readonly DerivedDraft[];
  readonly state: SteeringState;
}

/** Maximum number of overruns. After that, the provider or observer is disabled. */
export const MAX_OVERRUNS = 3;
const NOTHING: readonly DerivedDraft[] = [];
const NO_VERDICTS: SteeringState['verdicts'] = [];
const NONE_DISABLED: ReadonlySet<string> = new Set();

/** Feedback first, and only after a tool result; then guidance. One ledger of noise control serves both. */
export function evaluatePoint(evaluation: Evaluation, input: PointInput): PointOutcome {
  const noise = new NoiseGate(input, evaluation.point);
  const feedback = evaluation.point === 'post_tool_result' ? speakFeedback(evaluation, input, noise) : NOTHING;
  const guidance = speakGuidance(evaluation, input, noise);
  const said = feedback.length === 0 ? guidance.drafts : [...feedback, ...guidance.drafts];
  const drafts = noise.held.length === 0 ? said : [...said, ...noise.held];
  return { drafts, state: stateAfter(input.state, noise, guidance.state) };
}

function stateAfter(
  state: SteeringState,
  { ledger, heldReasons: held }: NoiseGate,
  guidance: SteeringState['guidance'],
): SteeringState {
  const isSame =
    ledger === state.ledger && guidance === state.guidance && state.verdicts.length === 0 && held === state.held;
  return isSame ? state : { ...state, ledger, guidance, verdicts: NO_VERDICTS, ...present({ held }) };
}

/** Maximum number of subjects of which it is known that they were held back. Beyond it, the oldest may be recorded again. */
const MAX_HELD = 50;

class NoiseGate {
  ledger: AdviceLedger;
  heldReasons: SteeringState['held'];
  readonly held: DerivedDraft[] = [];
  readonly #input: PointInput;
  readonly #point: DecisionPoint;

  constructor(input: PointInput, point: DecisionPoint) {
    this.#input = input;
    this.#point = point;
    this.ledger = input.state.ledger;
    this.heldReasons = input.state.held;
  }

  admits(candidate: AdviceCandidate): boolean {
    const isAdmitted = this.wouldAdmit(candidate);
    if (!isAdmitted) return false;
    const { retain } = this.#input.steering;
    this.ledger = recordAdvice(this.ledger, candidate, this.#view, retain.identities);
    const subject = subjectOf(candidate);
    if (this.heldReasons?.[subject] !== undefined) {
      this.heldReasons = Object.fromEntries(Object.entries(this.heldReasons).filter(([key]) => key !== subject));
    }
    return true;
  }

  wouldAdmit(candidate: AdviceCandidate): boolean {
    const { reason, say } = decideAdvice(this.ledger, candidate, this.#view, this.#input.steering.noise);
    // For the other reasons there is nothing new to say.
    if (!say && isHeldReason(reason)) this.hold(candidate, reason);
    return say;
  }

  /** Records that a limit held advice back, once until it is said. */
  hold(candidate: Pick<AdviceCandidate, 'identity' | 'level' | 'occurrences' | 'provider'>, reason: HeldReason): void {
    const subject = subjectOf(candidate);
    const known = this.heldReasons?.[subject] ?? [];
    if (known.includes(reason)) return;
    const others = Object.entries(this.heldReasons ?? {}).filter(([key]) => key !== subject);
    this.heldReasons = Object.fromEntries([...others.slice(1 - MAX_HELD), [subject, [...known, reason]]]);
    const { identity, level, occurrences = 0, provider = '' } = candidate;
    this.held.push({
      kind: 'advice_held',
      provider_name: provider,
      point: this.#point,
      reason,
      ...(level === undefined ? {} : { pattern: { identity, level, occurrences } }),
    });
  }

  get #view(): AdviceView {
    const { analysis, seq } = this.#input;
    return { callIndex: analysis.calls, turn: turnsOf(analysis), compactions: analysis.compactions, seq };
  }
}

function speakFeedback(evaluation: Evaluation, input: PointInput, noise: NoiseGate): readonly DerivedDraft[] {
  const { analysis, session, speakers, state, steering } = input;
  const { produced, faults } = evaluatePrepared(
    speakers.speakers,
    {
      prompt: speakers.prompt,
      session,
      nowMs: input.nowMs,
      deadline: deadlineOf(state.situation),
      budget: state.situation.budget,
      usage: knownUsage(state.situation, analysis.calls, evaluation),
      context: state.situation.context,
      limits: state.situation.limits,
      trajectory: analysis,
      filesCreated: evaluation.files_created ?? [],
    },
    {
      delivery: speakers.delivery,
      cadence: speakers.cadence,
      disabled: overrunProviders(state),
      admit: (item) => noise.admits(feedbackCandidate(item)),
      refuses: (pattern, provider) => !noise.wouldAdmit({ source: 'feedback', provider, ...pattern }),
      onHeld: (provider, pattern) => noise.hold({ identity: provider, ...pattern, provider }, 'after-refusal'),
      measureMs: input.measureMs,
      timeLimitMs: steering.providerTimeLimitMs,
      onOverrun: input.onOverrun,
      redact: input.redact,
    },
  );
  if (produced.length === 0 && faults.length === 0) return NOTHING;
  return [
    ...produced.map((item): DerivedDraft => ({
      kind: 'feedback_produced',
      provider_name: item.name,
      feedback: item.feedback,
      text: item.text,
    })),
    // An overrun depends on the speed of the machine, so it is recorded as a separate input.
    ...faults.filter(({ code }) => code !== 'provider-overrun').map(faultDraft),
  ];
}

type HeldReason = Extract<DerivedDraft, { readonly kind: 'advice_held' }>['reason'];

const HELD_REASONS: ReadonlySet<string> = new Set(CHOICES.held_reason);

function isHeldReason(reason: string): reason is HeldReason {
  return HELD_REASONS.has(reason);
}

function subjectOf({ identity, provider = '' }: Pick<AdviceCandidate, 'identity' | 'provider'>): string {
  return `${provider} ${identity}`;
}

function overrunProviders(state: SteeringState): ReadonlySet<string> {
  if (state.overruns === EMPTY_STEERING.overruns) return NONE_DISABLED;
  return new Set(Object.entries(state.overruns).flatMap(([key, count]) => (count >= MAX_OVERRUNS ? [key] : [])));
}

function feedbackCandidate(item: ProducedFeedback): AdviceCandidate {
  const { pattern } = item.feedback;
  const provider = item.name;
  if (pattern === undefined) return { source: 'feedback', provider, identity: `${item.source}:${provider}` };
  return { source: 'feedback', provider, ...pattern };
}

function speakGuidance(
  evaluation: Evaluation,
  input: PointInput,
  noise: NoiseGate,
): { readonly drafts: readonly DerivedDraft[]; readonly state: SteeringState['guidance'] } {
  const { speakers, state, steering } = input;
  const guidanceResult = evaluateGuidance(
    state.verdicts.length === 0
      ? speakers.guidanceProviders
      : [...speakers.guidanceProviders, ...verdictConfigs(input, evaluation)],
    guidanceContextOf(input, evaluation),
    state.guidance,
    {
      maxGuidancePerTurn: steering.maxGuidancePerTurn,
      disabled: overrunProviders(state),
      measureMs: input.measureMs,
      timeLimitMs: steering.providerTimeLimitMs,
      onOverrun: input.onOverrun,
      redact: input.redact,
      admit: (item) => noise.admits(guidanceCandidate(item)),
    },
  );
  for (const { providerName: provider, reason, classification } of guidanceResult.skipped) {
    if (isHeldReason(reason)) noise.hold({ ...guidanceSubject(provider, classification), provider }, reason);
  }
  return { drafts: guidanceDrafts(guidanceResult), state: guidanceResult.state };
}

function guidanceDrafts({ produced, faults, skipped }: GuidanceEvaluation): readonly DerivedDraft[] {
  if (produced.length === 0 && faults.length === 0 && skipped.length === 0) return NOTHING;
  // An invalid draft is a fault of the provider.
  const invalid = skipped.filter(({ reason }) => reason.startsWith('invalid-'));
  return [
    ...produced.map(({ providerName, injection, decisionPoint, classification }): DerivedDraft => ({
      kind: 'guidance_produced',
      provider_name: providerName,
      injection,
      decision_point: decisionPoint,
      classification,
    })),
    ...faults.map(faultDraft),
    ...invalid.map(({ providerName: provider, reason: message }) =>
      faultDraft({ provider, phase: 'provide', code: 'provider-invalid', message }),
    ),
  ];
}

function verdictConfigs(input: PointInput, evaluation: Evaluation): readonly GuidanceProviderConfig[] {
  return input.state.verdicts.flatMap((verdict) => {
    const model = input.steering.models.find(({ classifier }) => classifier.name === verdict.classifier);
    if (model === undefined) return [];
    const provider = verdictGuidance(verdict.classifier, model.bank, verdict);
    return [{ provider, decisionPoints: [evaluation.point], ...present({ minConfidence: model.minConfidence }) }];
  });
}
