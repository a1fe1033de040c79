import { alignKeys } from './align-keys.ts';

/** A line of a diff: unchanged (` `), removed (`-`) or added (`+`). */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** `…` marks omitted lines. Cost: as `alignKeys`. */
export function lineDiff(before: string, after: string, context: number = 2): readonly DiffLine[] {
  const lines = allLines(before.split(/\r?\n/), after.split(/\r?\n/));
  const near = new Set<number>();
  for (const [at, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    for (let other = at - context; other <= at + context; other += 1) near.add(other);
  }
  return lines.flatMap((line, at): readonly DiffLine[] => {
    if (near.has(at)) return [line];
    return near.has(at - 1) && at + 1 < lines.length ? [{ sign: ' ', text: '…' }] : [];
  });
}

function allLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  return alignKeys(before, after).map(([old, now]): DiffLine => {
    if (now === null) return { sign: '-', text: before[old] ?? '' };
    return { sign: old === null ? '+' : ' ', text: after[now] ?? '' };
  });
}
