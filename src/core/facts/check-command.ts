import { type Command, forEachChild, type SyntaxNode } from 'unbash';
import { hidingCommands, readShell } from '../base/shell-tree.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { shellLineOf } from '../detect/calls/shell-command.ts';
import { kindOfProgram, SETUP_PROGRAMS } from '../detect/calls/shell-program.ts';

/** What a check covers. `all` covers every purpose; `hooks` are those of `git commit`. */
export type CheckPurpose =
  | 'test'
  | 'integration'
  | 'lint'
  | 'types'
  | 'build'
  | 'check'
  | 'syntax'
  | 'all'
  | 'hooks'
  | 'task';

export interface CheckCommand {
  readonly key: string;
  readonly command: string;
  readonly purpose: CheckPurpose;
  /** True if the command names no part of the project, such as a file or the name of a test. */
  readonly isWide: boolean;
  /** The names of tests that it selects, as after `-run` or `-t`; empty if they are not known. Absent if it selects none. */
  readonly names?: string;
  /** The programs after it in a pipe, such as `tail`, or after `;` or `||`: the exit code is theirs. Absent if it is its own. */
  readonly hiddenBy?: readonly string[];
  /** The name of the folder in which it ran, if that is another one than that of the first such check. */
  readonly folder?: string;
  /** The folder in which it ran, whole or as a line named it. Absent if it is not known. */
  readonly place?: string;
  /** True for a formatter that writes the files: it is no check, but makes up for a failed one. */
  readonly writes?: true;
  /** The program that does this and no more. Absent for a target of the project, which may run any. */
  readonly program?: string;
  /** The build tags that it names, without which it reads other files. Absent if none. */
  readonly tags?: string;
  /** The checks joined by `&&` of which one failed, if it is not known which. */
  readonly chain?: string;
  /** True if it names no part but a folder of all tests of its purpose, such as `./integration_test/`. */
  readonly isSuite?: boolean;
}

const MAX_CHARS = 2_000;
const MAX_RESULT_CHARS = 20_000;

const PRINTERS: ReadonlySet<string> = new Set(['echo', 'printf']);

/** Programs that only check, and the words that they need if they also do something else. */
const CHECKERS: readonly (readonly [CheckPurpose, RegExp])[] = [
  [
    'test',
    /^(?:vitest|jest|mocha|ava|pytest|py\.test|tox|nox|nosetests|ctest|phpunit|pest|rspec|busted|bats|Invoke-Pester)$/,
  ],
  [
    'test',
    /^(?:python\d?(?:\.\d+)? -m (?:pytest|unittest)|node --test|(?:python\d?(?:\.\d+)? )?manage\.py test|flutter test|dart test|zig test|forge test|prove)$/,
  ],
  ['integration', /^(?:playwright test|cypress run)$/],
  ['types', /^(?:tsc|vue-tsc|tsgo|mypy|pyright|basedpyright|flow check|python\d? -m mypy)$/],
  [
    'lint',
    /^(?:eslint|oxlint|flake8|pylint|golangci-lint|stylelint|shellcheck|(?:github-)?actionlint|rubocop|swiftlint|ktlint)$/,
  ],
  ['lint', /^(?:ruff(?: check| format)?|biome (?:check|lint|ci|format)|prettier (?:--check|-c)|black --check|isort)$/],
  ['lint', /^(?:ultracite (?:check|lint)|oxfmt --check)$/],
  ['lint', /^(?:gofmt -l|cargo (?:clippy|fmt)|go vet|deno (?:lint|fmt)|dotnet format)$/],
  ['lint', /^(?:(?:dart|flutter) analyze|phpstan|psalm|mix (?:credo|dialyzer)|(?:terraform|tofu) validate)$/],
  ['lint', /^(?:hadolint|yamllint|ansible-lint|sqlfluff lint|buf lint|staticcheck|gosec)$/],
  ['lint', /^(?:govulncheck|luacheck|clang-tidy|cppcheck|bandit|knip|pre-commit run|next lint)$/],
  ['types', /^(?:cargo check|deno check|svelte-check|astro check)$/],
  ['build', /^(?:(?:next|vite|astro|forge|nix|nixos-rebuild) build|cmake --build)$/],
  ['lint', /^helm lint$/],
  ['types', /^swiftc -typecheck$/],
  ['check', /^(?:nix flake|(?:python\d?(?:\.\d+)? )?manage\.py) check$/],
];

/** Commands that only read the syntax of files. A shell reads them too if `-n` stands before the file. */
export const SYNTAX: RegExp =
  /^(?:(?:(?:ba|z|da|k)?sh|fish) -n|fish --no-execute|node (?:--check|-c)|python[\d.]* -m (?:py_compile|compileall)|php -l|ruby -w?c|perl -w?c|luac -p|nginx -t|ansible-playbook(?: \S+)* --syntax-check)(?= |$)/;

const NO_SOURCE = / (?:\/private)?\/(?:tmp|var)\/|\$/;

function syntaxOf(words: readonly string[]): Omit<CheckCommand, 'command'> | undefined {
  const line = words.join(' ');
  const [program] = SYNTAX.exec(line) ?? [];
  // A trial, and the file of a loop, are no files of the project. Each file is checked apart.
  return program === undefined || NO_SOURCE.test(line)
    ? undefined
    : { key: line, purpose: 'syntax', program, isWide: false };
}

/** Options of a build that change nothing of what is built. */
const SAME_BUILD = /^--?(?:no-cache|pull|quiet|q|progress(?:=.*)?)$/;
const IMAGE_BUILD = /^(?:docker|podman)(?: buildx)? build(?= |$)/;
const TAG_AND_FILE = [/ (?:-t|--tag)[ =]\S+/, / (?:-f|--file)[ =](?:\S*\/)?(\S+)/];

/** A build of an image is another one for each tag and file, one with Xcode for each scheme. A build of services only prepares them. */
function buildOf(words: readonly string[]): Omit<CheckCommand, 'command'> | undefined {
  const isXcode = words[0] === 'xcodebuild';
  const line = words.filter((word) => !SAME_BUILD.test(word)).join(' ');
  const verb = isXcode
    ? words.find((word, index) => /^(?:build|test)$/.test(word) && !/^-(?!quiet$)/.test(words[index - 1] ?? ''))
    : IMAGE_BUILD.exec(line)?.[0];
  if (verb === undefined) return undefined;
  const [tag, file] = TAG_AND_FILE.map((option) => option.exec(line));
  const key = isXcode || tag == null ? line : `${verb}${tag[0]}${file == null ? '' : ` ${file[1]}`}`;
  return {
    key,
    purpose: verb === 'test' ? 'test' : 'build',
    program: isXcode ? `xcodebuild ${verb}` : key,
    isWide: !words.includes('-scheme'),
  };
}

/** Programs that run the targets of a project, and whether they take several targets. */
const RUNNERS: readonly (readonly [isMulti: boolean, RegExp])[] = [
  [
    false,
    /^(?:npm|pnpm|yarn|bun|deno|mise|cargo|go|uv|poetry|pdm|hatch|pipenv|composer|dotnet|swift|mix|flutter|dart)$/,
  ],
  [false, /^(?:nx|turbo|lerna|moon|bundle|melos|wireit|invoke|inv|zig|dune|stack|cabal|lein|meson|earthly)$/],
  [true, /^(?:make|gmake|just|task|rake|gradlew?|mvnw?|nox|tox|bazel(?:isk)?|sbt|ninja|ant|run-[sp]|npm-run-all)$/],
];
/** Runners whose targets are their own commands, not those of a project. */
const TOOLCHAIN = /^(?:cargo|go|dotnet|swift|flutter|dart|zig)$/;
/** The compiler that cargo takes: `cargo +1.96.0 test`. */
const TOOLCHAIN_NAME = /^\+[\w.-]+$/;
/** Words before a target. */
const RUN_WORD = /^(?:run|run-script|run-many|r|exec|x|tasks?|tool)$/;
const VALUE_OPTION =
  /^(?:-C|-w|-F|-f|-p|-pl|-j|--filter|--workspace|--cwd|--prefix|--project|--directory|--dir|--config|--package|--env)$/;
const PART_OPTION =
  /^(?:-C|-w|-F|-p|-pl|-t|-k|-m|-run|--?tests?|--filter|--workspace|--package|--project|--grep|--testPathPatterns?|--testNamePattern|--test-name-pattern|--only)(?:=|$)|^-D(?:it\.)?test=/;
/** Options before the names of tests. */
const NAMES = '(?:--?run|-t|-k|-g|--grep|--testNamePattern|--test-name-pattern)';
const NAME_OPTION = new RegExp(`^${NAMES}(?:=|$)`);
/** The name of a test says nothing of the tests that a run of all includes. */
const TEST_NAME = new RegExp(`\\s${NAMES}[= ](?:'[^']*'|"[^"]*"|\\S+)`, 'g');
/** Build tags of Go. */
const TAGS = / -tags[= ]["']?([\w,]+)/;
/** A folder of all integration tests. */
const SUITE = /(?:^|\/)(?:integration|e2e|acceptance|smoke)(?:[-_]?tests?)?(?:\/(?:\.\.\.)?)?$/;
/** Words after a check that do not narrow it. */
const WHOLE = /^(?:\.|\.\/|\.\/\.\.\.|\d+|run|check|format|ci|all)$/;
/** Tests that a run of the unit tests does not include. */
const INTEGRATION = /(?<![a-z])(?:integration|e2e|end-to-end|acceptance|smoke)(?![a-z])/i;

/** Words after which a package manager takes names of packages, not targets. */
const PACKAGE_MANAGER = /^(?:npm|pnpm|yarn|bun|uv|poetry|pip3?|brew|cargo|composer)$/;
const INSTALLS = /^(?:add|i|install|remove|rm|uninstall|update|upgrade|create|init)$/;
/** Programs that only choose how another one runs. */
const WRAPPER = /^(?:env|fnm|nvm|volta|sudo|timeout|time|nice|direnv|corepack)$/;
const SHELL = /(?:^|[\\/])(?:(?:ba|da|k|z)?sh|pwsh|powershell)(?:\.exe)?$/i;
/** Words of commands that prepare a project, or look at what is there. A task that names them asks for no check. */
const FETCHES =
  /^(?:get|sync|download|restore|pull|push|clone|fetch|checkout|start|serve|dev|watch|build_runner|status|list|ls|ls-remote|ready|show|logs?|view|info|fmt|format|describe|capture|monitor|send|open|attach)$/;
/** Commands of a package manager that look something up. */
const LOOKS_UP = /^(?:search|view|info|show|ls|list|why|explain|outdated|audit|docs|repo|home|fund|config|help)$/;

/** Programs with which a task may name a check of its own. One such as `adb root` is a step. */
const RUNS_CODE =
  /^(?:node|deno|bunx?|tsx|python[\d.]*|ruby|php|perl|lua|Rscript|java|(?:ba|z|fi)?sh|pwsh|uvx?|poetry|pipenv|npm|pnpm|yarn|npx|go|cargo|dotnet|swift|mix|make|just|task|rake|gradlew?|mvnw?|mise|nx|turbo|docker)$/;
const BARE_RUN = /^\S+ run$/;

const FORMATTER =
  /^(?:prettier|oxfmt|black|gofmt|isort|(?:cargo|deno|terraform) fmt|(?:ruff|dotnet|dart|mix) format)(?= |$)/;
/** Options with which a formatter writes nothing. */
const ONLY_CHECKS =
  /^(?:--check(?:-only)?|--diff|--verify-no-changes|--check-formatted|--set-exit-if-changed|--list-different|-[cdl])$/;
/** Checkers that run what the project's configuration names. */
const RUNS_OTHERS = /^(?:tox|nox|ctest|pre-commit run|cmake --build)$/;
/** Words after a check that print what it is, or set it up. */
const CHECKS_NOTHING =
  /^(?:golangci-lint (?:version|help|config|linters|cache|migrate)|vitest (?:init|list))\b|\s(?:--version|-V|--help|-h|--init|--print-config|--showConfig|--listTests|--collect-only|-run[= ](?:XXX|NONE))(?=\s|$)/;
/** Commands of a task that change things or look up issues. */
const CHANGES_ONLY = /^(?:bd|gt|ncu|npm-check-updates|dart fix)(?= |$)|\s--force(?=\s|$)/;
/** Commands that look for a program. */
const FINDS = /^(?:(?:mise|asdf) )?(?:command -[vV]|which|where|type|whereis|hash)\b/;

/** Returns the checks that a shell call runs, in order. `task`: a command that the task names is a check too. */
export function checkCommandsOf(args: Json, task = ''): readonly CheckCommand[] {
  const line = commandLineOf(args);
  return line === undefined ? [] : checksIn(line.slice(0, MAX_CHARS), task);
}

/** The patch that older versions of Codex give to the command `apply_patch`. */
export function patchIn(args: Json): string | undefined {
  const command = isJsonObject(args) ? args['command'] : undefined;
  const [program, patch] = Array.isArray(command) ? command : [];
  return program === 'apply_patch' && typeof patch === 'string' ? patch : undefined;
}

export function commandLineOf(args: Json): string | undefined {
  if (!isJsonObject(args)) return undefined;
  const { cmd, code, language } = args;
  const { command = cmd ?? (language === 'shell' ? code : undefined) } = args;
  if (patchIn(args) !== undefined) return undefined;
  const words = Array.isArray(command) ? command.filter((word) => typeof word === 'string') : undefined;
  // Old Codex: `["bash", "-lc", "npm test"]`.
  const line = words === undefined ? command : (shellLineOf(words) ?? words.join(' '));
  return typeof line === 'string' ? line : undefined;
}

/** Words of which one is in every command with a check. Only such a command is parsed. */
const HINT =
  /test|lint|check|build|type|\bci\b|verif|valid|spec|tsc|mypy|pyright|ruff|flake8|biome|prettier|black|vet|clippy|fmt|compile|e2e|jest|mocha|tox|nox|make|rubocop|phpunit|\bava\b|pest\b|bats|busted|npm t\b|analy[sz]e|stan\b|psalm|credo|dialyzer|staticcheck|gosec|govuln|tidy|bandit|knip|pre-?commit|pre-?push|prove\b|sh -n|node -c|(?:php|ruby|perl) -\w*[lc]\b|luac|nginx -t|syntax/i;

function checksIn(line: string, task: string): readonly CheckCommand[] {
  if (!HINT.test(line) && !namedInTask(line, task)) return [];
  return readShell(line, [], (tree) => checksUnder(tree, line, task));
}

/** Returns true if the task contains the first two words of one of the commands, so that the line is worth parsing. */
function namedInTask(line: string, task: string): boolean {
  if (task === '') return false;
  return line.split(/&&|[;|\n]/).some((part) => {
    const [program, argument] = part.trim().split(/\s+/, 2);
    return argument !== undefined && task.includes(`${program} ${argument}`);
  });
}

function checksUnder(node: SyntaxNode, line: string, task: string): readonly CheckCommand[] {
  const own = node.type === 'Command' ? checksInCommand(node, line, task) : [];
  const found: CheckCommand[] = [...own];
  if (own.length > 0) return found;
  let position = 0;
  forEachChild(node, (child) => {
    position += 1;
    // Whether a branch ran, only its words say.
    const isBranch = (node.type === 'If' && position > 1) || node.type === 'Case';
    const programs = hidingCommands(node, position, line).map(programOf);
    // A cmdlet of PowerShell leaves the exit code of the program before it, and a test of Pester has none.
    const after = node.type === 'Pipeline' ? programs.filter((program) => !CMDLET.test(program)) : programs;
    for (const check of checksUnder(child, line, task)) {
      const hiding = [...(isBranch ? ['if'] : []), ...(check.key === 'Invoke-Pester' ? programs : after)];
      const hidden = [...(check.hiddenBy ?? []), ...hiding];
      found.push(hidden.length === 0 ? check : { ...check, hiddenBy: hidden });
    }
  });
  return found;
}

const CMDLET = /^(?:Select-Object|Out-(?:File|Host|String)|Tee-Object|Format-(?:Table|List))$/i;

function programOf(node: SyntaxNode): string {
  if (node.type === 'Command') {
    const isInverse = node.suffix.some((part) => part.type === 'Word' && /^-\w*v/.test(part.value));
    return `${node.name?.value ?? ''}${isInverse ? ' -v' : ''}`;
  }
  if (node.type === 'Statement') return programOf(node.command);
  const [first] = node.type === 'Pipeline' || node.type === 'AndOr' ? node.commands : [];
  return first === undefined ? '' : programOf(first);
}

/** Finds the check among the words of one command. A quoted text is a check only as a script of `bash -c`. */
function checksInCommand(command: Command, line: string, task: string): readonly CheckCommand[] {
  const { name, suffix } = command;
  const words = [...(name === undefined ? [] : [name]), ...suffix.filter((part) => part.type === 'Word')];
  const values = words.map(({ value }) => value);
  const [path = '', ...args] = values;
  const program = path.slice(path.lastIndexOf('/') + 1);
  const kind = kindOfProgram(program, args);
  const isRunner = RUNNERS.some(([, pattern]) => pattern.test(program)) || SETUP_PROGRAMS.has(program);
  if (kind !== 'execute' && (!isRunner || PRINTERS.has(program))) return [];
  if (FINDS.test(values.slice(0, 2).join(' '))) return [];
  for (const [index, { pos, value }] of words.entries()) {
    if (/\s/.test(value)) {
      const isScript =
        /^-(?:\w*c|command)$/i.test(values[index - 1] ?? '') && values.slice(0, index).some((word) => SHELL.test(word));
      const scripts = isScript ? checksIn(value, task) : [];
      if (scripts.length > 0) return scripts;
      continue;
    }
    if (INSTALLS.test(value) && values.slice(0, index).some((word) => PACKAGE_MANAGER.test(word))) return [];
    if (LOOKS_UP.test(value) && PACKAGE_MANAGER.test(values[index - 1] ?? '')) return [];
    if (LOOKS_UP.test(values[index + 1] ?? '') && /^tasks?$/.test(value)) return [];
    const rest = values.slice(index).filter((word) => !/\s/.test(word) && !TOOLCHAIN_NAME.test(word));
    const check = checkOf(rest) ?? scriptOf(rest, values.slice(0, index));
    if (check !== undefined) {
      const text = line
        .slice(WRAPPER.test(program) ? pos : (name?.pos ?? command.pos), command.end)
        .replaceAll(/\s+/g, ' ')
        .replace(/ 2>&1$/, '');
      const isIntegration = check.purpose === 'test' && INTEGRATION.test(text.replaceAll(TEST_NAME, ''));
      const purpose = isIntegration ? 'integration' : check.purpose;
      const tags = TAGS.exec(text)?.[1];
      const tagged = tags === undefined ? {} : { key: `${check.key} -tags ${tags}`, tags };
      return [{ ...check, ...tagged, purpose, command: text }];
    }
  }
  // The same program from another place is the same command.
  const own = [program.replace(/^python[\d.]+$/, 'python'), ...args].join(' ');
  // A task that quotes code names its lines, not commands.
  const isCode = line.includes('\n') || suffix.some((part) => part.type === 'Word' && part.value === '=');
  const isSetup =
    CHECKS_NOTHING.test(own) ||
    CHANGES_ONLY.test(own) ||
    values.slice(1, 3).some((word) => INSTALLS.test(word) || FETCHES.test(word));
  const mayCheck = path.includes('/') || (RUNS_CODE.test(program) && !BARE_RUN.test(own));
  const isNamed = !isCode && !isSetup && mayCheck && kind === 'execute' && values.length > 1 && hasCommand(task, own);
  return isNamed ? [{ key: own, command: own, purpose: 'task', isWide: true }] : [];
}

/** Returns true if the task has the command as whole words: `go run .` is not in `go run ./cmd`. */
function hasCommand(task: string, command: string): boolean {
  const text = task.replaceAll(/\s+/g, ' ');
  for (let at = text.indexOf(command); at !== -1; at = text.indexOf(command, at + 1))
    if (!/[\w/.-]/.test(text.charAt(at - 1)) && !/[\w/-]/.test(text.charAt(at + command.length))) return true;
  return false;
}

function checkOf(words: readonly string[]): Omit<CheckCommand, 'command'> | undefined {
  const [path = ''] = words;
  // `npx eslint@9` names a version.
  const program = path.slice(path.lastIndexOf('/') + 1).replace(/(?<=\w)@[\w.^~-]+$/, '');
  if (CHECKS_NOTHING.test([program, ...words.slice(1)].join(' '))) return undefined;
  const whole = [program, ...words.slice(1)];
  const special = syntaxOf(whole) ?? buildOf(whole);
  if (special !== undefined) return special;
  const formatter = FORMATTER.exec(words.length === 1 ? program : `${program} ${words[1]}`)?.[0];
  if (formatter !== undefined && !words.some((word) => ONLY_CHECKS.test(word)))
    return { key: formatter, purpose: 'lint', isWide: false, writes: true };
  for (const length of [3, 2, 1]) {
    const key = [program, ...words.slice(1, length)].join(' ');
    const [purpose] = CHECKERS.find(([, pattern]) => pattern.test(key)) ?? [];
    if (purpose === undefined) continue;
    const rest = words.slice(length);
    const own = RUNS_OTHERS.test(key) ? {} : { program: key.replace(/^python\S* -m /, '') };
    return { key, purpose, ...own, ...partOf(rest) };
  }
  if (program === 'node' && words[1] === '--run') {
    const purpose = purposeOfName(words[2] ?? '');
    return purpose === undefined ? undefined : { key: words.slice(0, 3).join(' '), purpose, ...partOf(words.slice(3)) };
  }
  const [isMulti] = RUNNERS.find(([, pattern]) => pattern.test(program)) ?? [];
  if (isMulti === undefined) return undefined;
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (VALUE_OPTION.test(word)) index += 1;
    if (word.startsWith('-') || word.includes('=')) continue;
    // `npm ci` installs.
    if (
      word === 'ci' &&
      /^(?:npm|pnpm|yarn|bun)$/.test(program) &&
      !words.slice(1, index).some((one) => RUN_WORD.test(one))
    )
      return undefined;
    const name = program === 'nx' ? word.slice(word.indexOf(':') + 1) : word;
    const purpose = purposeOfName(word === 't' && program === 'npm' ? 'test' : name);
    if (purpose !== undefined) {
      const key = [program, ...words.slice(1, index + 1)].join(' ');
      const own = TOOLCHAIN.test(program) ? { program: `${program} ${word}` } : {};
      return { key, purpose, ...own, ...partOf([...words.slice(1, index), ...words.slice(index + 1)]) };
    }
    if (!isMulti && !RUN_WORD.test(word) && !VALUE_OPTION.test(words[index - 1] ?? '')) return undefined;
  }
  return undefined;
}

/** Programs that run a script of the project, and the folders in which one is no trial of the agent. A shell script may be anywhere. */
const RUNS_SCRIPT = /^(?:node|python[\d.]*|bun|tsx|ruby|deno)$/;
const SCRIPT_FOLDER = /(?:^|\/)(?:scripts?|bin|tools?|ci|tasks|hack)\//;
const SHELL_SCRIPT = /\.(?:ba|z|fi)?sh$/;
const SCRIPT = /\.(?:(?:ba|z|fi)?sh|[cm]?[jt]s|py|rb)$/;
/** A place that is not the project's: that of a trial, or of a program's own files. */
const ELSEWHERE = /^(?:\/private)?\/(?:tmp|var)\/|[$~]|scratch|(?:^|\/)\.\w/;

/** Returns the check that a script of the project is by its name, such as `bash scripts/test-install.sh` or `./validate.sh`. */
function scriptOf(
  [path = '', ...rest]: readonly string[],
  before: readonly string[],
): Omit<CheckCommand, 'command'> | undefined {
  if (!SCRIPT.test(path) || ELSEWHERE.test(path) || before.some((word) => /^-\w*[cenm]$/.test(word))) return undefined;
  const runner = before.findLast((word) => !word.startsWith('-') && word !== 'run' && !WRAPPER.test(word));
  const isShell =
    SHELL_SCRIPT.test(path) && (runner === undefined ? path.includes('/') : SHELL.test(runner) || runner === 'fish');
  const isOwn = SCRIPT_FOLDER.test(path) && (runner === undefined || RUNS_SCRIPT.test(runner));
  if (!isShell && !isOwn) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1).replace(SCRIPT, '');
  const purpose = purposeOfName(name.replaceAll('_', '-'));
  return purpose === undefined || (purpose === 'build' && !isShell)
    ? undefined
    : { key: path.replace(/^\.\//, ''), purpose, ...partOf(rest) };
}

/** Returns what a target checks, according to the parts of its name: `test:ci`, `lint-fix`, `compileKotlin`. */
function purposeOfName(target: string): CheckPurpose | undefined {
  if (/[^\w:.@-]/.test(target) || /\.\w{1,4}$/.test(target)) return undefined;
  const parts = new Set(
    target
      .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .split(/[^a-z\d]+/),
  );
  const has = (...names: readonly string[]): boolean => names.some((name) => parts.has(name));
  if (has('watch', 'dev', 'serve', 'install')) return undefined;
  if (has('ci', 'verify', 'validate', 'preflight')) return 'all';
  if (has('e2e', 'integration', 'acceptance', 'smoke')) return 'integration';
  if (has('test', 'tests', 'spec', 'specs', 'unittest')) return 'test';
  if (has('lint', 'lints', 'linter', 'eslint', 'vet')) return 'lint';
  if (has('typecheck', 'types', 'tsc', 'mypy') || (has('type') && has('check'))) return 'types';
  if (has('check', 'checks')) return has('format', 'fmt', 'style') ? 'lint' : 'check';
  if (has('precommit', 'prepush') || (has('pre') && has('commit', 'push'))) return 'check';
  return has('build', 'compile', 'assemble') ? 'build' : undefined;
}

function partOf(rest: readonly string[]): Pick<CheckCommand, 'isWide' | 'names' | 'isSuite'> {
  if (isWide(rest)) return { isWide: true };
  const at = rest.findIndex((word) => NAME_OPTION.test(word));
  const [option = '', next = ''] = at === -1 ? [] : rest.slice(at, at + 2);
  const value = option.includes('=') ? option.slice(option.indexOf('=') + 1) : next;
  return {
    isWide: false,
    ...(at === -1 ? { isSuite: isWide(rest.filter((word) => !SUITE.test(word))) } : {}),
    ...(at === -1 ? {} : { names: value.startsWith('-') ? '' : value }),
  };
}

function isWide(rest: readonly string[]): boolean {
  return rest.every((word, index) => {
    if (PART_OPTION.test(word)) return false;
    if (word.startsWith('-') || RUN_WORD.test(word) || WHOLE.test(word)) return true;
    return VALUE_OPTION.test(rest[index - 1] ?? '');
  });
}

/** Lines in which a runner names the script, task or target that failed. */
const FAILED_SCRIPT =
  /^(?:error: )?script "([\w:.-]+)" exited with code|Lifecycle script `([\w:.-]+)` failed|^\[([\w:.-]+)\] ERROR task failed|\*\*\* \[(?:[^\]]*: )?([\w:.-]+)\] Error|^error: [Rr]ecipe `([\w:.-]+)` failed|\bERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\]?\s+\S+ ([\w:.-]+): /gm;

/** Undefined if the result names none of them. Of a chain with `&&`, the checks before these passed. */
export function failedChecks(
  checks: readonly CheckCommand[],
  args: Json,
  result: string,
): { readonly failed: readonly CheckCommand[]; readonly passed: readonly CheckCommand[] } | undefined {
  const names = new Set(
    [...result.slice(-MAX_RESULT_CHARS).matchAll(FAILED_SCRIPT)].flatMap((match) => match.slice(1).filter(Boolean)),
  );
  // A task `lint` of mise runs `lint:go`.
  const isNamed = (word: string): boolean => names.has(word) || [...names].some((name) => name.startsWith(`${word}:`));
  const failed = checks.filter(({ key }) => key.split(' ').some(isNamed));
  const [first] = failed;
  if (first === undefined) return undefined;
  const isChain = !/;|\|\||\n/.test(commandLineOf(args) ?? ';');
  return { failed, passed: isChain ? checks.slice(0, checks.indexOf(first)) : [] };
}

/** A line in which a hook of `git commit` shows a command that it runs: `$ bun test`, `[lint] $ eslint .`, and of lint-staged `[COMPLETED] eslint --fix`. */
const HOOK_COMMAND = /^(?:(?:\[[\w:-]+\] )?\$|\[(?:COMPLETED|FAILED)\]) (.+?)(?: \[FAILED\])?$/gm;
const NAMED_FOLDER = /\s(?:\.\/)?(?:src|packages|lib|apps?|tests|test\/)\/?(?=\s|$)/;
/** Lines of the program pre-commit. */
const HOOK_RESULT = /^.{3,}\.{3,}\s*(?:\([^)]*\))?(?:Passed|Failed)$/m;
const HOOK_FAILED = /(?:pre-commit|commit-msg) (?:script|hook) failed|hook (?:exited|declined)|\.{3,}Failed$/m;
export const COMMIT: RegExp = /\bgit (?:-\S+ \S+ )*commit\b/;
const COMMITTED =
  /^\[(detached HEAD|[^\s[\]~^:?*\\]+) (?:\([\w-]+\) )?[\da-f]{7,}\] ?(.*)(?:\n Author: .*)?(\n Date: .*)?/gm;

/** Returns the commits that git printed: the branch, the subject, and the author date if it is not the time of the commit. */
export function commitsIn(result: string): readonly RegExpExecArray[] {
  return [...result.matchAll(COMMITTED)];
}

interface ShownHooks {
  readonly failed: boolean;
  readonly checks: readonly CheckCommand[];
  /** If they failed: the check that failed, or was the last to begin. */
  readonly cause?: CheckCommand | undefined;
}

/** Returns what the hooks of a `git commit` showed. Undefined if no check is to be seen. */
export function hooksOf(args: Json, result: string): ShownHooks | undefined {
  if (!isCheckedCommit(args)) return undefined;
  const failed = HOOK_FAILED.test(result);
  const shown = [...result.slice(0, 100_000).matchAll(HOOK_COMMAND)].map(([text, hook = '']) => ({
    isFailure: text.startsWith('[FAILED]'),
    checks: checksIn(hook.slice(0, MAX_CHARS), '').flatMap((check) =>
      // Hooks may run less than the project's own check: in a recorded session 1,329 of its 1,465 tests.
      check.writes ? [] : Object.assign({}, check, NAMED_FOLDER.test(check.command) ? { isWide: false } : {}),
    ),
  }));
  const checks = shown.flatMap((hook) => hook.checks);
  if (!failed && checks.length === 0 && !HOOK_RESULT.test(result)) return undefined;
  const [cause] = (shown.find(({ isFailure }) => isFailure) ?? shown.at(-1))?.checks ?? [];
  return { failed, checks, cause };
}

export function isCheckedCommit(args: Json): boolean {
  const line = commandLineOf(args) ?? '';
  return COMMIT.test(line) && !/--no-verify\b|\bcommit (?:-\w+ )*-\w*n\w*\b|core\.hooksPath|HUSKY=0|SKIP=/.test(line);
}
