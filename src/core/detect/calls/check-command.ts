import { type Command, forEachChild, parse, type SyntaxNode } from 'unbash';
import { isJsonObject, type Json } from '../../base/json.ts';
import { kindOfProgram, SETUP_PROGRAMS } from './shell-program.ts';

/** Programs and package manager scripts that check a project: tests, types, lint, build. */
const CHECKS =
  /(?:^|[\s;&|(])(?:\S*\/\.?bin\/)?(?:(?:npm|pnpm|yarn|bun|deno)(?: run| -s)*[ ](?:test|t|check|lint|build|typecheck)|npx (?:vitest|jest|tsc|eslint|mocha|playwright)|vitest|jest|mocha|pytest|py\.test|tox|nosetests|python3? -m (?:pytest|unittest)|go (?:test|vet|build)|cargo (?:test|check|clippy|build)|make(?: -\S+)* (?:test|check|lint|all)|mvn (?:-\S+ )*(?:test|verify)|(?:\.\/)?gradlew? (?:-\S+ )*(?:test|check|build)|ctest|phpunit|rspec|dotnet (?:test|build)|swift (?:test|build)|mix test|tsc|eslint|oxlint|ruff|flake8|mypy|pyright)(?![\w./-])/;

/** Number of characters of a command that are searched. */
const MAX_CHARS = 2_000;

const PRINTERS: ReadonlySet<string> = new Set(['echo', 'printf']);

/** A shell command that checks the project. */
export interface CheckCommand {
  /** The same key for every command that runs this check, for example `npm test`. */
  readonly key: string;
  /** The command from the check onwards, on one line. */
  readonly command: string;
}

/** Returns the check that a shell call runs; undefined for any other call. */
export function checkCommandOf(args: Json): CheckCommand | undefined {
  const line = commandLineOf(args);
  return line === undefined ? undefined : findCheck(line.slice(0, MAX_CHARS));
}

/** Returns the command of a shell call, in the argument `command` or `cmd`, as one line. */
export function commandLineOf(args: Json): string | undefined {
  if (!isJsonObject(args)) return undefined;
  const { cmd, command = cmd } = args;
  const line = Array.isArray(command) ? command.join(' ') : command;
  return typeof line === 'string' ? line : undefined;
}

function findCheck(line: string): CheckCommand | undefined {
  // Parses only lines that contain the words of a check.
  if (!CHECKS.test(line.replaceAll(/\s+/g, ' '))) return undefined;
  try {
    return findCheckUnder(parse(line), line);
  } catch {
    // For invalid input the parser usually returns a partial tree and rarely throws.
    return undefined;
  }
}

function findCheckUnder(node: SyntaxNode, line: string): CheckCommand | undefined {
  let check = node.type === 'Command' ? findCheckInCommand(node, line) : undefined;
  forEachChild(node, (child) => {
    check ??= findCheckUnder(child, line);
  });
  return check;
}

/** Finds the check among the words of one command. A quoted text is a check only as a script of `bash -c`. */
function findCheckInCommand({ name, suffix }: Command, line: string): CheckCommand | undefined {
  const words = [...(name === undefined ? [] : [name]), ...suffix.filter((part) => part.type === 'Word')];
  const values = words.map(({ value }) => value);
  const [path = '', ...args] = values;
  const program = path.slice(path.lastIndexOf('/') + 1);
  const kind = kindOfProgram(program, args);
  if (kind !== 'execute' && (!SETUP_PROGRAMS.has(program) || PRINTERS.has(program))) return undefined;
  for (const [index, { pos, value }] of words.entries()) {
    if (/\s/.test(value)) {
      const script = /^-\w*c$/.test(values[index - 1] ?? '') ? findCheck(value) : undefined;
      if (script !== undefined) return script;
      continue;
    }
    const match = CHECKS.exec(values.slice(index).join(' '));
    if (match?.index === 0) return { key: match[0], command: line.slice(pos).replaceAll(/\s+/g, ' ').trim() };
  }
  return undefined;
}
