import { isJsonObject, type Json, present, textOrUndefined } from '../base/json.ts';
import { LruMap } from '../base/lru-map.ts';
import { withoutTerminalSequences } from '../base/printable.ts';
import {
  checkCommandsOf,
  commandLineOf,
  commitsIn,
  failedChecks,
  hooksOf,
  isCheckedCommit,
  type CheckCommand,
} from './check-command.ts';
import {
  echoedIn,
  failedFilesIn,
  failedScriptIn,
  hasVoice,
  hidersOf,
  isEndHidden,
  isNotInstalled,
  judgeEach,
  lackOf,
  listsFiles,
  neverBegan,
  SAYS_FAILED,
  SAYS_PASSED,
  saysFailed,
  saysNoFiles,
  saysNothingRan,
  scriptsIn,
  voiceOf,
} from './check-output.ts';
import {
  covers,
  folderAfter,
  isMore,
  isOfFolder,
  isSamePlace,
  namesFile,
  namesOthers,
  selectsOthers,
} from './check-coverage.ts';
import { failureLine } from './failure-line.ts';
import { failureIn, type RunCall } from './run-call.ts';
import { exitCodeIn, idIn, isAskedFor, isCell, isNotWritten, isRunning, openIdIn } from './background-output.ts';
import { isUnknown, type LastCheck, type UnknownResult } from './run-verdict.ts';

const MAX_CHECKS = 16;

/** A command that is wrong itself, such as an unknown script. It says nothing about the project. */
const WRONG_COMMAND =
  /command not found|\bFailed to spawn: |unrecognized (?:subcommand|option|argument)|unknown (?:command|option|argument|script|flag)|missing script|script not found|no such (?:task|target|script)|no rule to make target|Command "[^"]+" not found|has an? "[^"]+" script|could not be found in this|no module named|can't find a root directory|go\.mod file not found|no (?:matching )?tests? (?:found|to run)|is not expected in this context|lstat \S+: no such file or directory|no task named|could not determine executable|is not recognized as|not a (?:known|valid) (?:command|task)|sibling tool call errored|error: unexpected argument|to get access to the TypeScript compiler|cannot write multiple packages to/i;

/** A commit that fails although its hooks passed: there is nothing to commit, or it cannot be signed or written. */
const NOT_BY_HOOKS =
  /nothing (?:added )?to commit|no changes added to commit|working tree clean|failed to (?:sign the data|write commit object)|unable to auto-detect email address/;

const HOOKS: CheckCommand = { key: 'git commit', command: 'the hooks of git commit', purpose: 'hooks', isWide: true };

/** The hooks passed, and git made no commit. */
const HOOKS_ALONE: CheckCommand = { ...HOOKS, command: `${HOOKS.command} (nothing was committed)` };

/** What a host says of a command that it ended for its time, or that a signal ended. */
const TIMED_OUT = /\bcommand timed out after \d|^failed in sandbox\b.*\bcommand (?:timed out|was killed by a signal)/i;
/** The same of opencode, at the end. */
const TERMINATED = /<bash_metadata>\s*bash tool terminated command after exceeding timeout\b/;
/** What Serena gives instead of a long output. */
const WITHHELD = /^\W*(?:result\W+)?The answer is too long \(\d+ characters\)/;
const MAX_BACKGROUND = 16;
/** Claude Code: `<task-id>b1x</task-id> … <summary>Background command "Run the tests" failed with exit code 1</summary>`. */
const NOTICE = /<task-id>([\w-]+)<[^]*?<summary>[^<]*\bexit code (\d+)/;

interface SeenCheck extends LastCheck {
  readonly check: CheckCommand;
  readonly line?: string | undefined;
  /** The command of its script, as its runner prints it: `$ bun test src/`. */
  readonly runs?: string | undefined;
  /** The last check that its script ran, if its words say that it failed. */
  readonly cause?: CheckCommand | undefined;
  /** The files of tests that failed in it, if all of them are known, without those that passed later. */
  readonly left?: Set<string>;
  readonly isWrong: boolean;
}

/**
 * A failed check passed later if the same check passed, or one of the same purpose for the whole project. A command
 * that was wrong itself goes as soon as another of its purpose passes. Memory: 16 checks.
 */
export class CheckLedger {
  readonly #checks = new LruMap<SeenCheck>(MAX_CHECKS);
  readonly #background = new LruMap<{ readonly call: RunCall; readonly checks: readonly CheckCommand[] }>(
    MAX_BACKGROUND,
  );

  /** The first folder in which a check is known to have run, by its key. */
  readonly #homes = new LruMap<string>(MAX_CHECKS);

  /** @param task  the task of the run: a command that it names is a check */
  fold(ended: RunCall, coloured: string, task: string | undefined): void {
    const result = withoutTerminalSequences(coloured);
    const found = this.#inFolder(checksOf(ended.args, task), ended.args);
    // Words of a failure may be those that the tests expect.
    const isExpected =
      ended.errorLine !== undefined && found.length > 0 && found.every((check) => voiceOf(check, result) === 'passed');
    const call = isExpected ? withoutErrorLine(ended) : ended;
    const failed = hasFailed(call);
    if (call.outcome !== undefined) {
      this.#noteUnknown(found, call.number, 'isRefused');
      return;
    }
    const id = failed || found.length === 0 ? undefined : idIn(result);
    if (id !== undefined) {
      this.#background.set(id, { call, checks: found });
      this.#noteUnknown(found, call.number, 'isHidden');
      return;
    }
    if (this.#foldBackground(call, result)) return;
    if (
      (failed && TIMED_OUT.test(result.slice(0, 500))) ||
      TERMINATED.test(result.slice(-300)) ||
      WITHHELD.test(result)
    ) {
      this.#noteUnknown(found, call.number, 'isHidden');
      return;
    }
    this.#foldChecks(call, result, found);
    this.#foldHooks(call, result);
  }

  #foldChecks(call: RunCall, result: string, found: readonly CheckCommand[]): void {
    // A check of the syntax says itself that it failed: words of an error may be those of a file that was shown.
    const isOfOthers = found.every((check) => check.purpose === 'syntax' && voiceOf(check, result) !== 'failed');
    const failed = hasFailed(call) && (call.failed || !isOfOthers);
    // If several commands failed as one call, a check of the project is the likelier cause.
    const checks =
      failed && found.some(({ purpose }) => purpose !== 'task')
        ? found.filter(({ purpose }) => purpose !== 'task')
        : found;
    const line = commandLineOf(call.args) ?? '';
    const soundsPassed = failed && checks.length > 0 && SAYS_PASSED.test(result) && !SAYS_FAILED.test(result);
    // The exit code is that of a later command, such as `git stash pop`.
    if (soundsPassed && endsWithoutCheck(line, ';')) {
      for (const check of checks) this.#note(check, call, false, result);
      return;
    }
    const only = checks.length === 1 ? checks[0] : undefined;
    const named = failed && checks.length > 1 ? failedChecks(checks, call.args, result) : undefined;
    // It may be that of a push after the check, or of a limit of the check that its words do not show.
    const isOfOther =
      failed &&
      only !== undefined &&
      ((soundsPassed && endsWithoutCheck(line, '&&')) || (isCodeOfOther(only, call) && !showsFailure(only, result)));
    // One exit code stands for several commands.
    if (isOfOther || (failed && named === undefined && checks.length > 1 && scriptOf(call.args) !== undefined)) {
      this.#noteUnknown(checks, call.number, 'isHidden');
      return;
    }
    for (const check of named?.passed ?? []) this.#note(check, call, false, '');
    const told = failed || checks.length === 0 ? result : withoutOwnWords(result, call);
    const isLost =
      !failed &&
      ENDS_IN_SEARCH.test(line) &&
      checks.some((check) => check.hiddenBy === undefined && voiceOf(check, told) === 'failed');
    if (isLost || (failed && named === undefined && isOfSeveral(checks, call))) {
      this.#noteEach(checks, call, result);
      return;
    }
    if (!failed && this.#foldShared(checks, call, told)) return;
    const exitCode = failed || only === undefined ? undefined : printedExitCode(call.args, result);
    if (only === undefined || exitCode === undefined) {
      for (const check of named?.failed ?? checks) this.#note(check, call, failed, told);
      return;
    }
    const { hiddenBy: _hiddenBy, ...seen } = only;
    if (exitCode === 0 || isLastBeforeEcho(only, call.args)) this.#note(seen, call, exitCode !== 0, told);
    else this.#noteUnknown(checks, call.number, 'isHidden');
  }

  /** Returns true if words of a failure may be those of several checks, each behind a pipe. */
  #foldShared(checks: readonly CheckCommand[], call: RunCall, told: string): boolean {
    const suspects = checks.filter((check) => !hasVoice(check) && saysFailed(check, told));
    if (suspects.length < 2) return false;
    const blamed = failedChecks(suspects, call.args, told)?.failed ?? suspects;
    const chain = blamed.map(({ command }) => command).join(' && ');
    for (const check of checks)
      if (blamed.includes(check)) this.#note({ ...check, chain }, call, true, told);
      else if (suspects.includes(check)) this.#noteUnknown([check], call.number, 'isHidden');
      else this.#note(check, call, false, told);
    return true;
  }

  #foldHooks(call: RunCall, result: string): void {
    const failed = hasFailed(call);
    const hooks = hooksOf(call.args, result);
    if (hooks === undefined) {
      const isRetry = this.#checks.get(`hooks ${HOOKS.key}`) !== undefined && !failed && isCheckedCommit(call.args);
      if (isRetry) this.#note(HOOKS, call, false, '');
      return;
    }
    const isRefused = failed && !NOT_BY_HOOKS.test(result);
    if (!hooks.failed && !failed) for (const check of hooks.checks) this.#note(check, call, false, '');
    const check = NOT_BY_HOOKS.test(result) && commitsIn(result).length === 0 ? HOOKS_ALONE : HOOKS;
    this.#note(check, call, hooks.failed || isRefused, '', hooks.cause);
  }

  #noteEach(checks: readonly CheckCommand[], call: RunCall, result: string): void {
    const told = withoutOwnWords(result, call);
    const { blamed, states } = judgeEach(checks, { failed: call.failed, result: call.failed ? result : told, told });
    const chain = blamed.length > 1 ? { chain: blamed.map(({ command }) => command).join(' && ') } : {};
    for (const [index, check] of checks.entries()) {
      const state = states[index];
      if (state === 'failed') this.#note(blamed.includes(check) ? { ...check, ...chain } : check, call, true, result);
      else if (state === 'passed') this.#note(check, call, false, check.hiddenBy === undefined ? result : told);
      else if (state === 'unseen')
        this.#noteUnknown([check], call.number, whyNotRun(isNotInstalled(check, result), result) ?? 'isHidden');
    }
  }

  /** A check of another project is another check, and so is one of another folder than the first one that the check names. */
  #inFolder(checks: readonly CheckCommand[], args: Json): readonly CheckCommand[] {
    if (checks.length === 0) return checks;
    const workdir = isJsonObject(args) ? textOrUndefined(args['workdir']) : undefined;
    const line = oneLineOf({ args });
    let from = 0;
    return checks.map((check) => {
      from = Math.max(from, line.indexOf(check.command, from + 1));
      const place = folderAfter(line.slice(0, from), workdir);
      if (place === undefined) return check;
      const home = this.#homes.get(check.key) ?? place;
      this.#homes.set(check.key, home);
      const placed = Object.assign({}, check, { place });
      const folder = place.slice(place.lastIndexOf('/') + 1);
      if (isSamePlace(place, home)) return placed;
      return Object.assign(placed, {
        folder,
        key: `${check.key} in ${folder}`,
        command: `${check.command} in ${folder}`,
      });
    });
  }

  /** Returns true if the call asks for the output of a check in the background. */
  #foldBackground(call: RunCall, result: string): boolean {
    for (const [id, { call: started, checks }] of this.#background.entries()) {
      if (!isAskedFor(call.args, id)) continue;
      if (isNotWritten(result)) return true;
      const next = openIdIn(result);
      if (next !== undefined) this.#background.set(next, { call: started, checks });
      if (next !== undefined || isRunning(result)) return true;
      const exitCode = exitCodeIn(result);
      // A command that prints the output fails for itself.
      const isAnswer = commandLineOf(call.args) === undefined;
      const isError = (isAnswer && call.failed) || (exitCode !== undefined && exitCode !== '0');
      const isKnown = exitCode !== undefined || scriptOf(call.args) !== undefined || isCell(id);
      if (isError && isInterrupt(call.args)) {
        this.#background.delete(id);
        this.#noteUnknown(checks, started.number, 'isRefused');
        return true;
      }
      const hasEnded = isKnown && checks.every(({ hiddenBy }) => hiddenBy === undefined);
      const failed = hasEnded ? isError : failureIn(started, result, isError) !== undefined;
      const told = failed ? result : withoutOwnWords(result, started);
      if (!failed && !isKnown && !SAYS_PASSED.test(told)) return true;
      // A session and its cells are one command.
      for (const [one, { call: begun }] of this.#background.entries())
        if (begun === started) this.#background.delete(one);
      for (const check of checks) this.#note(check, started, failed, told);
      return true;
    }
    return false;
  }

  /** A message of the host says how a command in the background ended, not what it printed. */
  foldNotice(text: string): void {
    for (const notice of text.split('<task-notification>').slice(1)) {
      const [, id = '', exitCode] = NOTICE.exec(notice.slice(0, FEW_CHARS)) ?? [];
      const { call, checks = [] } = this.#background.get(id) ?? {};
      if (call === undefined || exitCode === undefined) continue;
      const failed = exitCode !== '0';
      for (const check of checks) if (failed || check.hiddenBy === undefined) this.#note(check, call, failed, '');
    }
  }

  get checks(): readonly LastCheck[] {
    const all = this.#checks
      .entries()
      .map(
        ([, { check: _check, isWrong: _isWrong, runs: _runs, cause: _cause, left: _left, line: _line, ...last }]) =>
          last,
      );
    // A chain of which one failed stands there for each of them.
    return all.filter(
      (last, index) => all.findIndex((one) => one.command === last.command && one.number === last.number) === index,
    );
  }

  #noteUnknown(checks: readonly CheckCommand[], number: number, why: UnknownResult): void {
    for (const check of checks) {
      const key = `${check.purpose} ${check.key}`;
      const known = this.#checks.get(key);
      // It ran in another form, so that the wrong one says nothing any more.
      const isRightNow = why === 'isHidden' && known?.isWrong === true && known.failed && known.number < number;
      if (check.writes === true || (known !== undefined && !isRightNow && !isUnknown(known))) continue;
      const result = { number, failed: false, [why]: true, ...kindOf(check) };
      this.#checks.set(key, { command: check.command, ...result, check, isWrong: true });
    }
  }

  /** @param shown  the check that failed, of those that the hooks showed */
  #note(check: CheckCommand, call: RunCall, isFailure: boolean, result: string, shown?: CheckCommand): void {
    const { number } = call;
    const line = commandLineOf(call.args);
    if (check.writes === true) {
      if (!isFailure)
        for (const [key, { check: other, failed }] of this.#checks.entries())
          if (failed && other.key.startsWith(check.key)) this.#checks.delete(key);
      return;
    }
    const { hiddenBy = [] } = check;
    // One result stands for what was found before and after the files were written.
    const isTwice = (line ?? '').split(check.command).length > 2 && listsFiles(check, result);
    const ranNothing =
      saysNoFiles(result) || (!isFailure && hidersOf(check).length === 0 && saysNothingRan(check, result));
    // Its errors were not shown, so that those in the result are of others.
    const isOfOthers = !isFailure && check.purpose === 'build' && hiddenBy.length > 0 && NO_ERRORS.test(check.command);
    if (ranNothing || isOfOthers || isTwice) {
      this.#noteUnknown([check], number, ranNothing ? 'ranNothing' : 'isHidden');
      return;
    }
    // A short result behind a pipe is all that the check printed.
    const isAll = hiddenBy.length > 0 && result.length <= FEW_CHARS;
    const mayBeWrong = isFailure || (isAll && !SAYS_PASSED.test(result));
    const isWrong = mayBeWrong && WRONG_COMMAND.test(result.slice(0, 20_000));
    const failed = isFailure || isWrong || listsFiles(check, result) || saysFailed(check, result);
    const ownKey = `${check.purpose} ${check.key}`;
    const before = this.#checks.get(ownKey);
    // The check ran again before this output of its background run came.
    if (before !== undefined && !isUnknown(before) && before.number > number) return;
    const notRun = failed
      ? whyNotRun(isWrong && isNotInstalled(check, result), result, oneLineOf(call).split(check.command, 1)[0])
      : undefined;
    if (notRun !== undefined) {
      this.#noteUnknown([check], number, notRun);
      return;
    }
    if (!failed && isEndHidden(check, result)) {
      // The same line showed a failure before, and shows none any more.
      if (before?.failed === true && before.line === line) this.#checks.delete(ownKey);
      // Nothing says that the branch ran at all.
      if (!hiddenBy.includes('if')) this.#noteUnknown([check], number, 'isHidden');
      return;
    }
    // A part of a check stands beside that of more, such as the whole project, and beside a failed one of other files.
    const standsBeside =
      before !== undefined &&
      !check.isWide &&
      ((isMore(before.check, check) && (!failed || before.failed) && !before.isWrong) ||
        (before.failed &&
          (namesOthers(check.command, before.command) || (!failed && selectsOthers(check, before.check)))));
    // Of the parts that passed after the whole project, the last one stands for all.
    const part = before?.failed === true ? check.command : '';
    const key = standsBeside ? `${ownKey}\n${part}` : ownKey;
    const fixed = failed ? 0 : Number(FIXED.exec(result)?.[1] ?? 0);
    const why = failed ? present({ lacks: lackOf(result), error: failureLine(result) }) : {};
    const known = { ...why, ...(fixed === 0 ? {} : { fixed }), ...kindOf(check) };
    const last = { command: check.chain ?? check.command, number, failed, ...known };
    const scripts = scriptsIn(result);
    const echoed = echoedIn(check, result);
    const runs = echoed.length > 0 ? undefined : (scripts[0] ?? before?.runs);
    const shownParts = (): readonly CheckCommand[] => [
      ...scripts.flatMap((command) => checkCommandsOf({ command })),
      ...echoed,
    ];
    const parts = check.folder === undefined ? shownParts() : [];
    const end = parts.at(-1);
    // A script stops at its first failure, so its earlier commands passed.
    const cause =
      failedScriptIn(result) ??
      (end !== undefined && (echoed.length > 0 || voiceOf(end, result) === 'failed') ? end : shown);
    const left = new Set(failed ? failedFilesIn(result) : []);
    this.#checks.set(key, { ...last, check, isWrong, line, runs, cause, left });
    // If a script passed, so did the commands that it ran.
    const passed = failed ? [] : [check, ...parts];
    // A script that shows what it runs says nothing of other programs.
    const passedFor = ({ program }: CheckCommand): readonly CheckCommand[] =>
      program !== undefined && !failed && parts.length > 0 ? parts : passed;
    for (const [otherKey, other] of this.#checks.entries()) {
      if (otherKey === key) continue;
      const isPart = (!failed || other.failed) && isMore(check, other.check) && otherKey.startsWith(`${ownKey}\n`);
      const isReplaced =
        other.isWrong &&
        isOfFolder(check, other.check) &&
        passed.some(({ purpose }) => purpose === other.check.purpose);
      const ranToo = passed.length > 0 && (other.runs === check.command || scripts.includes(other.runs ?? ''));
      const failure = other.cause ?? other.check;
      const isMadeUpFor = other.failed && (ranToo || passedFor(failure).some((one) => covers(one, failure)));
      const isLeft = passed.some((one) => ranLast(one, other));
      if (isReplaced || isPart || isMadeUpFor || isLeft) this.#checks.delete(otherKey);
    }
  }
}

/** Returns true if the check ran the last files that had failed in the other one. */
function ranLast(check: CheckCommand, { check: other, left = new Set() }: SeenCheck): boolean {
  const runsTests = [check, other].every(({ purpose }) => purpose === 'test' || purpose === 'integration');
  const isSame = runsTests || check.purpose === other.purpose;
  if (left.size === 0 || !isSame || !isOfFolder(check, other)) return false;
  for (const file of left) if (namesFile(check, file)) left.delete(file);
  return left.size === 0;
}

/** What Biome says of the files that it changed. */
const FIXED = /\bFixed (\d{1,6}) files?\b/;
const FEW_CHARS = 1_000;

/** Returns true for Ctrl-C, with which the agent stops a command. */
function isInterrupt(args: Json): boolean {
  return isJsonObject(args) && textOrUndefined(args['chars'])?.includes('\u0003') === true;
}

function whyNotRun(isMissing: boolean, result: string, before?: string): UnknownResult | undefined {
  if (isMissing) return 'couldNotRun';
  return neverBegan(result, before) ? 'neverBegan' : undefined;
}

/** The script of Codex' code mode that ran the commands. */
function scriptOf(args: Json): string | undefined {
  return isJsonObject(args) ? textOrUndefined(args['script']) : undefined;
}

function kindOf({ purpose }: CheckCommand): { readonly isSyntax?: true } {
  return purpose === 'syntax' ? { isSyntax: true } : {};
}

/** A script that prints no exit code shows the end of the output, as `tail` does. */
function checksOf(args: Json, task: string | undefined): readonly CheckCommand[] {
  const all = checkCommandsOf(args, task);
  // Beside another check, one of the syntax only leads to it.
  const others = all.filter(({ purpose }) => purpose !== 'syntax');
  const checks = others.length === 0 ? all : others;
  const hidesExitCode = !/stringify|exit/.test(scriptOf(args) ?? 'exit');
  // PowerShell keeps the result of `$r = Invoke-Pester` in the variable.
  return checks.map((check) =>
    hidesExitCode || check.command.startsWith('$') ? Object.assign({ hiddenBy: ['tail'] }, check) : check,
  );
}

/** Exit code 1 of a search is an answer, so that a host flags no error for the whole line. */
const ENDS_IN_SEARCH = /\|\s*(?:[ef]?grep|rg|findstr|Select-String)\b[^|;&\n]*$/;
const LEADING_CD = /^ ?(?:cd|export|source) [^;&|]*&& /;

/** Returns true if another command of the line may be the one that failed. */
function isOfSeveral(checks: readonly CheckCommand[], { args, failed }: RunCall): boolean {
  if (checks.length > 1) return true;
  const [check] = checks;
  if (check === undefined || !failed) return false;
  const line = oneLineOf({ args }).replace(LEADING_CD, '');
  return (hasVoice(check) || check.hiddenBy !== undefined) && line.slice(0, line.indexOf(check.command)).includes('&&');
}

/** Commands at the end of a line that do not fail. */
const SAYS_ONLY = /&&\s*(?:echo|printf|true|pwd|date)\b[^&|;\n]*$/;
const NO_ERRORS = /2> ?\/dev\/null/;

/** Returns true if the exit code may be that of a command behind the check, such as a program that reads its output. */
function isCodeOfOther(check: CheckCommand, { args, failed }: RunCall): boolean {
  // An error that the text shows is no exit code, unless the errors of the check were not shown.
  if (!failed && !NO_ERRORS.test(check.command)) return false;
  return check.hiddenBy !== undefined || endsWithoutCheck((commandLineOf(args) ?? '').replace(SAYS_ONLY, ''), '&&');
}

/** Returns true if the result has words of a failure of the check, or of a command that is wrong. A task's command has none of its own. */
function showsFailure(check: CheckCommand, result: string): boolean {
  if (check.purpose === 'task') return false;
  if (voiceOf(check, result) === 'failed') return true;
  if (/^go (?:build|vet)\b/.test(check.key)) return /^go: /m.test(result);
  return SAYS_FAILED.test(result) || WRONG_COMMAND.test(result.slice(0, 20_000));
}

/** What a line such as `npm test; echo "exit $?"` prints. */
function printedExitCode(args: Json, result: string): number | undefined {
  if (!PRINTS_EXIT_CODE.test(commandLineOf(args) ?? '')) return undefined;
  const [, code] = [...result.slice(-FEW_CHARS).matchAll(PRINTED)].at(-1) ?? [];
  return code === undefined ? undefined : Number(code);
}

/** Returns true if the exit code that a line prints is that of the check, and not of a command after it. */
function isLastBeforeEcho({ command }: CheckCommand, args: Json): boolean {
  const line = oneLineOf({ args });
  const after = line.slice(line.lastIndexOf(command) + command.length);
  return !after.slice(0, after.search(/\b(?:echo|printf)\b/)).includes('&&');
}

const PRINTS_EXIT_CODE = /\b(?:echo|printf)\b[^;&|\n]*\$(?:\?|\{?PIPESTATUS)/;
const PRINTED = /^(?:.*(?<![a-z])(?:exit|rc|ec|code|status)\w*\W{0,4})?(\d{1,3})\W*$/gim;

/** Returns the end of a result without the lines that the command itself holds, such as those of its `echo`. */
function withoutOwnWords(result: string, { args }: RunCall): string {
  const command = commandLineOf(args) ?? '';
  return result
    .slice(-20_000)
    .split('\n')
    .filter((line) => line.trim() === '' || !command.includes(line.trim()))
    .join('\n');
}

function withoutErrorLine({ errorLine: _errorLine, ...call }: RunCall): RunCall {
  return call;
}

function oneLineOf({ args }: Pick<RunCall, 'args'>): string {
  return (commandLineOf(args) ?? '').replaceAll(/\s+/g, ' ');
}

function hasFailed({ errorLine, failed }: RunCall): boolean {
  return failed || errorLine !== undefined;
}

/** Returns true for a line whose last command, after the separator, is no check: the exit code is its own, or may be. */
function endsWithoutCheck(line: string, separator: ';' | '&&'): boolean {
  const parts = line.replaceAll(/"[^"]*"|'[^']*'/g, "''").split(separator);
  return parts.length > 1 && checkCommandsOf({ command: parts.at(-1) ?? '' }).length === 0;
}
