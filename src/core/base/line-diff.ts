/** A line of a diff: unchanged (` `), removed (`-`) or added (`+`). */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** `…` marks omitted lines. Cost: the product of the numbers of lines, without the common beginning and end. */
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
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1;
  const same = (text: string): DiffLine => ({ sign: ' ', text });
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

function middle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const width = after.length + 1;
  // common[i * width + j]: length of the longest common subsequence of before[i…] and after[j…].
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const next =
        before[i] === after[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
      common[i * width + j] = next;
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [left = '', right = ''] = [before[i], after[j]];
    if (i < before.length && j < after.length && left === right) {
      lines.push({ sign: ' ', text: left });
      i += 1;
      j += 1;
    } else if (
      j >= after.length ||
      (i < before.length && (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push({ sign: '-', text: left });
      i += 1;
    } else {
      lines.push({ sign: '+', text: right });
      j += 1;
    }
  }
  return lines;
}
