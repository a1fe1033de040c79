import type { SyntaxNode } from 'unbash';
import { hidingCommands, shellTree } from '../base/shell-tree.ts';

/**
 * Returns the positions of the simple commands that exit code 0 of the line proves to have worked. After a pipe, `;`, a
 * line end or `||` the exit code is that of another command; a loop or a condition may not run its commands at all.
 */
export function provedCommands(line: string): ReadonlySet<number> {
  const found = new Set<number>();
  try {
    visit(shellTree(line), line, found);
  } catch {
    // For invalid input the parser usually returns a partial tree and rarely throws.
  }
  return found;
}

function visit(node: SyntaxNode, line: string, found: Set<number>): void {
  switch (node.type) {
    case 'Command':
      found.add(node.pos);
      return;
    case 'Statement':
      if (node.background !== true) visit(node.command, line, found);
      return;
    case 'Subshell':
    case 'BraceGroup':
      visit(node.body, line, found);
      return;
    case 'Redirected':
      visit(node.command, line, found);
      return;
    case 'Pipeline':
    case 'Script':
    case 'CompoundList':
    case 'AndOr':
      if (node.type === 'Pipeline' && node.prefixes.some(({ type }) => type === 'Negation')) return;
      for (const [index, command] of node.commands.entries())
        if (hidingCommands(node, index + 1, line).length === 0) visit(command, line, found);
      return;
    default:
  }
}
