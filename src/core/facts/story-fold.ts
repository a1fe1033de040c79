import { present } from '../base/present.ts';
import type { RunCall } from './run-call.ts';
import type { RunUsage, RunView } from './run-view.ts';
import { isFlagged } from './seen-pattern.ts';

const MAX_LINES = 64;
const LINE_CHARS = 160;

/** Calls, tokens and cost of a run after its first warning. */
export interface Wasted extends Omit<RunUsage, 'answersWithoutCost'> {
  /** The call after which a stuck pattern was first flagged. */
  readonly call: number;
  /** The kind of this pattern, and its tool if it has one. */
  readonly kind: string;
  readonly tool?: string;
  /** The last error line of the pattern's calls before the warning, with masked numbers. Absent if none of them failed. */
  readonly line?: string;
  /** Number of calls after `call`. */
  readonly calls: number;
  readonly ms: number;
}

/** The usage of a run up to its first warning, and the subject of the warning. */
interface Warning extends RunUsage, Pick<Wasted, 'kind' | 'tool' | 'line'> {
  readonly calls: number;
  readonly atMs: number;
}

/** Collects what the story of a run needs besides its view: the first warning, and the error lines. Memory: 64 lines. */
export class StoryFold {
  readonly #view: RunView;
  readonly #errorLines = new Map<string, number>();
  #firstWarning: Warning | undefined;
  /** The error line of the last failed call, with masked numbers, and the index of that call. */
  #lastError: { readonly line: string; readonly index: number } | undefined;

  constructor(view: RunView) {
    this.#view = view;
  }

  /**
   * Processes a record that the view has folded.
   *
   * @param call  the call that the view returned for the record, and why it failed
   * @returns the line that states why the call failed, with masked numbers
   */
  fold(call: RunCall | undefined, errorLine: string | undefined): string | undefined {
    const line = errorLine?.replaceAll(/\d+/g, '#').trim().slice(0, LINE_CHARS).toWellFormed();
    if (call !== undefined && line !== undefined) {
      this.#lastError = { line, index: call.number - 1 };
      if (this.#errorLines.has(line) || this.#errorLines.size < MAX_LINES)
        this.#errorLines.set(line, (this.#errorLines.get(line) ?? 0) + 1);
    }
    if (this.#firstWarning === undefined) this.#noteWarning();
    return line;
  }

  /** The most frequent error line, with masked numbers, and how often it occurs. Undefined without error lines. */
  get errorLine(): readonly [string, number] | undefined {
    return [...this.#errorLines].sort(([, a], [, b]) => b - a)[0];
  }

  /** Undefined if the run never got stuck. */
  get wasted(): Wasted | undefined {
    if (this.#firstWarning === undefined) return undefined;
    const { atMs, kind, line, tool, ...before } = this.#firstWarning;
    const { calls, lastAtMs, usage: now } = this.#view;
    const differenceOf = (field: keyof RunUsage): number | undefined =>
      now[field] === undefined ? undefined : now[field] - (before[field] ?? 0);
    return {
      call: before.calls,
      calls: calls - before.calls,
      ms: atMs > 0 ? lastAtMs - atMs : 0,
      kind,
      ...present({
        tool,
        line,
        tokens: differenceOf('tokens'),
        cacheTokens: differenceOf('cacheTokens'),
        cacheTokensWithin: differenceOf('cacheTokensWithin'),
        costUsd: differenceOf('costUsd'),
      }),
    };
  }

  #noteWarning(): void {
    const warning = this.#view.changedPatterns.find((pattern) => pattern.stuck && isFlagged(pattern));
    if (warning === undefined) return;
    const { firstSeen, kind, tool } = warning;
    const error = this.#lastError;
    const line = error !== undefined && error.index >= firstSeen ? error.line : undefined;
    const { calls, lastAtMs: atMs, usage } = this.#view;
    this.#firstWarning = { ...usage, calls, atMs, kind, ...present({ tool, line }) };
  }
}
