import { inWords } from '../../records/words.ts';

/** A pattern's kind as people read it. */
export function patternName(kind: string): string {
  return inWords('pattern', kind.slice(0, 60));
}
