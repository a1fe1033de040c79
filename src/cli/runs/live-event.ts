import { changeOf } from '../../core/facts/seen-pattern.ts';
import { severityOfLevel } from '../../core/steering/advice/advice.ts';
import type { Severity } from '../../core/records/feedback.ts';
import type { DecisionPoint } from '../../core/records/guidance.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';

/** A call ended, or its result was lost. Contains untrusted text: pass it through `printable` before showing it. */
export interface CallEvent {
  readonly type: 'call';
  /** Index of the call, from 0. */
  readonly index: number;
  readonly tool: string;
  /** The tool and its arguments, truncated. */
  readonly call: string;
  readonly failed: boolean;
  readonly error?: string;
  /** True if the call has no result. */
  readonly missing?: true;
}

/** A pattern was flagged, raised or cleared. */
export interface PatternEvent {
  readonly type: 'pattern';
  readonly change: 'flagged' | 'raised' | 'cleared';
  readonly pattern: TrajectoryPattern;
}

export interface AdviceEvent {
  readonly type: 'advice';
  readonly source: 'feedback' | 'guidance';
  readonly provider: string;
  readonly severity: Severity;
  readonly point: DecisionPoint;
  readonly text: string;
}

/** A provider or detector failed. */
interface FaultEvent {
  readonly type: 'fault';
  readonly provider: string;
  readonly phase: string;
  readonly message: string;
}

/** An event of a run for display. */
export type LiveEvent = CallEvent | PatternEvent | AdviceEvent | FaultEvent;

/** Returns the event of a derived payload; undefined for other payloads. */
export function liveEventOf(payload: TrajectoryPayload): LiveEvent | undefined {
  switch (payload.kind) {
    case 'pattern_flagged':
      return { type: 'pattern', change: changeOf(payload.pattern), pattern: payload.pattern };
    case 'pattern_cleared':
      return { type: 'pattern', change: 'cleared', pattern: payload.pattern };
    case 'feedback_produced': {
      const { provider_name: provider, feedback, text } = payload;
      const { severity } = feedback;
      return { type: 'advice', source: 'feedback', provider, severity, point: 'post_tool_result', text };
    }
    case 'guidance_produced': {
      const { provider_name: provider, injection, decision_point: point, classification } = payload;
      const level = classification.pattern?.level;
      const severity = level === undefined ? 'info' : severityOfLevel(level);
      return { type: 'advice', source: 'guidance', provider, severity, point, text: injection.content };
    }
    case 'provider_failed':
      return { type: 'fault', provider: payload.provider_name, phase: payload.phase, message: payload.message };
    default:
      return undefined;
  }
}
