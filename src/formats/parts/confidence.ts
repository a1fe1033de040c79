import { type JsonMembers, membersOf } from '../../core/base/json.ts';

/** Confidence of a line importer: `all` if every line has its format, `some` if at least one line has, 0 if none has. */
export function confidence(
  lines: readonly unknown[],
  isOfForm: (line: JsonMembers) => boolean,
  { all, some }: { readonly all: number; readonly some: number },
): number {
  const count = lines.filter((line) => isOfForm(membersOf(line))).length;
  return count === 0 ? 0 : count === lines.length ? all : some;
}
