import type { Command, SyntaxNode } from 'unbash';
import { wordSet } from './word-set.ts';

/** Programs whose exit code 1 means "no": nothing found, a difference, a false condition. */
const ANSWER_WITH_1 = wordSet(
  `grep egrep fgrep zgrep rg ag ack findstr diff cmp test [ false expr which where type hash pgrep pidof fuser lsof locate readlink
   mountpoint`,
);
/** Other exit codes that are answers, each with the beginning of a command. */
const ANSWERS: readonly (readonly [command: RegExp, codes: readonly number[]])[] = [
  [
    /^command -[vV]\b|^(?:rpm|pacman) -Q|^rpm -q|^dpkg(?:-query)? -|^pip3? show\b|^npm (?:outdated|ls)\b|^jq .*?-\w*e/,
    [1],
  ],
  [/^git (?:-\S+ \S+ )*(?:grep|check-ignore|show-ref|config|symbolic-ref|cat-file -e|merge-base --is-ancestor)\b/, [1]],
  [/^git .*?\b(?:diff\b.*? --(?:exit-code|quiet|no-index)|rev-parse\b.*? --verify)\b|^kubectl diff\b/, [1]],
  [/^git ls-remote .*?--exit-code\b|^getent\b|^terraform plan\b.*? -detailed-exitcode\b/, [2]],
  [/^systemctl (?:-\S+ )*is-|^service \S+ status\b/, [1, 3, 4]],
  [/^xargs (?:-\S+ (?:\d+ )?)*(?:grep|egrep|fgrep|rg|test)\b/, [1, 123]],
];

/** Returns the exit codes other than 0 by which a command answers a question, so that they report no failure. */
export function answerCodes(words: readonly string[]): readonly number[] {
  const [path = '', ...args] = words;
  const program = path.slice(path.lastIndexOf('/') + 1);
  if (ANSWER_WITH_1.has(program)) return [1];
  const line = [program, ...args].join(' ');
  return ANSWERS.find(([command]) => command.test(line))?.[1] ?? [];
}

/** What may give a line its exit code: a command, or a condition, which is true or false. */
export type Exiting = Command | 'condition' | 'unknown';

/** Returns the commands that may give a part of a script an exit code other than 0, the last one first. */
export function exitingCommands(node: SyntaxNode | undefined): readonly Exiting[] {
  switch (node?.type) {
    case 'Script':
    case 'CompoundList':
      return exitingCommands(node.commands.at(-1));
    case 'Statement':
    case 'Redirected':
      return exitingCommands(node.command);
    case 'Subshell':
    case 'BraceGroup':
    case 'For':
    case 'While':
      return exitingCommands(node.body);
    case 'If':
      return [node.else, ...node.elif.map((branch) => branch.then), node.then].flatMap((part) =>
        part === undefined ? [] : exitingCommands(part),
      );
    case 'Pipeline':
      return node.prefixes.some(({ type }) => type === 'Negation')
        ? ['condition']
        : exitingCommands(node.commands.at(-1));
    case 'AndOr': {
      // `a && b` ends with the code of `a` or `b`, and `a || b` with that of `b`.
      const first = node.operators.lastIndexOf('||') + 1;
      return node.commands.slice(first).reverse().flatMap(exitingCommands);
    }
    case 'TestCommand':
    case 'ArithmeticCommand':
      return ['condition'];
    case 'Command':
      return [node];
    default:
      return ['unknown'];
  }
}
