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

/** One run found in a source. */
export interface ImportedRun {
  /** Tells the runs of one source apart; the other items name it. */
  readonly key: string;
  /** The source's own id of the run; made from the file name and position where it has none. */
  readonly id: string;
  readonly format: FormatName;
  readonly task?: string;
  /** `key` or run id of the run that started this one (a subagent). */
  readonly parentId?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
  /** Unix milliseconds. */
  readonly startedAtMs?: number;
  /** How its steering began, for a run that coxswain steered. */
  readonly steering?: SteeringStart;
}

/** Something an importer could not use, or repaired. */
export interface ImportDiagnostic {
  /** `error`: something was lost. `note`: something was repaired or left out on purpose. */
  readonly severity: 'error' | 'note';
  /** What and why, in one line, without the path. */
  readonly message: string;
  /** 1-based, for line-based formats. */
  readonly line?: number;
  /** The run it belongs to; absent for the whole source. */
  readonly runKey?: string;
}

/**
 * What an importer yields, in source order. A run's `run` item comes before its records; runs of one source
 * may be interleaved. Importers emit no `run_started`: the reader makes it from the `run` item. They emit
 * `run_ended` only where the source says how the run ended.
 */
export type ImportItem =
  | { readonly type: 'run'; readonly run: ImportedRun }
  | {
      readonly type: 'record';
      readonly runKey: string;
      readonly payload: TrajectoryPayload;
      /** Unix milliseconds, where the source says. */
      readonly atMs?: number;
    }
  /** No more records of this run will come; runs still open at the end of the source end there. */
  | { readonly type: 'end'; readonly runKey: string }
  | { readonly type: 'diagnostic'; readonly diagnostic: ImportDiagnostic };
