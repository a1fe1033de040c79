import { outcomeIn } from '../../adapters/claude/read-hook-input.ts';
import { toolResultOf } from '../../adapters/claude/tool-response.ts';
import { safeText } from '../../core/base/printable.ts';
import { type Clock, steadyMs } from '../../core/base/clock.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { isJsonObject, type Json } from '../../core/base/json.ts';
import { hostOutcome } from '../../core/facts/host-refusals.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { ClaudeSessions } from './claude-sessions.ts';
import type { HookFault } from '../../core/node/fault-log.ts';
import { isKnownEvent, readHookEvent, type KnownHookEvent } from './hook-event.ts';
import {
  CANARY_PREFIX,
  isStillSpilled,
  readSpilledEvent,
  removeSpilledEvent,
  setSpilledEventAside,
  setUnfinishedAside,
  spilledEvents,
  spillEvent,
  type SpilledEvent,
} from './spilled-events.ts';
import type { Redactor } from '../../core/redact/redactor.ts';

export interface EventIntakeOptions {
  readonly storeAddress: string;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly onFault: (fault: HookFault) => void;
  /** Default: blocks the thread. */
  readonly sleep?: (ms: number) => void;
}

/** Time limit for recording earlier events of the same session. If any remain after this time, the new event is spilled too. */
const OWN_SESSION_LIMIT_MS = 1_000;

/** An event that the store does not take is spilled to a file beside it; the session's next process folds it first. */
export class EventIntake {
  readonly #options: EventIntakeOptions;

  constructor(options: EventIntakeOptions) {
    this.#options = options;
  }

  /**
   * @param open  if it rejects, the event is spilled
   * @returns an empty answer if the event was spilled, with the reason as a fault; if a session's first event cannot
   * be spilled either, a message for the user
   * @throws CoxswainError `invalid-argument` for a session id that is no run id; also errors after the event is
   * stored
   */
  async take(
    event: KnownHookEvent,
    open: () => Promise<ClaudeSessions>,
    onStored: () => void = () => undefined,
  ): Promise<{ readonly answer: object; readonly faults: readonly string[] }> {
    const { input, sessionId, hasBackgroundWork, answerFor } = event.known;
    const arrivedAtMs = this.#options.clock.nowMs();
    let isStored = false;
    let lost: string | undefined;
    const details = {
      hasBackgroundWork,
      onStored: () => {
        isStored = true;
        onStored();
      },
    };
    try {
      const sessions = await open();
      event.known.waitForFile(this.#options.sleep);
      const { problem } = await this.foldWaiting(sessions, { sessionId, limitMs: OWN_SESSION_LIMIT_MS });
      if (problem === undefined) {
        const { answer, faults } = await sessions.answer(input, sessionId, details);
        return { answer: answerFor(answer), faults };
      }
      lost = this.spill(event, `earlier events of the session wait too: ${problem}`, arrivedAtMs);
    } catch (error) {
      if (isStored || (error instanceof CoxswainError && error.code === 'invalid-argument')) throw error;
      lost = this.spill(event, messageOf(error), arrivedAtMs);
    }
    const isSilent = lost === undefined || input.kind !== 'session_started';
    const systemMessage = safeText(`coxswain records nothing in this session: ${lost}`);
    return { answer: isSilent ? {} : { systemMessage }, faults: [] };
  }

  /** Never throws. Returns the reason why the event is lost; undefined if it was spilled, or is a test event. */
  spill(
    { json, known, about }: KnownHookEvent,
    why: string,
    arrivedAtMs: number = this.#options.clock.nowMs(),
  ): string | undefined {
    const { onFault, redactor, storeAddress } = this.#options;
    if (known.sessionId.startsWith(CANARY_PREFIX)) {
      onFault({ where: 'store', message: why, ...about });
      return undefined;
    }
    try {
      spillEvent(storeAddress, { sessionId: known.sessionId, arrivedAtMs, json: storableEvent(json, redactor) });
      onFault({ where: 'spill', message: `the event waits in a spill file: ${why}`, ...about });
      return undefined;
    } catch (error) {
      const lost = `${messageOf(error)}; ${why}`;
      onFault({ where: 'spill', message: `the event is lost: ${lost}`, ...about });
      return lost;
    }
  }

  /** Stops at an event that the store refuses, or, after at least one, at `limitMs`. Throws file system errors. */
  async foldWaiting(
    sessions: ClaudeSessions,
    { sessionId, limitMs }: { readonly sessionId?: string; readonly limitMs: number },
  ): Promise<{ readonly folded: number; readonly problem?: string }> {
    const { clock, onFault, storeAddress } = this.#options;
    const unfinished = sessionId === undefined ? setUnfinishedAside(storeAddress, clock.nowMs()) : 0;
    if (unfinished > 0)
      onFault({ where: 'spill', message: `${unfinished} spill files of killed processes are incomplete` });
    const waitingEvents = spilledEvents(storeAddress, sessionId);
    const startMs = waitingEvents.length === 0 ? 0 : steadyMs();
    let folded = 0;
    for (const [index, spilled] of waitingEvents.entries()) {
      if (index > 0 && steadyMs() - startMs >= limitMs) {
        return { folded, problem: `${waitingEvents.length - index} events are left after ${limitMs} ms` };
      }
      try {
        if (await this.#foldEvent(spilled, sessions)) folded += 1;
      } catch (error) {
        if (!isStoreError(error)) throw error;
        return { folded, problem: messageOf(error) };
      }
    }
    return { folded };
  }

  async #foldEvent(spilled: SpilledEvent, sessions: ClaudeSessions): Promise<boolean> {
    const { onFault } = this.#options;
    const bytes = readSpilledEvent(spilled);
    if (bytes === 'gone') return false;
    const event = bytes === 'damaged' ? undefined : readHookEvent(bytes);
    if (event === undefined || !isKnownEvent(event)) {
      onFault({ where: 'spill', message: `${spilled.path} is damaged` });
      setSpilledEventAside(spilled, 'damaged');
      return false;
    }
    const { id, arrivedAtMs } = spilled;
    const isWaiting = (): boolean => isStillSpilled(spilled);
    const { input, sessionId } = event.known;
    try {
      const faults = await sessions.foldLate(input, sessionId, { id, arrivedAtMs, isWaiting });
      for (const message of faults) onFault({ where: 'run', message, ...event.about });
    } catch (error) {
      if (isStoreError(error)) throw error;
      onFault({ where: 'spill', message: `${spilled.path} is refused: ${messageOf(error)}`, ...event.about });
      setSpilledEventAside(spilled, 'refused');
      return false;
    }
    removeSpilledEvent(spilled);
    return true;
  }
}

function isStoreError(error: unknown): boolean {
  if (error instanceof CoxswainError) return error.code.startsWith('store-');
  return error instanceof Error && 'code' in error;
}

/** Fields that need no redaction: fixed keywords, run ids, numbers and flags. */
const PLAIN_FIELDS = [
  'hook_event_name',
  'host_event',
  'host',
  'session_id',
  'agent_id',
  'stop_hook_active',
  'duration_ms',
  'has_no_batches',
  'names_differ',
  'forced_prompts',
  'is_error',
  'is_mute',
  'outcome',
  'pairs_by_arguments',
];
const NAME_FIELDS = ['agent_type', 'source', 'model', 'reason', 'trigger'];

/** The fields that coxswain reads, redacted like records. Redacting them a second time changes nothing. */
function storableEvent(json: Readonly<Record<string, unknown>>, redactor: Redactor): Readonly<Record<string, unknown>> {
  const storable: Record<string, unknown> = { ...storableCall(json, redactor) };
  for (const field of PLAIN_FIELDS) storable[field] = json[field];
  for (const field of NAME_FIELDS) storable[field] = storableName(json[field], redactor);
  for (const field of ['prompt', 'last_assistant_message', 'transcript_path', 'agent_transcript_path']) {
    const value = json[field];
    if (typeof value === 'string') storable[field] = redactor.text(value);
  }
  if (json['error'] !== undefined) {
    const { error } = json;
    const result = storableResult(typeof error === 'string' ? error : JSON.stringify(error), json, redactor);
    storable['error'] = result;
    // Redaction may change the words by which the outcome is recognised.
    storable['outcome'] ??= typeof error === 'string' ? hostOutcome(error) : undefined;
  }
  const { usages } = json;
  if (Array.isArray(usages)) {
    storable['usages'] = usages
      .filter(isJsonObject)
      .map(({ at_ms, model, usage }) => ({ at_ms, usage, model: storableName(model, redactor) }));
  }
  const calls = json['tool_calls'];
  if (Array.isArray(calls)) {
    storable['tool_calls'] = calls.filter(isJsonObject).map((call) => storableCall(call, redactor));
  }
  return storable;
}

function storableCall(call: Readonly<Record<string, unknown>>, redactor: Redactor): Readonly<Record<string, unknown>> {
  const { is_error, duration_ms, tool_input: args, tool_name: name, tool_response: response, tool_use_id: id } = call;
  if (typeof name !== 'string' || typeof id !== 'string') return {};
  const outcome = outcomeIn(call) ?? (is_error === true ? hostOutcome(toolResultOf(response)) : undefined);
  const redacted = redactor.redact({
    kind: 'tool_started',
    tool_call_id: id,
    tool_name: name,
    args: toJson(args ?? {}),
  });
  if (redacted.kind !== 'tool_started') return {};
  return {
    tool_name: redacted.tool_name,
    tool_use_id: redacted.tool_call_id,
    tool_input: redacted.args,
    ...(response === undefined ? {} : { tool_response: storableResult(toolResultOf(response), call, redactor) }),
    ...(typeof is_error === 'boolean' ? { is_error } : {}),
    ...(outcome === undefined ? {} : { outcome }),
    ...(typeof duration_ms === 'number' ? { duration_ms } : {}),
  };
}

function storableName(value: unknown, redactor: Redactor): string | undefined {
  return typeof value === 'string' ? redactor.name(value) : undefined;
}

function storableResult(
  result: Json,
  { tool_name: name, tool_use_id: id }: Readonly<Record<string, unknown>>,
  redactor: Redactor,
): Json {
  const call = { tool_call_id: String(id), tool_name: String(name) };
  const redacted = redactor.redact({ kind: 'tool_ended', ...call, result, is_error: false });
  return redacted.kind === 'tool_ended' ? redacted.result : null;
}
