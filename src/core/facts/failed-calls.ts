import { LruMap } from '../base/lru-map.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { commandLineOf } from './check-command.ts';
import { resultText } from '../detect/calls/answer-reading.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import {
  CONTENT,
  failedKeysOf,
  hidesExitCode,
  isCheckFailure,
  IS_INVOCATION,
  IS_MISSING,
  keyNumber,
  keysOf,
  maskedCause,
  teachesNothing,
  type CallKey,
  type CallKeys,
} from './call-keys.ts';
import { leadingFolder, withoutFolder } from './last-act.ts';
import { readCall } from '../detect/calls/tool-semantics.ts';
import type { RunCall } from './run-call.ts';
import { asksForProgram, isRunning, sendsInterrupt } from './background-output.ts';

const MAX_FAILURES = 300;
const MAX_KEYS = 3_000;
const MAX_CALLS = 20;
const NO_CAUSE = 'failed without a message';
/** A warning also stands in the output of calls that work. An interrupt is no failure, and some programs begin with the command. */
const INTERRUPTED = /^(?:\^C)?$/;
const SAYS_NOTHING = /\bwarning\b|^(?:\^C)?$|^Command: /i;
/** Share of its words that a command must have in common with a failed one to be what worked instead. */
const ALIKE_SHARE = 0.75;
/** The least share of the words of the failed command that it has. */
const KEPT_SHARE = 0.6;
const MIN_PART_CHARS = 4;
const MAX_ARG = 80;
const SHOWN_CHARS = 160;
/** Arguments of a command that say what it is for, or how long the host waits for it. */
const CHANGES_NO_RESULT =
  /^(?:cmd|command|description|justification|login|max_output_\w+|prefix_rule|run_in_background|shell|timeout\w*|tty|yield_time_ms)$/;
const HIDDEN_CHARS = 4_000;
const LAST_CHARS = 200;
const MAX_FILES = 1_000;
/** Refuses a replacement in a file that the agent does not know. */
const NOT_READ =
  /^(?!.*\bmodified\b).*(?:\b(?:not (?:been )?|must |needs? to be |without )read|\bread (?:it|the file) (?:first|again|before))/i;

export interface FailedCall {
  readonly tool: string;
  readonly shown: string;
  /** The line that states the failure, with masked names, paths and numbers. */
  readonly cause: string;
  readonly keys: readonly CallKey[];
  /** `hidden`: the exit code is 0. `check`: a test, a linter or a compiler failed. */
  readonly kind: 'call' | 'hidden' | 'check';
  /** 1-based number of the call. */
  readonly number: number;
  /** Unix milliseconds; 0 if unknown. */
  readonly atMs: number;
  /** Number of calls from it until one like it worked, at most 20. If none did, 1: only the call itself is known to be lost. */
  readonly calls: number;
  /** Active time. */
  readonly ms: number;
  readonly tokens: number;
  readonly costUsd: number;
  /** The next call of the same tool that worked and resembles it: same target, same words, or same last words; or what was other in the same call: `the same with path=src`. */
  readonly worked?: string;
  /** True for an edit after which one of the same file with other content worked. */
  readonly recovered?: true;
}

/** What became of a key: `none` if every call with it failed for another reason. */
export type KeyOutcome = 'none' | 'worked' | 'failed';
const OUTCOMES = ['none', 'worked', 'failed'] as const satisfies readonly KeyOutcome[];

export interface KeyRun {
  readonly key: number;
  readonly number: number;
  readonly callFailed: boolean;
  readonly first: KeyOutcome;
  readonly last: KeyOutcome;
}

/** @param isWanted  which keys are read; default: all */
export function keyRunsOf(numbers: ArrayLike<number>, isWanted?: ReadonlySet<number>): readonly KeyRun[] {
  const runs: KeyRun[] = [];
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    const key = numbers[at] ?? 0;
    if (isWanted?.has(key) === false) continue;
    const code = numbers[at + 1] ?? 0;
    const [first, last] = [OUTCOMES[Math.floor(code / 4) % 4] ?? 'none', OUTCOMES[code % 4] ?? 'none'];
    runs.push({ key, number: Math.floor(code / 32), callFailed: Math.floor(code / 16) % 2 === 1, first, last });
  }
  return runs;
}

function codeOf({ callFailed, first, last, number }: Omit<KeyRun, 'key'>): number {
  return number * 32 + (callFailed ? 16 : 0) + OUTCOMES.indexOf(first) * 4 + OUTCOMES.indexOf(last);
}

interface Spent {
  readonly activeMs: number;
  /** Active time of the call that ended. */
  readonly callMs: number;
  readonly costUsd: number;
  readonly tokens: number;
}

type OpenFailure = Omit<FailedCall, 'calls' | 'ms' | 'costUsd' | 'tokens' | 'worked'> & {
  readonly before: Spent;
  readonly args: Json;
  /** The command of the line that failed, if the error names it. */
  readonly command: string;
};

/** Collects the failed calls of one run and the outcome of each key. Memory: 300 failures and 3,000 keys. */
export class FailedCallsFold {
  readonly #failures: FailedCall[] = [];
  readonly #keys = new LruMap<Omit<KeyRun, 'key'>, number>(MAX_KEYS);
  /** Files that the run read or wrote. */
  readonly #files = new LruMap<true>(MAX_FILES);
  #open: OpenFailure[] = [];

  /** @param cause  the line that states the failure of the call that the record ended */
  fold(
    payload: TrajectoryPayload,
    call: RunCall | undefined,
    now: { readonly cause: string | undefined; readonly atMs: number } & Spent,
  ): void {
    if (payload.kind !== 'tool_ended' || call === undefined || call.outcome !== undefined || call.resultMissing) return;
    const { begun } = call;
    // A later call tells what became of a command that is still running.
    if (begun !== undefined && !call.failed && isRunning(resultText(payload.result))) return;
    const { args, number, tool } = begun ?? call;
    const { failed } = call;
    const hiddenCause = failed ? undefined : hiddenFailure(args, payload.result);
    const stated = failed ? statedCause(resultText(payload.result), now.cause) : hiddenCause;
    const keys = keysOf(tool, args);
    const file = isJsonObject(args) && commandLineOf(args) === undefined ? readCall(tool, args) : undefined;
    const isUnread = file?.target !== undefined && this.#files.get(file.target) === undefined;
    const unread = isUnread && file.replaces !== undefined ? [nameKey(unreadKeyOf(tool))] : [];
    if (stated !== undefined && (INTERRUPTED.test(stated) || sendsInterrupt(call.args))) return;
    const all = [keys.call, ...keys.commands.map(({ key }) => key), ...keys.names.map(nameKey), ...unread];
    if (stated === undefined) {
      // The exit code of `a | b` and of `a; b` is that of b.
      const proved = keys.commands.filter(({ isProved }) => isProved);
      const worked = keys.commands.length === 0 ? all : [keys.call, ...keysOfCommands(proved)];
      for (const key of worked) this.#note(key, number, false, 'worked');
      for (const key of all) this.#note(key, number, false, 'none');
      // A search shows only parts of a file.
      if (isUnread && !(isJsonObject(args) && 'pattern' in args)) this.#files.set(file.target, true);
      this.#work({ args, number: call.number, tool }, now, keys);
      return;
    }
    const cause = SAYS_NOTHING.test(stated) ? NO_CAUSE : stated;
    const kind = hiddenCause !== undefined ? 'hidden' : isCheckFailure(args, cause) ? 'check' : 'call';
    // A command that ends with an error and says nothing often answers a question.
    const refused = isRefusedUnread(cause) ? unread : [];
    const failedKeys =
      cause === NO_CAUSE || teachesNothing(args, cause) ? [] : [...failedKeysOf(keys, cause), ...refused];
    // A test that fails was run, so its command works.
    if (kind !== 'check') for (const key of failedKeys) this.#note(key, number, true, 'failed');
    for (const key of all) this.#note(key, number, true, kind === 'check' ? 'worked' : 'none');
    this.#closeBefore(number - MAX_CALLS);
    if (this.#failures.length + this.#open.length >= MAX_FAILURES) return;
    const { activeMs, atMs, callMs, costUsd, tokens } = now;
    this.#open.push({
      tool,
      shown: shownCall({ args, tool }),
      cause: maskedCause(cause),
      keys: failedKeys,
      kind,
      number,
      atMs,
      before: { activeMs, callMs, costUsd, tokens },
      args,
      command: keys.commands
        .filter(({ key }) => failedKeys.includes(key))
        .map(({ text }) => text)
        .join(' && '),
    });
  }

  get keys(): readonly number[] {
    return this.#keys.entries().flatMap(([key, run]) => [key, codeOf(run)]);
  }

  get failures(): readonly FailedCall[] {
    return [...this.#failures, ...this.#open.map((open) => closed(open))].toSorted((a, b) => a.number - b.number);
  }

  #note(key: CallKey, number: number, callFailed: boolean, outcome: KeyOutcome): void {
    const id = keyNumber(key);
    const known = this.#keys.get(id);
    // The call ran on, and this is what became of it.
    const isOutcome = known?.number === number && callFailed && !known.callFailed;
    if (known === undefined || isOutcome) this.#keys.set(id, { number, callFailed, first: outcome, last: outcome });
    // The keys of the error are noted before all keys of the same call.
    else if (outcome !== 'none' && known.last !== outcome) this.#keys.set(id, { ...known, last: outcome });
  }

  #closeBefore(number: number): void {
    this.#failures.push(...this.#open.filter((open) => open.number <= number).map((open) => closed(open)));
    this.#open = this.#open.filter((open) => open.number > number);
  }

  #work({ args, number, tool }: Pick<RunCall, 'args' | 'number' | 'tool'>, now: Spent, keys: CallKeys): void {
    this.#closeBefore(number - MAX_CALLS);
    if (this.#open.length === 0) return;
    const proved = provedTexts({ args, tool }, keys);
    const [shown] = proved;
    if (shown === undefined) return;
    const whole = shownCall({ args, tool });
    const folder = leadingFolder(args);
    this.#open = this.#open.flatMap((open) => {
      if (open.tool !== tool) return [open];
      // The same pipe with another last command of the same program.
      const isPipe = programIn(open.command) === programIn(shown) && isAlike(open.shown, whole);
      const alike = proved.find((text) => isAlike(open.shown, text) || isAlike(open.command, text));
      const isFoundThere =
        folder !== undefined &&
        folder !== leadingFolder(open.args) &&
        IS_MISSING.test(open.cause) &&
        namesPath(open, proved);
      const worked = alike ?? (isPipe ? whole : isFoundThere ? `the same path after cd ${folder}` : undefined);
      if (worked === undefined) return [open];
      const other = worked === open.shown ? otherArgs(open.args, args) : worked;
      // Of an edit with another content it is not known what made it work, such as a read before it.
      const text = other ?? (hasContent(args) ? undefined : worked);
      const ending = text === undefined ? ({ recovered: true } as const) : { worked: text };
      this.#failures.push({ ...closed(open), ...costOf(open, { ...now, number }), ...ending });
      return [];
    });
  }
}

/** The name of replacements in files that the run neither read nor wrote. */
export function unreadKeyOf(tool: string): string {
  return `${tool} of an unread file`;
}

export function isRefusedUnread(cause: string): boolean {
  return NOT_READ.test(cause);
}

function nameKey(text: string): CallKey {
  return { kind: 'name', text };
}

function keysOfCommands(commands: CallKeys['commands']): readonly CallKey[] {
  return commands.flatMap(({ key, names }) => [key, ...names.map(nameKey)]);
}

/** Returns what of a call is proved to have worked: all of that, and each command of it. */
function provedTexts(call: Pick<RunCall, 'args' | 'tool'>, { commands }: CallKeys): readonly string[] {
  const proved = commands.filter(({ isProved, text }) => isProved && text !== '').map(({ text }) => text);
  const shownPart = (command: string): string => shownCall({ args: { command }, tool: call.tool });
  if (proved.length === commands.length) return [shownCall(call), ...proved.map(shownPart)];
  return proved.length === 0 ? [] : [proved.join(' && '), ...proved].map(shownPart);
}

/** Returns true if the commands have a path, of several parts, that the error of the failed one named. */
function namesPath({ keys }: OpenFailure, proved: readonly string[]): boolean {
  const paths = keys.filter(({ kind, text }) => kind === 'name' && /^[^/\s]+\//.test(text)).map(({ text }) => text);
  return paths.some((path) => proved.some((text) => text.split(' ').includes(path)));
}

function costOf(
  { before, number }: OpenFailure,
  now: Spent & { readonly number: number },
): Pick<FailedCall, 'calls' | 'ms' | 'costUsd' | 'tokens'> {
  return {
    calls: Math.min(MAX_CALLS, Math.max(1, now.number - number)),
    ms: Math.max(before.callMs, before.callMs + now.activeMs - now.callMs - before.activeMs),
    tokens: Math.max(0, now.tokens - before.tokens),
    costUsd: Math.max(0, now.costUsd - before.costUsd),
  };
}

function closed({ args: _args, before, command: _command, ...failure }: OpenFailure): FailedCall {
  return { ...failure, calls: 1, ms: before.callMs, tokens: 0, costUsd: 0 };
}

function programIn(command: string): string {
  return command.split(' ', 1)[0] ?? '';
}

/** Returns what the arguments of a call have that those of the failed call do not, if both are shown as the same. */
function otherArgs(failed: Json, worked: Json): string | undefined {
  if (!isJsonObject(failed) || !isJsonObject(worked)) return undefined;
  const folder = leadingFolder(worked);
  if (folder !== undefined && folder !== leadingFolder(failed)) return `the same after cd ${folder}`;
  const isCommand = commandLineOf(worked) !== undefined;
  const changed = Object.entries(worked).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(failed[name]) && !(isCommand && CHANGES_NO_RESULT.test(name)),
  );
  const texts = changed.flatMap(([name, value]) => {
    const isShown = typeof value === 'string' && value.length <= MAX_ARG && !CONTENT.test(name);
    if (isShown) return [`${name}=${value}`];
    return failed[name] === undefined && !CONTENT.test(name) ? [name] : [];
  });
  return texts.length === 0 ? undefined : `the same with ${texts.join(', ')}`.slice(0, SHOWN_CHARS).toWellFormed();
}

function hasContent(args: Json): boolean {
  return (
    isJsonObject(args) && commandLineOf(args) === undefined && Object.keys(args).some((name) => CONTENT.test(name))
  );
}

function isAlike(failed: string, worked: string): boolean {
  const [left, right] = [wordsOf(failed), wordsOf(worked)];
  if (left.length === 1 && right.length === 1) return failed === worked;
  const words = new Set(left);
  const shared = right.filter((word) => words.has(word) || left.some((other) => isPartOf(other, word))).length;
  const isMost = shared >= ALIKE_SHARE * Math.min(words.size, right.length) && shared >= 2;
  if (isMost && shared >= KEPT_SHARE * words.size) return true;
  return left.length > 2 && right.length > 2 && left.slice(-2).join(' ') === right.slice(-2).join(' ');
}

/** Which lines of a file are shown does not distinguish two calls. */
function wordsOf(text: string): readonly string[] {
  return text.replaceAll(/ '?\d+(?:,\d+)?p'?(?= |$)/g, '').split(' ');
}

/** Returns true for `commit` and `plugin:commit`, or `a.sh` and `scripts/a.sh`. */
function isPartOf(word: string, longer: string): boolean {
  return word.length >= MIN_PART_CHARS && (longer.endsWith(`/${word}`) || longer.endsWith(`:${word}`));
}

function shownCall({ args, tool }: Pick<RunCall, 'args' | 'tool'>): string {
  const line = commandLineOf(args);
  const texts = isJsonObject(args) ? Object.values(args).filter((value) => typeof value === 'string') : [];
  const text = line === undefined ? `${tool} ${texts[0] ?? ''}` : withoutFolder(line);
  return text
    .replace(/\s*\|\s*(?:tail|head)\b.*$/s, '')
    .replace(/\s*2>&1\s*$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, SHOWN_CHARS)
    .toWellFormed();
}

/** A line that begins like a message, not like a line of a file, with or without its number. */
const SHELL_COMPLAINT =
  /^(?![\s\d/#*=-]|(?!zsh|bash|sh)[\w./-]+:\d+:).*(?:command not found|unrecognized (?:subcommand|option|argument)|unknown (?:command|option|flag|shorthand flag)|(?:illegal|invalid) option|unexpected argument|missing script|No such file or directory|is not recognized as|npm (?:ERR!|error) code).*$|^(?:\S*sh|\(eval\)): ?(?:line )?(?:\d+: )?\S+:? not found$/im;
/** The shell ends a line at a word that it cannot expand, so that this is the last line of the output. */
const LAST_COMPLAINT = /(?:^|\n)((?:\S*sh|\(eval\)):\d+: \S+ not found)\s*$/;

/** Returns the line of the output that says that a program was not understood, of a line whose exit code is not that of its programs. */
function hiddenFailure(args: Json, result: Json): string | undefined {
  const line = commandLineOf(args);
  if (line === undefined || !hidesExitCode(line)) return undefined;
  const text = resultText(result);
  const last = lastComplaint(text);
  if (last !== undefined || text.length > HIDDEN_CHARS) return last;
  const found = SHELL_COMPLAINT.exec(text)?.[0].trim().slice(0, 200);
  return found !== undefined && IS_INVOCATION.test(found) ? found : undefined;
}

/** What an answer in JSON says: its line as a whole would be masked. */
const JSON_MESSAGE = /"message": ?"((?:[^"\\]|\\.){5,300})"/;

function statedCause(text: string, cause = NO_CAUSE): string {
  const message = /^\s*[[{]/.test(cause) ? JSON_MESSAGE.exec(text.slice(0, HIDDEN_CHARS))?.[1] : undefined;
  return lastComplaint(text) ?? message ?? cause;
}

function lastComplaint(text: string): string | undefined {
  return LAST_COMPLAINT.exec(text.slice(-LAST_CHARS))?.[1];
}

/** Returns true if a result without an error may show a failure, of this call or of an earlier one, or of a command that runs on. */
export function mayFail(args: Json, result: Json): boolean {
  return asksForProgram(args) || isRunning(resultText(result)) || hiddenFailure(args, result) !== undefined;
}
