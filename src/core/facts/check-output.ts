import { type CheckCommand, checkCommandsOf, SYNTAX } from './check-command.ts';
import type { LastCheck } from './run-verdict.ts';

const FEW_CHARS = 1_000;
const MAX_CHARS = 20_000;

export type Voice = 'passed' | 'failed';

/** The build of an image, which shows its end only if it is not cut off there. */
const IMAGE = /^(?:docker|podman) /;

/** What well-known checks print when they fail, and when they pass. */
const VOICES: readonly (readonly [key: RegExp, failed: RegExp, passed?: RegExp])[] = [
  [
    /^go (?:build|vet)$/,
    /^(?:Exit code \d+\n)?(?:# .+\n|\s*\n)*(?:(?:vet(?:\.exe)?: )?\S+\.go:\d+:\d+: .*(?:\n(?=[#\s]).*)*(?:\n|$(?![^])))+$/,
  ],
  [/^go test$/, /^(?:--- )?FAIL\b|\[(?:build|setup) failed\]/m, /^ok\s+\S+\s/m],
  [
    /\b(?:pytest|py\.test)$/,
    /\b[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s\b|^(?:FAILED|ERROR) \S+\.py|^ERROR: (?!.* Imports are)|^E {2,}\S|\bno tests ran\b/m,
    /\b[1-9]\d* passed\b|^[.sx]+ +\[100%\]\s*$/m,
  ],
  [/^(?:vitest|jest)$/, /\b[1-9]\d* failed\b|\bno tests? found\b|^ ?FAIL\b/im, /\bTests:? +[1-9]\d* passed\b/],
  [/^cargo test$/, /\btest result: FAILED|^error(?:\[|:)/m, /\btest result: ok\b/],
  [/^black --check$/, /\bwould (?:be )?reformat|^error: cannot format/m, /\bwould be left unchanged/],
  [/^isort$/, /\bImports are incorrectly sorted/],
  [/^flake8$/, /^\S+:\d+:\d+: [A-Z]+\d+ /m],
  [/\bmypy$/, /^Found [1-9]\d* errors? in/m, /^Success: no issues found/m],
  [/^ruff(?: check)?$/, /^Found [1-9]\d* errors?/m, /^All checks passed!/m],
  [
    /^(?:biome (?:check|lint|ci|format)|ultracite (?:check|lint))$/,
    /^Found [1-9]\d* errors?\.|\bSome errors were emitted while\b/m,
    /^Checked [1-9]\d* files? in /m,
  ],
  [/^oxfmt --check$/, /^Format issues found/m, /^All matched files use the correct format/m],
  [/^prettier (?:--check|-c)$/, /^\[(?:warn|error)\] |\bCode style issues\b/m, /\bAll matched files use Prettier/],
  [/^(?:vue-)?tsc$/, /\berror TS\d/],
  [/^eslint$/, /^\W*[1-9]\d* problems?\b(?! \(0 errors)/m],
  [
    IMAGE,
    /\bfailed to (?:solve|build)\b|\bmoby\/buildkit\/|^(?:ERROR|Error response from daemon): |\bparse error\b/m,
    /\bnaming to \S+.* done\b|\bwriting image \S+ done\b|^Successfully (?:built|tagged) |^COMMIT /m,
  ],
  [
    SYNTAX,
    /\bSyntaxError\b|\bsyntax error\b|\bParse error\b|\b(?:Indentation|Tab)Error\b|\bunexpected (?:EOF|end of file)\b|\bhad compilation errors\b|\btest failed\b/i,
  ],
  [/^golangci-lint$/, /^(?!0)\d+ issues?\b|\blevel=error\b/m, /^0 issues\b/m],
];
/** Returns how the check ended according to words that are its own, whatever else the output holds. */
export function voiceOf(check: CheckCommand, result: string): Voice | undefined {
  const text = result.slice(-MAX_CHARS);
  const [, failed, passed] = voiceFor(check) ?? [];
  if (failed?.test(text) === true) return 'failed';
  return passed?.test(text) === true ? 'passed' : undefined;
}

/** Returns true for a check whose every failure shows in its output. Go may fail before it reads a file. */
export function hasVoice(check: CheckCommand): boolean {
  return voiceFor(check) !== undefined && !/^go (?:build|vet)\b/.test(check.key);
}

function voiceFor({ folder, key }: CheckCommand): (typeof VOICES)[number] | undefined {
  const ownKey = (folder === undefined ? key : key.slice(0, key.lastIndexOf(' in '))).replace(/ -tags .*/, '');
  return VOICES.find(([program]) => program.test(ownKey));
}

/**
 * Judges the checks of one line, whose result holds a failure, by what each of them prints.
 *
 * @param failed  the line ended with an error
 * @param told  the result without the words of the line itself
 *
 * Returns a state for each check, undefined if it did not begin, and the checks of which one failed.
 */
export function judgeEach(
  checks: readonly CheckCommand[],
  { failed, result, told }: { readonly failed: boolean; readonly result: string; readonly told: string },
): {
  readonly states: readonly (Voice | 'unseen' | undefined)[];
  readonly blamed: readonly CheckCommand[];
} {
  const voices = checks.map((check) => voiceOf(check, result));
  const spoke = voices.findLastIndex((voice) => voice !== undefined);
  const isOwn = ({ hiddenBy }: CheckCommand): boolean => hiddenBy === undefined;
  const hasFailed = voices.some(
    (voice, index) => voice === 'failed' && (!failed || checks[index]?.hiddenBy === undefined),
  );
  const lastFailed = checks.findLast((check, index) => isOwn(check) && voices[index] === 'failed');
  const blamed = checks.filter((check, index) => {
    if (!isOwn(check)) return false;
    // A chain ends with its failure, so that only checks that print the same can be meant.
    if (hasFailed)
      return voices[index] === 'failed' && lastFailed !== undefined && voiceFor(check) === voiceFor(lastFailed);
    return index > spoke && !hasVoice(check) && check.key !== 'gofmt -l';
  });
  const lastBlamed = checks.findLastIndex((check) => blamed.includes(check));
  const states = checks.map((check, index) => {
    const voice = voices[index];
    if (blamed.includes(check)) return 'failed';
    if (isOwn(check)) {
      if (voice !== undefined || index < spoke || !failed) return 'passed';
      return hasFailed || blamed.length > 0 ? undefined : 'unseen';
    }
    if (voice !== undefined) return voice === 'failed' && isOfScript(check, result) ? 'unseen' : voice;
    if (failed && lastBlamed !== -1 && index > lastBlamed) return undefined;
    if (check.key === 'gofmt -l') return 'passed';
    if (hasFailed || hasVoice(check)) return 'unseen';
    if (!failed) return 'passed';
    // Words of a failure may be those of the check that failed behind it.
    return lastBlamed === -1 && saysFailed(check, told) ? 'failed' : 'unseen';
  });
  return { states, blamed };
}

/** How runners name the files, or the tests in them, that failed, and count them. */
const FAILED_FILES: readonly (readonly [named: RegExp, counted: RegExp])[] = [
  [/^ ?FAIL +(?:\|[^|\n]+\| +)?(\S+\.\w+)(?= |$)/gm, /^ *Test (?:Files|Suites:) +(\d+) failed/gm],
  [
    /^(?:FAILED|ERROR) (\S+\.py(?:::\S+)?)(?= |$)/gm,
    /(?<=^[= ]*(?:\d+ [a-z]+, )*)(\d+) (?:failed|errors?)\b(?=.* in [\d.]+s)/gm,
  ],
];

/** Returns the files of tests that failed, unless the result names fewer than it counts. */
export function failedFilesIn(result: string): readonly string[] {
  const text = result.slice(-MAX_CHARS);
  for (const [named, counted] of FAILED_FILES) {
    const files = new Set(Array.from(text.matchAll(named), ([, file = '']) => file));
    const count = Array.from(text.matchAll(counted), ([, digits]) => Number(digits)).reduce((sum, one) => sum + one, 0);
    if (count > 0 && files.size === count) return [...files];
  }
  return [];
}

/** The commands of scripts, as bun, pnpm, mise, npm, Nx and hk print them. */
const SCRIPTS =
  /^(?:(?:\[[\w:./-]+\] )?\$ |> (?:\S+@\S+ |nx run )\S+.*\n+> |(?:\[\S+\] )? *[\w-]+ – \d+ files? – .*– )(.+)$/gm;

/** Returns what package managers print of the scripts that they ran, without what they print in part. */
export function scriptsIn(result: string): readonly string[] {
  return [...result.slice(0, MAX_CHARS).matchAll(SCRIPTS)].flatMap(([, script = '']) =>
    script.endsWith('…') ? [] : script,
  );
}

/** Returns the checks in the lines that make prints before it runs them. If one of them failed, it is the last one. */
export function echoedIn({ key }: CheckCommand, result: string): readonly CheckCommand[] {
  if (!/^g?make\b/.test(key)) return [];
  const lines = result.slice(0, MAX_CHARS).split('\n');
  return lines.flatMap((command) => (ECHOED.test(command) ? checkCommandsOf({ command }) : []));
}

const ECHOED = /^(?:[A-Z_]+=\S* )*[a-z][\w./-]*(?: |$)/;

/** Returns the check in the script that pnpm names as the one that failed. */
export function failedScriptIn(result: string): CheckCommand | undefined {
  const [, command = ''] = PNPM_FAILED.exec(result.slice(-FEW_CHARS)) ?? [];
  return checkCommandsOf({ command }).at(-1);
}

const PNPM_FAILED = /\bERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\]?\s+\S+ [\w:.-]+: `(.+)`$/m;

/** Returns true if the words of a check may be those of a script that the same line ran. */
function isOfScript(check: CheckCommand, result: string): boolean {
  return scriptsIn(result)
    .flatMap((command) => checkCommandsOf({ command }))
    .some((part) => voiceFor(part) === voiceFor(check));
}

/** Checks that print nothing if they find nothing. After a pipe, nothing from another one says nothing. */
const QUIET = /(?:^| )(?:(?:vue-)?tsc|tsgo|eslint|flake8|gofmt|go (?:build|vet)|shellcheck|actionlint|stylelint)\b/;
/** Programs that show the end of what they read, or leave it. */
const SHOWS_END = /^(?:tail|tee|cat|echo|printf|true|:)$/;
export const SAYS_PASSED: RegExp =
  /(?<![\d.,])[1-9]\d* pass(?:ed|ing)?\b|^\W{0,3}pass [1-9]\d*$|\b(?:100%|all)(?: \d+)? tests (?:passed|successful)\b|\bpassed!|\btests passed: [1-9]|\btest result: ok\b|^OK(?: \(|$)|^ok\s+\S+\s|^[\w-]+: PASS(?:ED)?$|\bAll matched files use\b|\b0 (?:errors|failures|problems|issues|warnings)\b|\bno (?:errors|issues|problems)\b|\bbuil[dt] (?:in|succe)|\bcompiled successfully\b|^\s*Finished `?[\w-]+`? (?:profile|target|\[)|^[.sx]+ +\[100%\]\s*(?![^])/im;

/** Programs behind the check that leave out lines of its output. */
export function hidersOf({ hiddenBy = [] }: Pick<CheckCommand, 'hiddenBy'>): readonly string[] {
  return hiddenBy.filter((program) => !SHOWS_END.test(program));
}

/**
 * Returns true if a pipe hides how the check ended, and what is left of its output does not say it. The end of the output of tests says
 * whether they passed; the errors of a linter and of a compiler are its first lines, so `head` shows them.
 */
export function isEndHidden(check: CheckCommand, result: string): boolean {
  const { key, hiddenBy = [], purpose } = check;
  if (IMAGE.test(key) && hiddenBy.length > 0) return voiceOf(check, result) !== 'passed';
  const hiding = hidersOf({ hiddenBy });
  // Go names each package that failed, and a filter of other lines leaves it.
  if (/^go test\b/.test(key) && hiding.length > 0 && hiding.every((program) => program === 'grep -v')) return false;
  if (hiddenBy.length > 0 && result.trim() === '' && !QUIET.test(key)) return true;
  const isScript = /\.[a-z]+$/.test(key);
  const saysHow = purpose === 'test' || purpose === 'integration' || purpose === 'task' || isScript || DART.test(key);
  if (saysHow && hiddenBy.length > 0) return !SAYS_PASSED.test(result.slice(-MAX_CHARS));
  if (hiding.length === 0) return false;
  if ((purpose === 'types' || purpose === 'lint') && hiding.every((program) => program === 'head')) return false;
  return !SAYS_PASSED.test(result.slice(-MAX_CHARS));
}

export const SAYS_FAILED: RegExp =
  /\berror TS\d|^error(?:\[E\d+\]|: (?:could not compile|aborting))|\bFailed to compile\b|\berror during build\b|^npm (?:ERR!|error)|\*\*\* .*\bError \d|\bELIFECYCLE\b|^\W*(?:found )?[1-9]\d* (?:errors?|problems?(?! \(0 errors)|issues?)\b(?! fixed)|(?<![\d.,])[1-9]\d* (?:failed|failing|failures?)\b|^\W{0,3}fail [1-9]\d*$|^✖ failing tests|\b(?:fail(?:ed|ures?)?|errors): *[1-9]|(?<!\b(?:0|no) )\b(?:tests?|checks?|validation) failed\b|^not ok\b|^(?:--- )?FAIL(?:ED)?\b(?! to\b|\W*0\b)|\b(?:test result:|BUILD) FAILED\b/im;

/** Exits with 0 if it found notes only, and counts them as issues. */
const DART = /^(?:dart|flutter) analyze$/;
const DART_FAILED = /^\s*(?:error|warning)\b/m;

/** What programs that run targets say of one that failed. Words of a failure in the output of a task's command may be of anything. */
const RUNS_TARGETS = /^(?:g?make|just|task|mise|npm|pnpm|yarn|bun|cargo|gradlew?|mvnw?) /;
const TARGET_FAILED =
  /^g?make: \*\*\* (?!.*\(ignored\))|^error: [Rr]ecipe `|^task: Failed to run task|^\[[\w:.-]+\] ERROR task failed|^npm (?:ERR!|error) |\bELIFECYCLE\b|^error: (?:script "|could not compile)|^BUILD FAILED\b|^\[ERROR\] Failed to execute goal/m;

/** Returns true if a pipe hides the exit code of a check whose output counts errors or failures. */
export function saysFailed(check: CheckCommand, result: string): boolean {
  const { key, hiddenBy = [], purpose } = check;
  if (hiddenBy.length === 0 || key === 'gofmt -l') return false;
  if (purpose === 'task') return RUNS_TARGETS.test(key) && TARGET_FAILED.test(result.slice(-MAX_CHARS));
  // The words of another check of the line are not its own.
  if (voiceFor(check) !== undefined) return voiceOf(check, result) === 'failed';
  return (DART.test(key) ? DART_FAILED : SAYS_FAILED).test(result.slice(-MAX_CHARS));
}

/** `gofmt -l` exits with 0 and prints the files whose format is wrong. */
export function listsFiles({ command, key }: CheckCommand, result: string): boolean {
  return key === 'gofmt -l' && !/\s-\w*w/.test(command) && /^\S+\.go$/m.test(result.slice(0, MAX_CHARS));
}

const NOTHING_RAN =
  /\bno tests? (?:found|ran|to run|executed|collected|were (?:found|run|executed))\b|\bno (?:test files|specs found|test suites? found)\b|\bcollected 0 items\b|(?<![\d.,])0 (?:tests?\b(?! failed)|passing\b|examples\b)|^# tests 0$|\bTests:\s+0 total/im;
/** A result in which at least one test ran. A package of Go without tests stands among others. */
const SOMETHING_RAN =
  /(?<![\d.,])[1-9]\d* (?:tests?\b(?! skipped)|pass(?:ed|ing)?\b|examples\b|specs\b)|\bTests?:?\s+(?:run:\s+)?[1-9]|^# pass [1-9]|^ok\s+\S+\s(?!.*\[no tests? )|^\s*--- PASS|^\s*[✓✔]/m;

export function saysNothingRan({ purpose }: CheckCommand, result: string): boolean {
  if (purpose !== 'test' && purpose !== 'integration') return false;
  const text = result.slice(-MAX_CHARS);
  return NOTHING_RAN.test(text) && !SOMETHING_RAN.test(text);
}

/** Returns true for a linter or runner that found no file of those that it was to read. It fails for that. */
export function saysNoFiles(result: string): boolean {
  return NO_FILES.test(result.slice(-MAX_CHARS));
}

const NO_FILES =
  /\bNo files were processed in the specified paths\b|^No test files found, exiting with code 1$|^None of the selected packages has an? "|^No projects matched the filters\b/m;

/** Words of the last error of a check that its machine is to blame for. The first that occurs counts. */
const LACKS: readonly (readonly [NonNullable<LastCheck['lacks']>, RegExp])[] = [
  ['browser', /\bExecutable doesn't exist at \S*(?:chrom|firefox|webkit|ms-playwright)/],
  ['docker', /\bCannot connect to the Docker daemon\b/],
  [
    'database',
    /\bECONNREFUSED\b[^]{0,400}(?::|port: )(?:3306|5432|6379|27017)\b|:(?:3306|5432|6379|27017)\): connection refused\b|\bcould not connect to server: Connection refused|\bconnection to server (?:at|on) [^\n]{1,100} failed: |\bCan't reach database server at\b/,
  ],
  [
    'network',
    /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|\bCould not resolve host\b|\bTemporary failure in name resolution\b/,
  ],
  ['server', /\bECONNREFUSED\b|\bConnection refused\b/],
  [
    'variable',
    /^\W{0,3}(?:\w*Error: )?(?:(?:Missing|Required) (?:required )?environment variables?\b|(?:The )?(?:environment variable )?[A-Z][A-Z\d]*_[A-Z\d_]+ (?:environment variable )?is (?:not set|required|missing)\b)/m,
  ],
  ['permission', /\bEPERM: operation not permitted\b|: operation not permitted$/m],
];
const COUNTS_FAILURES = /(?<![\d.,])[1-9]\d* (?:failed|failing|failures?|errors?|problems?|issues?)\b|\berror TS\d/;

/** Returns what the machine of a failed check lacked, if that is the last thing that its output says, and no test failed beside it. */
export function lackOf(result: string): LastCheck['lacks'] {
  const text = result.slice(-FEW_CHARS);
  const [lack, words] = LACKS.find(([, pattern]) => pattern.test(text)) ?? [];
  if (words === undefined) return undefined;
  const after = text.slice(text.search(words));
  const isLast = !/^\s*(?:[✔✓]|ok\b)|\bpass(?:ed|ing)?\b/m.test(after);
  return isLast && (lack === 'browser' || !COUNTS_FAILURES.test(result.slice(-MAX_CHARS))) ? lack : undefined;
}

/** Returns true if the shell, or Python, did not find a program or module that the check names. */
export function isNotInstalled({ command, key }: CheckCommand, result: string): boolean {
  const name = NOT_INSTALLED.exec(result.slice(0, FEW_CHARS))
    ?.slice(1)
    .find((found) => found !== undefined);
  return name !== undefined && [key, command, ...scriptsIn(result)].join(' ').split(/[ /]/).includes(name);
}

const NOT_INSTALLED =
  /\bcommand not found: ([\w.+-]+)|(?<![\w./-])(?!\d+:)([\w.+-]+)['"`]?:? (?:command not found|not found$|could not be found|is not recognized as)|\bNo module named '?([\w-]+)|\bFailed to spawn: [`']?([\w.-]+)|to get access to the TypeScript compiler, (tsc),/im;

/** What a shell or a package manager says before it begins a command or script, and the line with which it begins one. */
const ABORTED_BEFORE =
  /^(?:zsh|bash|sh)(?::\d+)?: no matches found: |^(?:\S+: )?(?:line \d+: )?cd:(?:\d+:)? [^\n]*[Nn]o such file or directory[^\n]*\s*$(?![^])|\bERR_PNPM_(?!RECURSIVE_(?:RUN|EXEC)_FIRST_FAIL)[A-Z_]+|^npm (?:ERR!|error) (?:Missing script: |code (?:EBADENGINE|EBADDEVENGINES|EJSONPARSE|ENOENT))|\b(?:cannot find|does not contain) main module\b|\bcontext loading failed: no go files to analyze\b|^stat \S+: directory not found$|^error: Script not found |^error The engine "\w+" is incompatible|defines "packageManager": "|^(?:Usage|Internal) Error: .*(?:lockfile|project)/m;
const BEGUN = /^(?:> \S+@\S+ |> |\$ |\S+ \S+\$ )/m;

/** @param before  the line up to the check: if all lines are of a program that it names before `&&`, that one failed */
export function neverBegan(result: string, before = ''): boolean {
  const text = result.slice(0, FEW_CHARS);
  const [, program] = /(?:^|[;&]\s*)([\w.-]+)(?: [^;&|]*)?&&\s*$/.exec(before) ?? [];
  const lines = text
    .replace(/^Exit code \d+\n/, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const isOwn = (line: string): boolean =>
    line.replace(/^(?:\/\S+\/)?(?:ba|z)?sh: (?:line \d+: )?/, '').startsWith(`${program}: `);
  if (program !== undefined && lines.length > 0 && lines.every(isOwn)) return true;
  const at = text.search(ABORTED_BEFORE);
  return at >= 0 && !BEGUN.test(text.slice(0, at));
}
