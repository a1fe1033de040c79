import { lineDiff, type DiffLine } from '../../core/base/line-diff.ts';

/** A longer edit is shown as arguments, because the diff takes time proportional to the product of the lengths. */
const MAX_LINES = 400;

const BEFORE = ['old', 'old_str', 'old_string', 'oldString', 'old_text', 'oldText', 'search'] as const;
const AFTER = ['new', 'new_str', 'new_string', 'newString', 'new_text', 'newText', 'replace'] as const;

export interface EditDiff {
  readonly names: readonly string[];
  readonly lines: readonly DiffLine[];
}

export function editOf(args: Readonly<Record<string, unknown>>): EditDiff | undefined {
  const [old, now] = [BEFORE, AFTER].map((names) => names.find((name) => typeof args[name] === 'string'));
  if (old === undefined || now === undefined) return undefined;
  const [before, after] = [String(args[old]), String(args[now])];
  if ([before, after].some((text) => text.split('\n').length > MAX_LINES)) return undefined;
  return { names: [old, now], lines: lineDiff(before, after) };
}
