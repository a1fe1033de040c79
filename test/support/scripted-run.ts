import {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryPayload,
  type TrajectoryRecord,
} from '../../src/core/records/trajectory-record.ts';
import { type Json, present } from '../../src/core/base/json.ts';
import { defaultDetectors } from '../../src/core/detect/detectors/default-detectors.ts';
import type { PatternChange } from '../../src/core/detect/patterns/pattern-book.ts';
import type { PatternDetector } from '../../src/core/detect/patterns/pattern-detector.ts';
import type { ToolAnnotations, ToolDeclarations } from '../../src/core/detect/calls/tool-semantics.ts';
import { TrajectoryAnalysis } from '../../src/core/detect/patterns/trajectory-analysis.ts';

/** One call of a scripted run and what it answered. */
export interface ScriptedCall {
  readonly tool: string;
  /** Default `{}`. */
  readonly args?: Json;
  /** Default `ok`. */
  readonly result?: Json;
  readonly isError?: boolean;
  /** Annotations by the tool's MCP server. */
  readonly annotations?: ToolAnnotations;
  /** Calls of one turn, next to each other, start together; default: a separate turn. */
  readonly turn?: number;
  /** Unix milliseconds of the result; default none. */
  readonly atMs?: number;
  /** The source holds no result. */
  readonly noResult?: boolean;
  /** The user speaks before it. */
  readonly userBefore?: boolean;
}

/** How a script is folded. */
export interface ScriptedRunOptions {
  /** Default: all built-in ones. */
  readonly detectors?: readonly PatternDetector[];
  readonly task?: string;
  readonly tools?: ToolDeclarations;
  /** Call ids are this and a number; default `call-`. */
  readonly idPrefix?: string;
}

/** All built-in detectors, for tests of floors below them. */
export function allDetectors(): readonly PatternDetector[] {
  return defaultDetectors();
}

/** The records of a script: a turn's calls start together, then their results come in order. */
export function scriptedRecords(
  calls: readonly ScriptedCall[],
  options: ScriptedRunOptions = {},
): readonly TrajectoryRecord[] {
  const { idPrefix = 'call-', task } = options;
  const records: TrajectoryRecord[] = [];
  const add = (payload: TrajectoryPayload, atMs = 0): void => {
    const seq = records.length;
    records.push({
      schema_version: TRAJECTORY_SCHEMA_VERSION,
      seq,
      run_id: 'run',
      depth: 0,
      recorded_at_unix_ms: atMs,
      payload,
    });
  };
  add({ kind: 'run_started', identity: { run_id: 'run', depth: 0 }, ...(task === undefined ? {} : { task }) });
  for (const [from, turn] of turnsOf(calls)) {
    if (turn[0]?.userBefore === true) add({ kind: 'message_appended', message: { role: 'user', content: 'go on' } });
    add({ kind: 'turn_started' });
    for (const [at, call] of turn.entries()) {
      const id = `${idPrefix}${from + at}`;
      const { tool, args = {}, annotations } = call;
      add({ kind: 'tool_started', tool_call_id: id, tool_name: tool, args, ...present({ annotations }) });
    }
    for (const [at, call] of turn.entries()) add(endOf(call, `${idPrefix}${from + at}`), call.atMs);
  }
  return records;
}

/** Folds a script and gives the analysis, with every change of a pattern in order. */
export function scriptedRun(
  calls: readonly ScriptedCall[],
  options: ScriptedRunOptions = {},
): { readonly analysis: TrajectoryAnalysis; readonly changes: readonly PatternChange[] } {
  const { detectors = defaultDetectors(), tools = {} } = options;
  const analysis = new TrajectoryAnalysis({ detectors, tools });
  const changes = scriptedRecords(calls, options).flatMap((record) => analysis.fold(record));
  return { analysis, changes };
}

/** The call at which a detector first flags (at `warn` or above) within a script; null when it never does. */
export function firstFlag(detector: PatternDetector, calls: readonly ScriptedCall[], task?: string): number | null {
  const { analysis } = scriptedRun(calls, { detectors: [detector], ...(task === undefined ? {} : { task }) });
  const flags = analysis.patterns().flatMap((pattern) => (pattern.flaggedAt === null ? [] : [pattern.flaggedAt]));
  return flags.length === 0 ? null : Math.min(...flags);
}

/** The same call so many times, as a script. */
export function times(count: number, call: ScriptedCall | ((index: number) => ScriptedCall)): readonly ScriptedCall[] {
  return Array.from({ length: count }, (_, index) => (typeof call === 'function' ? call(index) : call));
}

function turnsOf(calls: readonly ScriptedCall[]): readonly (readonly [number, readonly ScriptedCall[]])[] {
  const turns: [number, ScriptedCall[]][] = [];
  for (const [index, call] of calls.entries()) {
    const last = turns.at(-1);
    const goesOn = call.turn !== undefined && call.userBefore !== true && last?.[1].at(-1)?.turn === call.turn;
    if (goesOn) last?.[1].push(call);
    else turns.push([index, [call]]);
  }
  return turns;
}

function endOf(call: ScriptedCall, id: string): TrajectoryPayload {
  const ended = { kind: 'tool_ended', tool_call_id: id, tool_name: call.tool } as const;
  if (call.noResult === true) return { ...ended, result: null, is_error: false, result_missing: true };
  return { ...ended, result: call.result ?? 'ok', is_error: call.isError === true };
}
