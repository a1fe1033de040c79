import type { FormatName, ImportItem } from './import-item.ts';

/** Origin of the content, as importers see it. */
export interface ImportSource {
  /** The path as the user wrote it, or `-` for standard input. */
  readonly path: string;
  /** File name without folders and without `.gz` / `.zst`. */
  readonly name: string;
}

/**
 * Reads a format with one JSON value per line. Recognised by its first lines, then fed line by line, so memory is
 * bounded by the importer's state.
 */
export interface LineImporter {
  readonly shape: 'lines';
  readonly format: FormatName;
  /**
   * Confidence, 0 to 1, that these first lines (1 to 32 decoded JSON values) have this format.
   * 0 = no. 1 = no other format looks like this. Must not throw.
   */
  recognise(firstLines: readonly unknown[], source: ImportSource): number;
  open(source: ImportSource): LineImport;
}

/** One source read by a `LineImporter`. */
export interface LineImport {
  /**
   * Takes the next decoded line; `lineNumber` is 1-based. Must not throw: unusable content becomes a diagnostic.
   *
   * @param text  the raw line, for formats that keep parts of it byte for byte
   */
  line(value: unknown, lineNumber: number, text?: string): Iterable<ImportItem>;
  /** End of the source. */
  end(): Iterable<ImportItem>;
}

/** Reads a format that is a single JSON document. */
export interface DocumentImporter {
  readonly shape: 'document';
  readonly format: FormatName;
  /** Like `LineImporter.recognise`, for the decoded document. */
  recognise(document: unknown, source: ImportSource): number;
  /** Must not throw on any JSON value that it recognised: unusable content becomes a diagnostic. */
  read(document: unknown, source: ImportSource): Iterable<ImportItem>;
}

/** One entry of an archive, decompressed; throws `CoxswainError` `input-too-large` or `format-invalid`. */
export interface ArchiveReader {
  readonly entries: readonly { readonly name: string; readonly sizeBytes: number }[];
  readText(name: string): Promise<string>;
}

/** Reads a format that is a zip archive. */
export interface ArchiveImporter {
  readonly shape: 'archive';
  readonly format: FormatName;
  recognise(entryNames: readonly string[], source: ImportSource): number;
  /** Reads entry by entry, so that memory is bounded by the largest entry. */
  read(archive: ArchiveReader, source: ImportSource): AsyncIterable<ImportItem>;
}

export type Importer = LineImporter | DocumentImporter | ArchiveImporter;
