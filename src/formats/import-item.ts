import { present } from '../core/base/json.ts';
import type { SteeringStart, TrajectoryPayload } from '../core/records/trajectory-record.ts';

export type FormatName =
  | 'atif'
  | 'calls'
  | 'clark-agent'
  | 'claude-code'
  | 'codex'
  | 'copilot'
  | 'coxswain'
  | 'gemini'
  | 'goose'
  | 'inspect'
  | 'kimi'
  | 'openai-chat'
  | 'opencode'
  | 'openhands'
  | 'otlp'
  | 'pi'
  | 'qwen-code'
  | 'steps'
  | 'swe-agent'
  | 'tau-bench'
  | 'tau2';

/** A run that an importer found in a source. */
export interface ImportedRun {
  /** Key that is unique in the source. The other items refer to it. */
  readonly key: string;
  /** Id of the run in the source. If the source has none, it is derived from the file name and the position. */
  readonly id: string;
  readonly format: FormatName;
  readonly task?: string;
  /** `key` or run id of the parent run. Set for a subagent. */
  readonly parentId?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
  /** Unix milliseconds. */
  readonly startedAtMs?: number;
  /** Initial steering. Set for a run that coxswain steered. */
  readonly steering?: SteeringStart;
}

/** Reports content that an importer could not use, or that it repaired. */
export interface ImportDiagnostic {
  /** `error`: something was lost. `note`: something was repaired or intentionally left out. */
  readonly severity: 'error' | 'note';
  /** One line that states the problem and its reason, without the path. */
  readonly message: string;
  /** Line number, 1-based. Set for line-based formats. */
  readonly line?: number;
  /** Key of the affected run. Absent if the diagnostic concerns the whole source. */
  readonly runKey?: string;
}

/**
 * Output of an importer, in source order. A run's `run` item precedes its records. Runs of one source may be interleaved.
 * Importers do not emit `run_started`, because the reader derives it from the `run` item. They emit `run_ended` only if the
 * source says how the run ended.
 */
export type ImportItem =
  | { readonly type: 'run'; readonly run: ImportedRun }
  | {
      readonly type: 'record';
      readonly runKey: string;
      readonly payload: TrajectoryPayload;
      /** Time in Unix milliseconds. Absent if the source has none. */
      readonly atMs?: number;
    }
  /** The run has no more records. At the end of the source, all open runs end. */
  | { readonly type: 'end'; readonly runKey: string }
  | { readonly type: 'diagnostic'; readonly diagnostic: ImportDiagnostic };

type DiagnosticPlace = { readonly [Name in 'line' | 'runKey']?: ImportDiagnostic[Name] | undefined };

export function diagnosticItem(severity: 'error' | 'note', message: string, place: DiagnosticPlace = {}): ImportItem {
  return { type: 'diagnostic', diagnostic: { severity, message, ...present(place) } };
}
