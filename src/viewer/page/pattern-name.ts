import { inWords } from '../../core/records/words.ts';

export function patternName(kind: string): string {
  return inWords('pattern', kind.slice(0, 60));
}
