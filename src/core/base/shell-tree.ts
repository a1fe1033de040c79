import { parse } from 'unbash';

type ShellTree = ReturnType<typeof parse>;

let last: { readonly line: string; readonly tree: ShellTree } | undefined;

/** Parses a command line. The last one is remembered, because several folds read the same call one after the other. */
export function shellTree(line: string): ShellTree {
  if (last?.line !== line) last = { line, tree: parse(line) };
  return last.tree;
}
