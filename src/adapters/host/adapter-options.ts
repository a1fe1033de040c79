import { checkMembers } from '../../core/base/check-members.ts';
import { invalidArgument } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import type { AgentIdentity } from '../../core/records/agent-event.ts';
import type { Run } from '../../core/run/run.ts';

/** The run of an agent, or, for several runs, a function that returns it in the asynchronous context of each request and tool. */
export type RunSource = Run | (() => Run);

export interface AdapterOptions {
  /**
   * Handling of an internal error of coxswain. `record` (default): the error is counted in `health()` and recorded, and the
   * agent continues as without coxswain. `throw`: the error is thrown into the host's code; use it to develop adapters.
   */
  readonly onError?: 'record' | 'throw';
  /** Maximum number of characters of advice in one text; default 9,000. Advice that does not fit is recorded as undelivered. */
  readonly maxChars?: number;
}

/** For adapters that see the results of tools. */
export interface RefusalOptions extends AdapterOptions {
  /** Returns true for a result, or an error's message, of a refused call. Default: never; `refusal()` and SDK rejections always count. */
  readonly isRefused?: (result: unknown) => boolean;
  /** Returns true if a result reports a failure. Default: never; flags of the SDK and of MCP servers always count. */
  readonly isError?: (result: unknown, toolName: string) => boolean;
}

/** Asks `isError` of the user. A fault of it is recorded, and the call counts as no failure. */
export function erredBy(
  { isError }: Pick<RefusalOptions, 'isError'>,
  result: unknown,
  toolName: string,
  run: Run,
): boolean {
  return saysYes('isError', () => isError?.(result, toolName), run);
}

/** Asks the function of the user. A fault of it is recorded, and the call counts as not refused. */
export function refusedBy(
  { isRefused }: Pick<RefusalOptions, 'isRefused'>,
  result: unknown,
  run: Run,
): 'refused' | undefined {
  return saysYes('isRefused', () => isRefused?.(result), run) ? 'refused' : undefined;
}

function saysYes(where: string, question: () => boolean | undefined, run: Run): boolean {
  try {
    return question() === true;
  } catch (error) {
    run.reportFault(where, error);
    return false;
  }
}

/** Throws CoxswainError "invalid-argument" for a wrong run or options of JavaScript. `own`: the options of this adapter alone. */
export function checkAdapter<Options extends object>(
  name: string,
  run: RunSource | undefined,
  options: Options,
  own: Readonly<Record<Exclude<keyof Options, keyof AdapterOptions>, true>>,
): void {
  if (typeof run !== 'function' && typeof run?.emit !== 'function')
    throw invalidArgument(`${name} needs a run, such as createCoxswain().startRun()`);
  checkMembers(name, options, { onError: true, maxChars: true, ...own });
}

/** A run that ended at its host is reported once, because nothing of the agent is recorded any more. */
export function currentRun(where: string, source: RunSource): () => Run {
  const reported = new WeakSet<Run>();
  return () => {
    const run = typeof source === 'function' ? source() : source;
    if (run.isEnded && !reported.has(run)) {
      reported.add(run);
      run.reportFault(
        where,
        new Error('the agent works on after the end of its run: pass a function that returns the run'),
      );
    }
    return run;
  };
}

export type KnownIdentity = Partial<Pick<AgentIdentity, 'conversationId' | 'agentName' | 'modelId'>>;

export function identityOf(run: Run, known: KnownIdentity): AgentIdentity {
  const { id: runId, parentRunId, depth } = run;
  return { runId, ...present({ parentRunId }), depth, ...known };
}
