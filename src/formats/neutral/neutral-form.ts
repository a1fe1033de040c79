import type { ImportItem, DocumentImporter, LineImporter } from '../importer.ts';
import { sourceStem } from '../parts/source-content.ts';

export interface NeutralPlace {
  readonly key: string;
  /** Id of a run without one. */
  readonly fallbackId: string;
  readonly line?: number;
}

/** @param likeness  returns the confidence, 0 to 1, that a value is a run of this form */
export function neutralImporters(
  format: 'calls' | 'steps',
  likeness: (value: unknown) => number,
  items: (value: unknown, place: NeutralPlace) => Iterable<ImportItem>,
): {
  readonly document: DocumentImporter;
  readonly lines: LineImporter;
} {
  return {
    document: {
      shape: 'document',
      format,
      recognise: likeness,
      read: (document, source) => items(document, { key: 'run', fallbackId: sourceStem(source) }),
    },
    lines: {
      shape: 'lines',
      format,
      recognise: (lines) => lines.reduce<number>((sum, line) => sum + likeness(line), 0) / lines.length,
      open: (source) => ({
        line: (value, line) => items(value, { key: String(line), fallbackId: `${sourceStem(source)}-${line}`, line }),
        end: () => [],
      }),
    },
  };
}
