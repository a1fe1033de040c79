import { checkCommandsOf, commandLineOf } from '../detect/calls/check-command.ts';
import { LruMap } from '../base/lru-map.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { withoutFolder } from './last-act.ts';
import type { RunCall } from './run-call.ts';

const MAX_FAILURES = 300;
const MAX_COMMANDS = 500;
/** A failure is no longer attributed a cost after this number of calls. */
const MAX_CALLS = 20;
const CAUSE_CHARS = 120;
const NO_CAUSE = 'no message';
/** Share of its words that a command must have in common with a failed one to be what worked instead. */
const ALIKE_SHARE = 0.75;

/** A failed call, and what it took until the same tool did something that worked. Plain JSON. */
export interface FailedCall {
  readonly tool: string;
  /** The command, or its check, with masked names; empty for a tool that runs no command. */
  readonly command: string;
  /** The line that states the failure, with masked names, paths and numbers. */
  readonly cause: string;
  /** 1-based number of the call. */
  readonly number: number;
  /** Unix milliseconds; 0 if unknown. */
  readonly atMs: number;
  /** Number of calls after it until one of the same tool worked, at most 20. */
  readonly calls: number;
  /** Active time. */
  readonly ms: number;
  readonly costUsd: number;
  /** The call of the same tool that worked; absent if none did, or only one unlike the failed one. */
  readonly worked?: string;
}

/** What the run has spent so far. */
interface Spent {
  readonly activeMs: number;
  readonly costUsd: number;
}

type OpenFailure = Omit<FailedCall, 'calls' | 'ms' | 'costUsd' | 'worked'> & { readonly before: Spent };

/** Collects the failed calls of one run. Memory: 300 failures and 500 commands. */
export class FailedCallsFold {
  readonly #failures: FailedCall[] = [];
  readonly #commands = new LruMap<boolean>(MAX_COMMANDS);
  #open: OpenFailure[] = [];

  /**
   * @param call  the call that the record ended
   * @param cause  the line that states its failure
   */
  fold(
    payload: TrajectoryPayload,
    call: RunCall | undefined,
    now: { readonly cause: string | undefined; readonly atMs: number } & Spent,
  ): void {
    if (payload.kind !== 'tool_ended' || call === undefined || call.outcome !== undefined || call.resultMissing) return;
    const { cause: stated = NO_CAUSE, atMs, activeMs, costUsd } = now;
    // A warning also stands in the output of calls that work.
    const cause = /\bwarning\b/i.test(stated) ? NO_CAUSE : stated;
    const { args, number, tool } = call;
    const command = masked(commandOf(args));
    const hasFailed = call.failed || call.errorLine !== undefined;
    if (command !== '') this.#commands.set(command, !hasFailed);
    if (!hasFailed) {
      if (!this.#open.some((open) => open.tool === tool)) return;
      this.#close((open) => open.tool === tool, { activeMs, costUsd, number, worked: commandOf(args) || tool });
      return;
    }
    this.#close((open) => number - open.number >= MAX_CALLS, { activeMs, costUsd, number });
    if (this.#failures.length + this.#open.length >= MAX_FAILURES) return;
    this.#open.push({
      tool,
      command,
      cause: masked(cause),
      number,
      atMs,
      before: { activeMs, costUsd },
    });
  }

  /** Whether each command, with masked names as in `FailedCall`, worked when it ran last. */
  get commands(): Readonly<Record<string, boolean>> {
    return Object.fromEntries(this.#commands.entries());
  }

  /** All failed calls, in the order of the calls. */
  failures(now: Spent & { readonly number: number }): readonly FailedCall[] {
    return [...this.#failures, ...this.#open.map((open) => closed(open, now))].toSorted((a, b) => a.number - b.number);
  }

  #close(isOver: (open: OpenFailure) => boolean, now: Parameters<typeof closed>[1]): void {
    if (this.#open.length === 0) return;
    this.#failures.push(...this.#open.filter(isOver).map((open) => closed(open, now)));
    this.#open = this.#open.filter((open) => !isOver(open));
  }
}

function closed(
  { before, ...open }: OpenFailure,
  now: Spent & { readonly number: number; readonly worked?: string },
): FailedCall {
  return {
    ...open,
    calls: Math.min(MAX_CALLS, Math.max(1, now.number - open.number)),
    ms: now.activeMs - before.activeMs,
    costUsd: Math.max(0, now.costUsd - before.costUsd),
    ...(now.worked === undefined || !isAlike(open.command, now.worked) ? {} : { worked: now.worked }),
  };
}

/** True for the same program with nearly the same words: `rtk bun run test` and `bun run test`, not `git commit` and `git log`. */
function isAlike(failed: string, worked: string): boolean {
  if (failed === '') return true;
  const words = new Set(failed.split(' '));
  const others = masked(worked).split(' ');
  const shared = others.filter((word) => words.has(word)).length;
  return shared >= ALIKE_SHARE * Math.min(words.size, others.length);
}

/** The check that a command runs with the program before it, else the first three words of the command. */
function commandOf(args: RunCall['args']): string {
  const line = commandLineOf(args);
  if (line === undefined) return '';
  const [check] = checkCommandsOf(args);
  const command = (check?.command ?? withoutFolder(line)).split(/\s*(?:&&|\|\||[|;<>\n])/, 1)[0] ?? '';
  const words = command
    .trim()
    .split(/\s+/)
    .filter((word) => !/^(?:-|\d*>|\w+=|["'$(])/.test(word));
  return words
    .slice(0, check === undefined ? 3 : 5)
    .join(' ')
    .slice(0, 80);
}

/** Masks what differs between two failures of the same cause: paths, quoted names, addresses, hashes and numbers. */
function masked(text: string): string {
  return text
    .replaceAll(/<\/?\w+>/g, '')
    .replaceAll(/https?:\/\/\S+/g, 'URL')
    .replaceAll(/(["'`])(?:(?!\1).){3,200}\1/g, '$1…$1')
    .replaceAll(
      /(?:[\w.@~-]*\/)+[\w.@-]+|\b[\w-]+\.(?:[cm]?[jt]sx?|py|go|rs|java|md|json|ya?ml|toml|css|html|sh)\b/g,
      'PATH',
    )
    .replaceAll(/\b[\da-f]{7,40}\b/g, 'HASH')
    .replaceAll(/\d+/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, CAUSE_CHARS)
    .toWellFormed();
}
