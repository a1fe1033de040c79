import { adviceOf } from '../../core/records/derived-payload.ts';
import { changeOf } from '../../core/facts/seen-pattern.ts';
import { severityOfLevel } from '../../core/steering/advice/advice.ts';
import type { AdviceHandle } from '../../core/run/advice-handle.ts';
import type { Severity } from '../../core/records/spoken-advice.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { present, type Json } from '../../core/base/json.ts';
import { type RunCall, errorLineOf, callText } from '../../core/facts/run-call.ts';
import { callNumber, countOf } from '../../core/base/number-text.ts';
import { inWords } from '../../core/records/words.ts';
import type { Paint, Style } from '../terminal/terminal.ts';
import { printable, printableCut } from '../../core/base/printable.ts';

/** A call ended, or its result was lost. Contains untrusted text: pass it through `printable` before showing it. */
export interface CallEvent {
  readonly type: 'call';
  /** Number of the call, from 1. */
  readonly number: number;
  readonly tool: string;
  readonly call: string;
  readonly failed: boolean;
  readonly outcome?: RunCall['outcome'];
  readonly error?: string;
  readonly missing?: true;
}

export interface PatternEvent {
  readonly type: 'pattern';
  readonly change: 'flagged' | 'raised' | 'cleared';
  readonly pattern: TrajectoryPattern;
}

interface AdviceEvent extends Pick<AdviceHandle, 'source' | 'provider' | 'severity' | 'point' | 'text'> {
  readonly type: 'advice';
}

interface FaultEvent {
  readonly type: 'fault';
  readonly provider: string;
  readonly phase: string;
  readonly message: string;
}

export type LiveEvent = CallEvent | PatternEvent | AdviceEvent | FaultEvent;

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

export function callEventOf(call: RunCall | undefined, record: TrajectoryRecord): CallEvent | undefined {
  if (call?.endSeq === undefined) return undefined;
  const { args, failed, number, resultMissing, tool } = call;
  return {
    type: 'call',
    number,
    tool,
    call: shortCall(tool, args),
    failed,
    ...present({ error: errorLineOf(call, record), outcome: call.outcome }),
    ...(resultMissing ? { missing: true } : {}),
  };
}

function shortCall(tool: string, args: Json): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return callText(tool, args);
  const values = Object.values(args);
  const [only] = values;
  if (values.length !== 1 || typeof only !== 'string') return callText(tool, args);
  return `${tool} ${only}`.slice(0, MAX_CHARS);
}

const MAX_TEXT_CHARS = 4_000;
const MIN_CALL_CHARS = 24;
const SEVERITY_STYLE: Readonly<Record<Severity, Style>> = { info: 'cyan', caution: 'yellow', warning: 'red' };

export interface LiveTextOptions {
  readonly paint: Paint;
  readonly width: number;
  readonly wrap: boolean;
}

export function liveLines(event: LiveEvent, options: LiveTextOptions): readonly string[] {
  const { paint, width } = options;
  switch (event.type) {
    case 'call':
      return [callLine(event, options)];
    case 'pattern':
      return [patternLine(event, paint)];
    case 'advice':
      return adviceLines(event, options);
    default: {
      const what = `${event.provider} failed at ${event.phase} and stayed silent: ${event.message}`;
      return [`  ${paint('red', '!')} ${printableCut(what, Math.max(MIN_CALL_CHARS, width - 4))}`];
    }
  }
}

function callLine(event: CallEvent, { paint, width }: LiveTextOptions): string {
  const { call, error, failed, missing, outcome } = event;
  const number = `#${event.number}`;
  const room = Math.max(MIN_CALL_CHARS, width - number.length - 3);
  const head = `  ${paint('dim', number)} `;
  if (missing === true) return `${head}${printableCut(call, room - 14)}  ${paint('dim', '? no result')}`;
  if (outcome !== undefined) return `${head}${printableCut(call, room - 12)}  ${paint('dim', outcome)}`;
  if (!failed) return head + printableCut(call, room);
  const reason = error === undefined ? '' : ` ${printable(error)}`;
  const shown = printableCut(call, Math.max(Math.floor(room / 2), room - reason.length - 3));
  return `${head}${shown}  ${paint('red', `×${printableCut(reason, Math.max(2, room - shown.length - 3))}`)}`;
}

function patternLine({ change, pattern }: PatternEvent, paint: Paint): string {
  const { kind, level, stuck, tool, occurrences, firstSeen } = pattern;
  const name = paint('bold', printableCut(inWords('pattern', kind), 60));
  const by = tool === undefined ? [] : [printableCut(tool, 60)];
  if (change === 'cleared') return `  ${paint('green', '△ over:')} ${[name, ...by].join(', ')}`;
  const style = level === 'strong' ? 'red' : 'yellow';
  const facts = [...by, `seen ${countOf(occurrences, 'time')} since call ${callNumber(firstSeen)}`];
  return `  ${paint(style, `▲ ${change === 'raised' ? 'worse, ' : stuck ? 'stuck, ' : ''}${inWords('level', level)}:`)} ${name}, ${facts.join(', ')}`;
}

function adviceLines({ source, provider, severity, text }: AdviceEvent, options: LiveTextOptions): readonly string[] {
  const { paint, width, wrap } = options;
  const style = SEVERITY_STYLE[severity];
  const textLines = text.slice(0, MAX_TEXT_CHARS).split('\n').map(printable);
  const lines = wrap ? textLines.flatMap((line) => wrapped(line, Math.max(MIN_CALL_CHARS, width - 7))) : textLines;
  return [
    `    ${paint(style, '▸')} ${paint('bold', printableCut(provider, 80))} ${paint('dim', `${source}, ${severity}`)}`,
    ...lines.map((line) => `    ${paint(style, '│')}${line === '' ? '' : ` ${line}`}`),
  ];
}

function wrapped(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else {
      current = current === '' ? word : `${current} ${word}`;
    }
  }
  return [...lines, current];
}
