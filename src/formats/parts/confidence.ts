import { membersOf, type JsonMembers } from './json-member.ts';

/** Confidence of a line importer: 0 if no line has its form, `all` if every line has, else `some`. */
export function confidence(
  lines: readonly unknown[],
  isOfForm: (line: JsonMembers) => boolean,
  { all, some }: { readonly all: number; readonly some: number },
): number {
  const count = lines.filter((line) => isOfForm(membersOf(line))).length;
  return count === 0 ? 0 : count === lines.length ? all : some;
}
