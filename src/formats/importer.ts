import { present } from '../core/base/json.ts';
import type { SteeringStart, TrajectoryPayload } from '../core/records/trajectory-record.ts';

export interface ImportSource {
  /** The path that the user specified, or `-` for standard input. */
  readonly path: string;
  /** File name without folders and without the extension `.gz` or `.zst`. */
  readonly name: string;
}

/** One JSON value per line. The first lines choose the importer, which then receives them one by one: memory is bounded. */
export interface LineImporter {
  readonly shape: 'lines';
  readonly format: FormatName;
  /** The confidence, 0 to 1, that these 1 to 32 decoded lines have this format. 1: no other format has them. Must not throw. */
  recognise(firstLines: readonly unknown[], source: ImportSource): number;
  open(source: ImportSource): LineImport;
}

/** The import of one source by a `LineImporter`. */
export interface LineImport {
  /** Reads the next line (from 1). Must not throw: unusable content becomes a diagnostic. `text`: the raw line. */
  line(value: unknown, lineNumber: number, text?: string): Iterable<ImportItem>;
  /** Called while a followed source does not grow. Returns the buffered items that can be complete. Default: none. */
  pause?(): Iterable<ImportItem>;
  end(): Iterable<ImportItem>;
}

/** Reads a format that is a single JSON document. */
export interface DocumentImporter {
  readonly shape: 'document';
  readonly format: FormatName;
  /** Like `LineImporter.recognise`, for a decoded document. */
  recognise(document: unknown, source: ImportSource): number;
  /** Reads the document. Must not throw for any JSON value that `recognise` accepted. Unusable content becomes a diagnostic. */
  read(document: unknown, source: ImportSource): Iterable<ImportItem>;
}

/** Returns the content of one archive entry, decompressed. Throws `CoxswainError` `input-too-large` or `format-invalid`. */
export interface ArchiveReader {
  readonly entries: readonly { readonly name: string; readonly sizeBytes: number }[];
  readText(name: string): Promise<string>;
}

/** Reads a format whose lines are not JSON, such as Markdown. `LineImport.line` receives the text of each line as its value. */
export interface TextImporter {
  readonly shape: 'text';
  readonly format: FormatName;
  /** Like `LineImporter.recognise`, for the first lines that are not blank. */
  recognise(firstLines: readonly string[], source: ImportSource): number;
  open(source: ImportSource): LineImport;
}

export interface ArchiveImporter {
  readonly shape: 'archive';
  readonly format: FormatName;
  recognise(entryNames: readonly string[], source: ImportSource): number;
  /** Reads the archive one entry at a time, so that memory is bounded by the largest entry. */
  read(archive: ArchiveReader, source: ImportSource): AsyncIterable<ImportItem>;
}

/** Reads the end of one session in a database that its program still writes. */
export interface SessionDatabase {
  readonly shape: 'database';
  readonly format: FormatName;
  readonly steps: number;
  /** Step 0 reads the least. Throws CoxswainError `input-io`. */
  read(
    path: string,
    sessionId: string,
    step: number,
  ): { readonly items: Iterable<ImportItem>; readonly isWhole: boolean };
  /** Time of the last change of a session, in Unix milliseconds. 0 for an unknown session. Throws like `read`. */
  changedAtMs(path: string, sessionId: string): number;
  /** The folder in which a session works. Throws like `read`. */
  folder(path: string, sessionId: string): string | undefined;
}

export type Importer = LineImporter | DocumentImporter | TextImporter | ArchiveImporter;

export type FormatName =
  | 'aider'
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
  | 'kimi-code'
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
