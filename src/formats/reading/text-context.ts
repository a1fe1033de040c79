import type { Candidates } from './choose-importer.ts';
import type { ImportSource } from '../importer.ts';
import type { ReadLimits } from './text-head.ts';

/** Input for reading a text, apart from its bytes. */
export interface TextContext {
  readonly source: ImportSource;
  readonly candidates: Candidates;
  readonly limits: ReadLimits;
}
