import type { FormatName, ImportItem } from './import-item.ts';

/** What an importer knows of where its content comes from. */
export interface ImportSource {
  /** The path as the user gave it, or `-` for standard input. */
  readonly path: string;
  /** File name without folders and without `.gz` / `.zst`. */
  readonly name: string;
}

/**
 * Reads a format of one JSON value a line. Recognised by its first lines; then fed line by line, so memory is
 * bounded by what the importer keeps.
 */
export interface LineImporter {
  readonly shape: 'lines';
  readonly format: FormatName;
  /**
   * How sure it is, 0 to 1, that these first lines (1 to 32 decoded JSON values) are its format.
   * 0 = not mine. 1 = only this format looks so. Must not throw.
   */
  recognise(firstLines: readonly unknown[], source: ImportSource): number;
  open(source: ImportSource): LineImport;
}

/** One source being read by a `LineImporter`. */
export interface LineImport {
  /**
   * Takes the next decoded line; `lineNumber` is 1-based. Must not throw: what it cannot use is a diagnostic.
   *
   * @param text  the line as it stands, for formats that keep parts of it byte for byte
   */
  line(value: unknown, lineNumber: number, text?: string): Iterable<ImportItem>;
  /** The source is at its end. */
  end(): Iterable<ImportItem>;
}

/** Reads a format that is one JSON document. */
export interface DocumentImporter {
  readonly shape: 'document';
  readonly format: FormatName;
  /** As `LineImporter.recognise`, on the decoded document. */
  recognise(document: unknown, source: ImportSource): number;
  /** Must not throw on any JSON value that it recognised: what it cannot use is a diagnostic. */
  read(document: unknown, source: ImportSource): Iterable<ImportItem>;
}

/** Gives one entry of an archive, decompressed; throws `CoxswainError` `input-too-large` or `format-invalid`. */
export interface ArchiveReader {
  readonly entries: readonly { readonly name: string; readonly sizeBytes: number }[];
  readText(name: string): Promise<string>;
}

/** Reads a format that is a zip archive. */
export interface ArchiveImporter {
  readonly shape: 'archive';
  readonly format: FormatName;
  recognise(entryNames: readonly string[], source: ImportSource): number;
  /** Entry by entry, so that memory is bounded by the largest entry. */
  read(archive: ArchiveReader, source: ImportSource): AsyncIterable<ImportItem>;
}

/** Any importer. */
export type Importer = LineImporter | DocumentImporter | ArchiveImporter;
