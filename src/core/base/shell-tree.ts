import { parse, type SyntaxNode } from 'unbash';

type ShellTree = ReturnType<typeof parse>;

let last: { readonly line: string; readonly tree: ShellTree } | undefined;

/** Parses a command line. The last one is remembered, because several folds read the same call one after the other. */
export function shellTree(line: string): ShellTree {
  if (last?.line !== line) last = { line, tree: parse(line) };
  return last.tree;
}

/** Reads the tree of a line. For invalid input the parser usually returns a partial tree and rarely throws. */
export function readShell<Found>(line: string, otherwise: Found, read: (tree: ShellTree) => Found): Found {
  try {
    return read(shellTree(line));
  } catch {
    return otherwise;
  }
}

const STOPS_AT_FAILURE = /\bset -\w*e/;

/**
 * Returns the commands whose exit code stands for that of a child of the node: those after it in a pipe, after `;` or a line end, and on
 * the other side of `||`. Empty if exit code 0 of the line proves that the child succeeded, as far as this node decides it.
 *
 * @param position  place of the child among the commands of the node, from 1
 * @param line  the whole line, which may say `pipefail` or `set -e`
 */
export function hidingCommands(node: SyntaxNode, position: number, line: string): readonly SyntaxNode[] {
  switch (node.type) {
    case 'Pipeline':
      return line.includes('pipefail') ? [] : node.commands.slice(position);
    case 'Script':
    case 'CompoundList':
      return STOPS_AT_FAILURE.test(line) ? [] : node.commands.slice(position);
    case 'AndOr': {
      const or = node.operators.indexOf('||', position - 1);
      // A command after `||` does not run if the one before it succeeds.
      const before = node.operators[position - 2] === '||' ? node.commands.slice(position - 2, position - 1) : [];
      return [...before, ...(or === -1 ? [] : node.commands.slice(or + 1))];
    }
    default:
      return [];
  }
}
