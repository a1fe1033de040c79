import type { SyntaxNode } from 'unbash';
import { shellTree } from '../base/shell-tree.ts';

const STOPS_AT_FAILURE = /\bset -\w*e/;

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
    case 'Script':
    case 'CompoundList':
      for (const command of STOPS_AT_FAILURE.test(line) ? node.commands : node.commands.slice(-1))
        visit(command, line, found);
      return;
    case 'Pipeline':
      if (node.prefixes.some(({ type }) => type === 'Negation')) return;
      for (const command of line.includes('pipefail') ? node.commands : node.commands.slice(-1))
        visit(command, line, found);
      return;
    case 'AndOr': {
      const alternative = node.operators.lastIndexOf('||');
      for (const command of node.commands.slice(alternative === -1 ? 0 : alternative + 2)) visit(command, line, found);
      return;
    }
    default:
  }
}
