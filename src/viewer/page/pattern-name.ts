import { inWords } from '../../core/records/words.ts';

/** Returns the display name of a pattern's kind. */
export function patternName(kind: string): string {
  return inWords('pattern', kind.slice(0, 60));
}
