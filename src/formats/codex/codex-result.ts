import {
  type JsonMembers,
  membersOf,
  numberOrUndefined,
  textOrUndefined,
  type Json,
  isJsonObject,
} from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { hostOutcome } from '../../core/facts/host-refusals.ts';
import type { CallOutcome } from '../../core/records/trajectory-record.ts';
import { shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import { scriptAnswer } from './code-mode.ts';
import { sourceResult } from '../parts/source-content.ts';

const REMEMBERED_CALLS = 256;
/** What Codex says of a call that failed. The model sees only this sentence. */
const REFUSAL =
  /^(?:unsupported (?:custom tool )?call: |apply_patch verification failed|(?:exec_command|write_stdin) failed|execution error: |failed in sandbox\b|aborted(?: by user)?\b|(?:exec|patch) rejected|Error:? |collab \w+ failed: |timeout_ms must be |Full-history forked agents inherit |resources\/\w+ failed: )/i;
/** The server of a tool answered with an error only. */
const SERVER_ERROR = /^Wall time: [\d.]+ seconds\nOutput:\n\{"error":"/;
const FAILED: ReadonlySet<unknown> = new Set(['failed', 'declined', 'error']);

interface CallFact {
  readonly isError?: boolean | undefined;
  readonly outcome?: CallOutcome | undefined;
  readonly durationMs?: number | undefined;
}

export class CodexCallFacts {
  readonly #facts = new LruMap<CallFact>(REMEMBERED_CALLS);

  /** Reads an event. Returns false if the event does not report the end of a call. */
  note(event: JsonMembers): boolean {
    const endedItem = event.type === 'item_completed' ? membersOf(event.item) : event;
    const id = textOrUndefined(event.type === 'item_completed' ? endedItem.id : endedItem.call_id);
    const isEnd = event.type === 'item_completed' || (typeof event.type === 'string' && event.type.endsWith('_end'));
    if (!isEnd || id === undefined) return isEnd;
    const isDeclined = endedItem.status === 'declined';
    this.#facts.set(id, {
      isError: hasFailed(endedItem),
      outcome: isDeclined ? 'refused' : undefined,
      durationMs: durationMsOf(endedItem.duration),
    });
    return true;
  }

  look(id: string | undefined): CallFact {
    return (id === undefined ? undefined : this.#facts.get(id)) ?? {};
  }

  take(id: string | undefined): CallFact {
    const fact = this.look(id);
    if (id !== undefined) this.#facts.delete(id);
    return fact;
  }
}

/** Returns the result of a call as the model saw it. The error flag comes from the exit code or the events. */
export function codexResult(
  item: JsonMembers,
  fact: CallFact,
): CallFact & { readonly result: Json; readonly readsAsError?: boolean | undefined } {
  const output = item.output ?? item.tools ?? item.result ?? item.status;
  const scriptResult = scriptAnswer(output);
  if (scriptResult !== undefined) return { ...fact, ...scriptResult };
  const result = sourceResult(isJsonObject(output) && output.content !== undefined ? output.content : output);
  const shellResult = shellAnswer(result);
  const hasError = typeof result === 'string' && SERVER_ERROR.test(result);
  const stated = fact.isError ?? (shellResult === undefined ? undefined : shellResult.exitCode !== 0);
  const isError = hasError || stated;
  const isRefusal = typeof result === 'string' && REFUSAL.test(result);
  // Codex flags no refusals. A command's own output with an exit code is not one, unless Codex says that it failed in the sandbox.
  const mayBeRefused = (shellResult === undefined || isRefusal) && isError !== false;
  const outcome = fact.outcome ?? (mayBeRefused ? hostOutcome(result, 'codex') : undefined);
  return {
    result,
    isError,
    outcome,
    readsAsError: isRefusal ? true : undefined,
    durationMs: fact.durationMs ?? wallTimeMs(result),
  };
}

/** How long a command ran, without the time that it waited for a permission. */
const WALL_TIME =
  /^(?:[^\n]*\n){0,2}?Wall time: ([\d.]+) seconds\n(?!Process running)|"duration_seconds":\s*([\d.]+)\}\}\s*$/;

function wallTimeMs(result: Json): number | undefined {
  const [, headed, member] = (typeof result === 'string' && WALL_TIME.exec(result)) || [];
  const seconds = headed ?? member;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Returns undefined if the event does not say whether the call failed. */
function hasFailed(ended: JsonMembers): boolean | undefined {
  if (typeof ended.exit_code === 'number') return ended.exit_code !== 0;
  if (typeof ended.success === 'boolean') return !ended.success;
  if (isJsonObject(ended.result)) {
    const { Err: error, Ok: answer } = ended.result;
    if (error !== undefined) return true;
    if (isJsonObject(answer)) return (answer.isError ?? answer.is_error) === true;
  }
  if (typeof ended.status === 'string') return FAILED.has(ended.status);
  return undefined;
}

function durationMsOf(duration: unknown): number | undefined {
  const { secs, nanos } = membersOf(duration);
  const seconds = numberOrUndefined(secs);
  return seconds === undefined ? undefined : seconds * 1000 + (numberOrUndefined(nanos) ?? 0) / 1e6;
}
