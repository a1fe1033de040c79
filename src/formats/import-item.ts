import type { SteeringStart, TrajectoryPayload } from '../records/trajectory-record.ts';

/** Every format this version reads. */
export type FormatName =
  | 'atif'
  | 'calls'
  | 'clark-agent'
  | 'claude-code'
  | 'codex'
  | 'copilot'
  | 'coxswain'
  | 'gemini'
  | 'inspect'
  | 'intercode'
  | 'openai-chat'
  | 'opencode'
  | 'openhands'
  | 'otlp'
  | 'pi'
  | 'steps'
  | 'swe-agent'
  | 'tau-bench'
  | 'tau2';

/** A run found in a source. */
export interface ImportedRun {
  /** Unique in the source; the other items refer to it. */
  readonly key: string;
  /** Id in the source; derived from file name and position if the source has none. */
  readonly id: string;
  readonly format: FormatName;
  readonly task?: string;
  /** `key` or run id of the parent run, for a subagent. */
  readonly parentId?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
  /** Unix milliseconds. */
  readonly startedAtMs?: number;
  /** Initial steering, for a run steered by coxswain. */
  readonly steering?: SteeringStart;
}

/** Content that an importer could not use, or repaired. */
export interface ImportDiagnostic {
  /** `error`: something was lost. `note`: something was repaired or left out on purpose. */
  readonly severity: 'error' | 'note';
  /** One line with the problem and its reason, without the path. */
  readonly message: string;
  /** 1-based, for line-based formats. */
  readonly line?: number;
  /** The run concerned; absent for the whole source. */
  readonly runKey?: string;
}

/**
 * Output of an importer, in source order. A run's `run` item precedes its records; runs of one source
 * may be interleaved. Importers emit no `run_started`: the reader derives it from the `run` item. They emit
 * `run_ended` only if the source says how the run ended.
 */
export type ImportItem =
  | { readonly type: 'run'; readonly run: ImportedRun }
  | {
      readonly type: 'record';
      readonly runKey: string;
      readonly payload: TrajectoryPayload;
      /** Unix milliseconds; absent if the source has no time. */
      readonly atMs?: number;
    }
  /** The run has no more records. Runs still open at the end of the source end there. */
  | { readonly type: 'end'; readonly runKey: string }
  | { readonly type: 'diagnostic'; readonly diagnostic: ImportDiagnostic };
