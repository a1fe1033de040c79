import { PERMISSION_DENIED, PERMISSION_REQUESTED } from '../../core/records/words.ts';
import { present } from '../../core/base/json.ts';
import { assertNever } from '../../core/base/error.ts';
import type { DecisionPoint } from '../../core/records/spoken-advice.ts';
import type { AgentEnding } from '../../core/records/agent-event.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import type { AdviceHandle } from '../../core/run/advice-handle.ts';
import type { AdviseContext } from '../../core/run/evaluation-payload.ts';
import type { Run } from '../../core/run/run.ts';
import type { StopRequest } from '../../core/steering/stop-policy.ts';
import type {
  AnswerUsage,
  EndedCall,
  HostCall,
  HostEvent,
  PromptEvent,
  SessionAnswer,
  TranscriptCall,
  SessionPart,
} from './host-event.ts';

/** State of a thread between events, in records or in memory. A call that is reported twice is recorded once. */
export interface HostThread {
  readonly run: Run;
  /** True if advice has already made the agent continue at a stop. */
  readonly hasForcedTurn: boolean;
  readonly known: AdviseContext;
  /** True if the last prompt or answer from coxswain made the agent continue, and no event has arrived since. */
  readonly isForcing?: boolean;
  /** True if the last word of the agent was an answer. Default: false. */
  readonly hasAnswered?: boolean;
  /** True if a turn is open. Default: true. */
  readonly isTurnOpen?: boolean;
  /** True if a call ended without an evaluation of advice, because the host ignores the answer to that event. */
  readonly hasUnheardCall?: boolean;
  /** True if calls of the answer of the event have not ended, for hosts that do not report the end of a batch. Default: false. */
  readonly hasUnfinished?: boolean;
  /** Reads what the session file has and no event reported. Default: nothing. */
  unread?(event: HostEvent): UnreadSession;
  /** Records an answer that no event reported, with its calls. */
  recordAnswer?(answer: UnreadAnswer): void;
  beginPrompt(prompt: PromptEvent): void;
  compact(trigger: string): void;
  /** @returns false if the call has already started */
  expectCall(call: HostCall): boolean;
  startCall(call: HostCall): void;
  /** Records the start too if that is not recorded. Returns false if the end was already reported. */
  endCall(call: EndedCall): boolean;
  /** @param answer  the answer of these calls in the session file, which says which of them were refused */
  unreported(calls: readonly EndedCall[], answer?: UnreadAnswer): readonly EndedCall[];
  endBatch(usages?: readonly AnswerUsage[]): void;
  /** Records the agent's last answer before it stops. `answer`: the same answer in the session file. */
  stop(text: string | undefined, usages?: readonly AnswerUsage[], answer?: UnreadAnswer): void;
  /** Called when an answer has made the agent continue. */
  forced(): void;
  end(ending?: AgentEnding, usages?: readonly AnswerUsage[]): void;
  /** Joins advice into one text for the answer to the event `name`. Undefined if there is no advice, or if it cannot be delivered. */
  say(advice: readonly AdviceHandle[], name: string): string | undefined;
}

export interface UnreadAnswer extends SessionAnswer {
  readonly isTurnKnown: boolean;
  /** True if its tokens are not recorded. */
  readonly hasNewUsage: boolean;
}

export interface UnreadSession extends Omit<SessionPart, 'answers'> {
  readonly past: readonly UnreadAnswer[];
  /** The answer whose calls have ended, the answer with the call of the event, or the last answer before a stop. */
  readonly current?: UnreadAnswer;
  /** The call of the event, as the file has it. */
  readonly call?: HostCall;
}

/** Used for every host and transport. Returns text for the model. */
export function interpretEvent(
  event: HostEvent,
  thread: HostThread,
  { forceTurnAtStop }: { readonly forceTurnAtStop: boolean },
): string | undefined {
  const { run } = thread;
  const {
    call: inFile,
    costUsd,
    current,
    ending: knownEnding,
    hasEnded,
    past,
  }: UnreadSession = thread.unread?.(event) ?? { past: [] };
  const wasEnded = run.isEnded;
  const missedEvents = takePast(past, event, thread);
  const sayText = (advice: readonly AdviceHandle[]): string | undefined => {
    if (stopAt(event, run) === undefined) return thread.say([...missedEvents, ...advice], event.name);
    settleAll([...missedEvents, ...advice], 'the agent is stopped');
    return undefined;
  };
  switch (event.kind) {
    case 'session_started':
      resumeIfEnded(run, event.source);
      return event.isAfterCompaction ? sayText(atStart(thread)) : undefined;
    case 'session_ended':
      if (!run.isEnded) {
        const supposed: RunEnding = {
          outcome: 'ended',
          ...(thread.hasAnswered === true ? { reason: 'answered' } : {}),
        };
        const { ending = knownEnding ?? supposed, reason } = event;
        thread.end({ ...ending, labels: { ...ending.labels, reason }, ...present({ costUsd }) }, event.usages);
      }
      return undefined;
    case 'failed':
      if (!run.isEnded) thread.end(event.ending);
      return undefined;
    case 'permission': {
      const type = event.isDenied ? PERMISSION_DENIED : PERMISSION_REQUESTED;
      if (!run.isEnded) run.dispatch({ type, data: present({ tool: event.toolName }) });
      return undefined;
    }
    case 'seen':
      if ((wasEnded || hasEnded === true) && !run.isEnded)
        thread.end({ ...(knownEnding ?? { outcome: 'ended' }), ...present({ costUsd }) });
      return undefined;
    case 'compacted':
      resumeIfEnded(run, 'compaction');
      thread.compact(event.trigger);
      return undefined;
    case 'prompted':
      resumeIfEnded(run, 'prompt');
      if (event.mayBeForced === true && thread.isForcing === true) {
        run.emit({ type: 'message_end', message: { role: 'system', content: event.text } });
        return undefined;
      }
      thread.beginPrompt(event);
      run.emit({ type: 'message_end', message: { role: event.role, content: event.text } });
      return sayText(atStart(thread));
    case 'agent_started':
      resumeIfEnded(run, 'subagent');
      return sayText(atStart(thread));
    case 'call_issued': {
      resumeIfEnded(run, event.name);
      recordCurrent(current, thread);
      const call = { ...event.call, ...present({ name: inFile?.name, args: inFile?.args }) };
      // A call is reported twice if the same hook is configured twice.
      if (!thread.expectCall(call)) return sayText([]);
      const { id, name, args } = call;
      const pendingToolCalls = [{ toolCallId: id, toolName: name, args }];
      const advice = askAt(thread, 'pre_tool_execution', { pendingToolCalls });
      thread.startCall(call);
      return sayText(advice);
    }
    case 'call_ended': {
      resumeIfEnded(run, event.name);
      recordCurrent(current, thread);
      // Calls of the answer that no event reports.
      const others = endCalls(thread, thread.unreported(callsOf([], current), current));
      const call = { ...event.call, ...present({ name: inFile?.name, args: inFile?.args }) };
      if (!thread.endCall(call)) return sayText(others);
      if (event.isMute === true) return undefined;
      const advice = [...others, ...askAt(thread, 'post_tool_result')];
      if (event.hasNoBatches !== true || thread.hasUnfinished === true) return sayText(advice);
      thread.endBatch(event.usages);
      return sayText([...advice, ...askAt(thread, 'pre_tool_selection')]);
    }
    case 'batch_ended': {
      // A request without preceding calls.
      const isEmpty = current === undefined || (current.calls.length === 0 && !current.hasNewUsage);
      if (thread.isTurnOpen === false && event.calls.length === 0 && isEmpty) return sayText([]);
      resumeIfEnded(run, event.name);
      const unheardAdvice = thread.hasUnheardCall === true ? askAt(thread, 'post_tool_result') : [];
      // All calls of an answer start before one ends.
      if (current !== undefined) thread.recordAnswer?.({ ...current, calls: current.calls.map(withoutEnd) });
      const ended = endCalls(thread, thread.unreported(callsOf(event.calls, current), current));
      thread.endBatch(event.usages);
      return sayText([...unheardAdvice, ...ended, ...askAt(thread, 'pre_tool_selection')]);
    }
    case 'stopped': {
      const { isSubagent, isForced, lastMessage = current?.text || undefined } = event;
      resumeIfEnded(run, isSubagent ? 'subagent' : 'stop');
      thread.stop(lastMessage, event.usages, current);
      const advice = askAt(thread, 'pre_response', lastMessage === undefined ? {} : { lastResponse: lastMessage });
      const mayForce = forceTurnAtStop && !isForced && !thread.hasForcedTurn;
      if (!mayForce)
        settleAll(
          [...missedEvents, ...advice],
          forceTurnAtStop ? 'a turn was already forced' : 'forceTurnAtStop is not set',
        );
      const text = mayForce ? sayText(advice) : undefined;
      if (text !== undefined) thread.forced();
      else if (isSubagent) thread.end(lastMessage === undefined ? undefined : { outcome: 'ended', reason: 'answered' });
      return text;
    }
    default:
      return assertNever(event);
  }
}

/** Each answer is a turn. Returns advice on these calls. None if no request follows the event. */
function takePast(past: readonly UnreadAnswer[], event: HostEvent, thread: HostThread): readonly AdviceHandle[] {
  for (const answer of past) {
    resumeIfEnded(thread.run, event.name);
    thread.recordAnswer?.(answer);
  }
  if (event.kind === 'session_ended' || event.kind === 'failed' || event.kind === 'seen') return [];
  if (!past.some(({ calls }) => calls.length > 0)) return [];
  return askAt(thread, 'post_tool_result');
}

function recordCurrent(current: UnreadAnswer | undefined, thread: HostThread): void {
  if (current !== undefined) thread.recordAnswer?.({ ...current, calls: [] });
}

/** The calls of a batch in the order of the answer. The session file says which of them failed. */
function callsOf(reported: readonly EndedCall[], answer: UnreadAnswer | undefined): readonly EndedCall[] {
  const inFile = new Map(answer?.calls.map((call) => [call.id, call.ended]));
  const others = answer?.calls.flatMap(({ id, ended }) =>
    ended === undefined || reported.some((call) => call.id === id) ? [] : [ended],
  );
  return [...reported.map((call) => inFile.get(call.id) ?? call), ...(others ?? [])].toSorted(byEnd);
}

export function withoutEnd({ ended: _ended, ...call }: TranscriptCall): TranscriptCall {
  return call;
}

/** Order of the ends of calls. A call without a time ends last. */
export function byEnd({ endedAtMs: left = Infinity }: EndedCall, { endedAtMs: right = Infinity }: EndedCall): number {
  return left === right ? 0 : left - right;
}

function endCalls(thread: HostThread, calls: readonly EndedCall[]): AdviceHandle[] {
  return calls.flatMap((call) => {
    thread.endCall(call);
    return askAt(thread, 'post_tool_result');
  });
}

/** A prompt of the user may continue a stopped run, so it gets no stop request. */
export function stopAt({ kind }: HostEvent, run: Run): StopRequest | undefined {
  return kind === 'prompted' ? undefined : run.shouldStop;
}

export function settleAll(advice: readonly AdviceHandle[], reason: string): void {
  for (const piece of advice) piece.undelivered(reason);
}

function resumeIfEnded(run: Run, trigger: string): void {
  if (run.isEnded) run.emit({ type: 'run_resumed', trigger });
}

/** Requests advice for both decision points that precede the first request of a prompt or a subagent. */
function atStart(thread: HostThread): readonly AdviceHandle[] {
  return [...askAt(thread, 'pre_render'), ...askAt(thread, 'pre_tool_selection')];
}

function askAt(thread: HostThread, point: DecisionPoint, adviseContext: AdviseContext = {}): readonly AdviceHandle[] {
  return thread.run.advise(point, { ...thread.known, ...adviseContext });
}
