import { AdviceOutcomeFold, type AdviceOutcome } from '../backtest/advice-outcome.ts';
import { LruMap } from '../base/lru-map.ts';
import { defaultDetectors } from '../detectors/default-detectors.ts';
import type { TrajectoryPattern } from '../events/trajectory-pattern.ts';
import type { FeedbackProduced, GuidanceProduced, ToolEnded, TrajectoryRecord } from '../events/trajectory-record.ts';
import type { StoredMessage } from '../events/stored-message.ts';
import { lastSeqOf } from '../store/run-summary.ts';
import type { ToolKind } from '../trajectory/tool-kind.ts';
import { readCall } from '../trajectory/tool-semantics.ts';
import { TrajectoryAnalysis } from '../trajectory/trajectory-analysis.ts';
import type { AdviceMark, EvidenceCall, Overview, PatternSpan, RunExtras } from './api-shapes.ts';
import { Buckets } from './buckets.ts';
import { CallPlaces } from './call-places.ts';
import { FailureColumns } from './failure-columns.ts';

const MAX_PATTERNS = 500;
const MAX_OPEN_CALLS = 512;
const MAX_KINDS = 8;
const MAX_TOOLS = 64;
const TOOL_CHARS = 100;
const MAX_ADVICE = 1_000;
const TEXT_CHARS = 2_000;
const WHY_CHARS = 500;

/** A pattern of the run, and where it was put on record. */
interface SeenPattern {
  readonly pattern: TrajectoryPattern;
  readonly flaggedSeq?: number;
  readonly clearedSeq?: number;
}

/** What a piece of advice says, which its outcome does not hold. */
type Said = Pick<AdviceMark, 'severity' | 'text' | 'why' | 'point' | 'channel' | 'evidence'>;

/**
 * Folds the records of one run into what the viewer shows of it from far away. The patterns are those that the run's own steering
 * recorded; of a run without steering, such as an imported one, those that the default detectors find.
 *
 * Cost: O(1) a record; about half a megabyte at most, whatever the length of the run.
 */
export class RunLook {
  readonly #advice = new AdviceOutcomeFold({ maxPieces: MAX_ADVICE });
  readonly #said = new Map<string, Said>();
  readonly #buckets = new Buckets();
  readonly #places = new CallPlaces();
  readonly #columns = new FailureColumns();
  readonly #recorded = new LruMap<SeenPattern>(MAX_PATTERNS);
  readonly #openCalls = new LruMap<{ readonly call: number; readonly seq: number }>(MAX_OPEN_CALLS);
  readonly #tools = new Set<string>();
  #analysis: TrajectoryAnalysis | undefined = new TrajectoryAnalysis({ detectors: defaultDetectors() });
  #patternsLeftOut = 0;
  #nextSeq = 0;
  #point: AdviceMark['point'];
  #tokens: number | undefined;
  #costUsd: number | undefined;

  /** The next record to fold; a gap is passed over. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Takes the next record. */
  fold(record: TrajectoryRecord): void {
    const { payload, recorded_at_unix_ms: atMs, seq } = record;
    this.#nextSeq = lastSeqOf(record) + 1;
    this.#buckets.touch(seq, atMs, this.#places.calls);
    this.#advice.fold(record);
    switch (payload.kind) {
      case 'run_started':
        // A steered run has its patterns on record: they need not be found again.
        if (payload.steering !== undefined) this.#analysis = undefined;
        break;
      case 'turn_started':
        this.#buckets.count(seq, 'turns');
        break;
      case 'message_appended':
        this.#buckets.count(seq, 'messages');
        this.#used(payload.message);
        break;
      case 'tool_started': {
        const { args, tool_call_id: id, tool_name: tool } = payload;
        this.#began(seq, id, tool);
        if (this.#analysis === undefined) this.#buckets.kind(seq, readCall(tool, args).kind);
        break;
      }
      case 'evaluation':
        this.#point = payload.point;
        break;
      case 'pattern_flagged':
        this.#keep(payload.pattern, { flaggedSeq: seq });
        break;
      case 'pattern_cleared':
        this.#keep(payload.pattern, { clearedSeq: seq });
        break;
      case 'feedback_produced':
      case 'guidance_produced':
        this.#produced(payload);
        break;
      case 'feedback_delivered':
        this.#arrived(payload.advice_id, payload.channel);
        break;
      case 'guidance_delivered':
        this.#arrived(payload.advice_id, payload.guidance.channel);
        break;
      default:
    }
    if (payload.kind === 'tool_ended') this.#ended(record, payload);
    else this.#analysis?.fold(record);
  }

  /** What a list shows of the run. */
  extras(): RunExtras {
    const patterns = this.#patterns().map(({ pattern }) => pattern);
    const lastCall = this.#places.calls - 1;
    const stuck = patterns.filter((pattern) => pattern.stuck);
    const outcomes = this.#advice.outcomes();
    const strip = this.#columns.text(
      stuck.map(({ clearedAt, firstSeen }) => [firstSeen, clearedAt ?? lastCall] as const),
      outcomes.map(({ callsBefore }) => callsBefore - 1),
    );
    return {
      patterns: [...new Set(patterns.map(({ kind }) => kind))].slice(0, MAX_KINDS),
      stuck: stuck.length > 0,
      adviceCount: outcomes.length + this.#advice.leftOut,
      ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }),
      ...(this.#tokens === undefined ? {} : { tokens: this.#tokens }),
      strip,
      tools: [...this.#tools],
    };
  }

  /** The run from far away. @param lastSeq  highest `seq` stored */
  overview(lastSeq: number): Overview {
    const patterns = this.#patterns();
    return {
      nextSeq: this.#nextSeq,
      complete: this.#nextSeq > lastSeq,
      ...this.#buckets.lists(),
      patterns: patterns.slice(0, MAX_PATTERNS).map((seen) => this.#spanOf(seen)),
      patternsLeftOut: this.#patternsLeftOut + Math.max(0, patterns.length - MAX_PATTERNS),
      advice: this.#advice.outcomes().map((outcome) => this.#markOf(outcome)),
      adviceLeftOut: this.#advice.leftOut,
    };
  }

  #patterns(): readonly SeenPattern[] {
    const found = this.#analysis?.patterns().filter(({ flaggedAt }) => flaggedAt !== null);
    if (found !== undefined) return found.map((pattern) => ({ pattern }));
    const recorded = this.#recorded.entries().map(([, seen]) => seen);
    return recorded.toSorted((a, b) => a.pattern.firstSeen - b.pattern.firstSeen);
  }

  #spanOf({ clearedSeq, flaggedSeq, pattern }: SeenPattern): PatternSpan {
    const { clearedAt, evidence, firstSeen, flaggedAt, identity, kind, level, occurrences, stuck, tool } = pattern;
    const seqOf = (call: number | null): number | null => (call === null ? null : this.#places.seqOf(call));
    return {
      kind,
      identity,
      level,
      stuck,
      ...(tool === undefined ? {} : { tool }),
      occurrences,
      fromCall: firstSeen,
      toCall: clearedAt ?? null,
      flaggedCall: flaggedAt,
      fromSeq: this.#places.seqOf(firstSeen),
      toSeq: clearedSeq ?? seqOf(clearedAt ?? null),
      flaggedSeq: flaggedSeq ?? seqOf(flaggedAt),
      evidence: this.#placesOf(evidence),
    };
  }

  #markOf(outcome: AdviceOutcome): AdviceMark {
    const { acknowledged, adviceId, arm, callsBefore, cleared, pattern, providerName, reason, seq, speaker } = outcome;
    const said = this.#said.get(adviceId) ?? { text: '', evidence: [] };
    return {
      seq,
      adviceId,
      provider: providerName,
      speaker,
      ...said,
      evidenceSeqs: said.evidence.map((call) => call.seq),
      delivered: arm === 'unsettled' ? null : arm === 'delivered',
      arm,
      ...(reason === undefined ? {} : { reason }),
      callsBefore,
      ...(pattern === undefined ? {} : { pattern: { identity: pattern.identity, level: pattern.level } }),
      ...(acknowledged === undefined ? {} : { acknowledged }),
      after: cleared === null ? 'unclear' : cleared ? 'cleared' : 'ignored',
    };
  }

  #placesOf(calls: readonly number[]): readonly EvidenceCall[] {
    return calls.map((call) => ({ call, seq: this.#places.seqOf(call) }));
  }

  #began(seq: number, id: string, tool: string): void {
    const call = this.#places.calls;
    this.#places.add(seq);
    this.#columns.mark(call, false);
    this.#buckets.count(seq, 'calls');
    this.#openCalls.set(id, { call, seq });
    if (this.#tools.size < MAX_TOOLS) this.#tools.add(tool.slice(0, TOOL_CHARS));
  }

  #ended(record: TrajectoryRecord, { is_error: isError, tool_call_id: id, tool_name: tool }: ToolEnded): void {
    const callsBefore = this.#analysis?.calls ?? 0;
    this.#analysis?.fold(record);
    const isLost = this.#analysis === undefined ? !this.#openCalls.has(id) : this.#analysis.calls > callsBefore;
    // A result whose start was lost counts as a call.
    if (isLost) this.#began(record.seq, id, tool);
    const begun = this.#openCalls.get(id) ?? { call: Math.max(0, this.#places.calls - 1), seq: record.seq };
    this.#openCalls.delete(id);
    const kind: ToolKind | undefined = this.#analysis?.recentCalls(1)[0]?.kind ?? (isLost ? 'unknown' : undefined);
    if (kind !== undefined) this.#buckets.kind(begun.seq, kind);
    if (!isError) return;
    this.#columns.mark(begun.call, true);
    this.#buckets.count(begun.seq, 'errors');
  }

  #keep(pattern: TrajectoryPattern, at: Omit<SeenPattern, 'pattern'>): void {
    const key = `${pattern.identity}\n${pattern.firstSeen}`;
    const before = this.#recorded.get(key);
    if (before === undefined && this.#recorded.size === MAX_PATTERNS) this.#patternsLeftOut += 1;
    const flaggedSeq = before?.flaggedSeq ?? at.flaggedSeq;
    this.#recorded.set(key, { ...at, pattern, ...(flaggedSeq === undefined ? {} : { flaggedSeq }) });
  }

  #produced(payload: FeedbackProduced | GuidanceProduced): void {
    if (this.#said.size >= MAX_ADVICE || this.#said.has(payload.advice_id)) return;
    const isFeedback = payload.kind === 'feedback_produced';
    const text = isFeedback ? payload.text : payload.injection.content;
    const why = isFeedback
      ? payload.feedback.observations.map(({ description }) => description).join('; ')
      : payload.classification.reason;
    const point = isFeedback ? this.#point : payload.decision_point;
    const pattern = isFeedback ? payload.feedback.pattern : payload.classification.pattern;
    this.#said.set(payload.advice_id, {
      text: text.slice(0, TEXT_CHARS).toWellFormed(),
      ...(why === undefined || why === '' ? {} : { why: why.slice(0, WHY_CHARS).toWellFormed() }),
      ...(isFeedback ? { severity: payload.feedback.severity } : {}),
      ...(point === undefined ? {} : { point }),
      evidence: pattern === undefined ? [] : this.#placesOf(this.#evidenceOf(pattern.identity)),
    });
  }

  #evidenceOf(identity: string): readonly number[] {
    const recorded = this.#recorded.entries().findLast(([, seen]) => seen.pattern.identity === identity);
    return recorded?.[1].pattern.evidence ?? [];
  }

  #arrived(adviceId: string, channel: string | undefined): void {
    const said = this.#said.get(adviceId);
    if (said !== undefined && channel !== undefined) this.#said.set(adviceId, { ...said, channel });
  }

  #used(message: StoredMessage): void {
    if (message.role !== 'assistant' || message.usage === undefined) return;
    const { cost_usd: costUsd, input_tokens: input, output_tokens: output } = message.usage;
    if (input !== undefined || output !== undefined) this.#tokens = (this.#tokens ?? 0) + (input ?? 0) + (output ?? 0);
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
  }
}
