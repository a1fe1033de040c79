import type { Candidates } from './choose-importer.ts';
import type { ImportSource } from '../importer.ts';
import type { ReadLimits } from './text-head.ts';

/** Input of reading a text besides its bytes. */
export interface TextContext {
  readonly source: ImportSource;
  readonly candidates: Candidates;
  readonly limits: ReadLimits;
}
