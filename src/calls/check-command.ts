import { isJsonObject, type Json } from '../base/json.ts';

/** Programs and package manager scripts that check a project: tests, types, lint, build. */
const CHECKS =
  /(?:^|[\s;&|(])(?:\S*\/\.?bin\/)?(?:(?:npm|pnpm|yarn|bun|deno)(?: run| -s)*[ ](?:test|t|check|lint|build|typecheck)|npx (?:vitest|jest|tsc|eslint|mocha|playwright)|vitest|jest|mocha|pytest|py\.test|tox|nosetests|python3? -m (?:pytest|unittest)|go (?:test|vet|build)|cargo (?:test|check|clippy|build)|make(?: -\S+)* (?:test|check|lint|all)|mvn (?:-\S+ )*(?:test|verify)|(?:\.\/)?gradlew? (?:-\S+ )*(?:test|check|build)|ctest|phpunit|rspec|dotnet (?:test|build)|swift (?:test|build)|mix test|tsc|eslint|oxlint|ruff|flake8|mypy|pyright)(?![\w./-])/;

/** Number of characters of a command that are searched. */
const MAX_CHARS = 2_000;

/** A shell command that checks the project. */
export interface CheckCommand {
  /** The same key for every command that runs this check, for example `npm test`. */
  readonly key: string;
  /** The command from the check onwards, on one line. */
  readonly command: string;
}

/** Returns the check that a shell call runs; undefined for any other call. */
export function checkCommandOf(args: Json): CheckCommand | undefined {
  if (!isJsonObject(args)) return undefined;
  const { cmd, command = cmd } = args;
  const text = Array.isArray(command) ? command.join(' ') : command;
  if (typeof text !== 'string') return undefined;
  const shown = text.slice(0, MAX_CHARS).replaceAll(/\s+/g, ' ');
  const found = CHECKS.exec(shown);
  if (found === null) return undefined;
  const rest = shown.slice(found.index).replace(/^[\s;&|(]+/, '');
  return { key: found[0].replace(/^[\s;&|(]+/, ''), command: rest.trim() };
}
