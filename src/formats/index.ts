/** Public entry `coxswain/formats`: reads recorded runs of any supported format. */
export { findSources, type FoundSource } from './find-sources.ts';
export type { FormatName, ImportDiagnostic, ImportedRun, ImportItem } from './import-item.ts';
export { importSource, type ImportOptions } from './import-source.ts';
export { readRuns, type ReadRun, type ReadRunsItem, type ReadRunsOptions } from './read-runs.ts';
