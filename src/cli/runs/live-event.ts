import { adviceOf } from '../../core/records/derived-payload.ts';
import { changeOf } from '../../core/facts/seen-pattern.ts';
import { severityOfLevel } from '../../core/steering/advice/advice.ts';
import type { Severity, DecisionPoint } from '../../core/records/spoken-advice.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { present, type Json } from '../../core/base/json.ts';
import { type RunCall, errorLineOf, callText } from '../../core/facts/run-call.ts';

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
    case 'feedback_produced':
    case 'guidance_produced': {
      const { pattern, point, speaker: source, text, ...advice } = adviceOf(payload);
      const severity = advice.severity ?? (pattern === undefined ? 'info' : severityOfLevel(pattern.level));
      return { type: 'advice', source, provider: payload.provider_name, severity, point, text };
    }
    case 'provider_failed':
      return { type: 'fault', provider: payload.provider_name, phase: payload.phase, message: payload.message };
    default:
      return undefined;
  }
}

const MAX_CHARS = 200;

/** Returns the event of a finished call; undefined while the call is open. @param record  the last record of the call */
export function callEventOf(call: RunCall | undefined, record: TrajectoryRecord): CallEvent | undefined {
  if (call?.endSeq === undefined) return undefined;
  const { args, failed, number, resultMissing, tool } = call;
  return {
    type: 'call',
    index: number - 1,
    tool,
    call: shortCall(tool, args),
    failed,
    ...present({ error: errorLineOf(call, record) }),
    ...(resultMissing ? { missing: true } : {}),
  };
}

/** Formats a call: `bash node check.mjs` if the only argument is a string, else `tool {…}`. */
function shortCall(tool: string, args: Json): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return callText(tool, args);
  const values = Object.values(args);
  const [only] = values;
  if (values.length !== 1 || typeof only !== 'string') return callText(tool, args);
  return `${tool} ${only}`.slice(0, MAX_CHARS);
}
