export { findSources, type FoundSource } from './find-sources.ts';
export type {
  FormatName,
  ImportDiagnostic,
  ImportedRun,
  ImportItem,
  ArchiveImporter,
  ArchiveReader,
  DocumentImporter,
  Importer,
  ImportSource,
  LineImport,
  LineImporter,
  TextImporter,
} from './importer.ts';
export { importSource, type ImportLimits, type ImportOptions } from './import-source.ts';
export { readRuns, type ReadRun, type ReadRunsItem, type ReadRunsOptions } from './read-runs.ts';
export { RunIds } from './run-ids.ts';
