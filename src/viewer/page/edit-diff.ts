import { lineDiff, type DiffLine } from '../../core/base/line-diff.ts';

const BEFORE = ['old', 'old_str', 'old_string', 'oldString', 'old_text', 'oldText', 'search'] as const;
const AFTER = ['new', 'new_str', 'new_string', 'newString', 'new_text', 'newText', 'replace'] as const;

export interface EditDiff {
  readonly names: readonly string[];
  readonly lines: readonly DiffLine[];
}

export function editOf(args: Readonly<Record<string, unknown>>): EditDiff | undefined {
  const [old, now] = [BEFORE, AFTER].map((names) => names.find((name) => typeof args[name] === 'string'));
  if (old === undefined || now === undefined) return undefined;
  return { names: [old, now], lines: lineDiff(String(args[old]), String(args[now])) };
}
