import { assertNever } from '../base/assert-never.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { RunEnding } from '../records/trajectory-record.ts';
import type { AdviceHandle } from '../run/advice-handle.ts';
import type { AdviseContext } from '../run/evaluation-payload.ts';
import type { Run } from '../run/run.ts';
import type { EndedCall, HostCall, HostEvent, PromptEvent } from './host-event.ts';

/**
 * The main thread of an agent or one of its subagents, as a transport keeps it from one event to the next: from records, where
 * each event is a process of its own, or in memory. It knows which calls are open; calls that it is told about twice count once.
 */
export interface HostThread {
  readonly run: Run;
  /** Advice has made the agent go on when it wanted to stop. */
  readonly hasForcedTurn: boolean;
  /** Facts for an evaluation that are not on the record. */
  readonly known: AdviseContext;
  /** Calls have begun that are not over. Needed only for hosts that report no ends of batches. */
  readonly hasOpenCalls?: boolean;
  /** Before a prompt is recorded. */
  beginPrompt(prompt: PromptEvent): void;
  compact(trigger: string): void;
  /** A call is about to run: its turn is open from now on. @returns false if the call began before */
  expectCall(call: HostCall): boolean;
  startCall(call: HostCall): void;
  /** Records the end of a call, and its start if that is missing. @returns false if the end was reported before */
  endCall(call: EndedCall): boolean;
  /** Those of the calls whose end no event reported, with the result to record. */
  unreported(calls: readonly EndedCall[]): readonly EndedCall[];
  /** The turn is over. */
  endBatch(): void;
  /** Records the agent's last answer, before it stops. */
  stop(text: string | undefined): void;
  /** An answer has made the agent go on. */
  forced(): void;
  end(ending?: RunEnding): void;
  /** The advice as one text for the answer to the event `name`; undefined if there is none or it cannot be delivered. */
  say(advice: readonly AdviceHandle[], name: string): string | undefined;
}

/**
 * Records an event and asks for advice at the decision points it stands for: the one reading of a host's events, whichever
 * transport brings them.
 *
 * @returns text for the model, if any
 */
export function interpretEvent(
  event: HostEvent,
  thread: HostThread,
  { forceTurnAtStop }: { readonly forceTurnAtStop: boolean },
): string | undefined {
  const { run } = thread;
  switch (event.kind) {
    case 'session_started':
      resume(run, event.source);
      return event.isAfterCompaction ? thread.say(atStart(thread), event.name) : undefined;
    case 'session_ended':
      if (!run.isEnded) {
        const { ending = { outcome: 'ended' }, reason } = event;
        thread.end({ ...ending, labels: { ...ending.labels, reason } });
      }
      return undefined;
    case 'failed':
      if (!run.isEnded) thread.end(event.ending);
      return undefined;
    case 'compacted':
      resume(run, 'compaction');
      thread.compact(event.trigger);
      return undefined;
    case 'prompted':
      resume(run, 'prompt');
      thread.beginPrompt(event);
      run.emit({ type: 'message_end', message: { role: event.role, content: event.text } });
      return thread.say(atStart(thread), event.name);
    case 'agent_started':
      resume(run, 'subagent');
      return thread.say(atStart(thread), event.name);
    case 'call_issued': {
      resume(run, event.name);
      // The same hook may be configured twice.
      if (!thread.expectCall(event.call)) return undefined;
      const { id, name, args } = event.call;
      const pendingToolCalls = [{ toolCallId: id, toolName: name, args }];
      const advice = ask(thread, 'pre_tool_execution', { pendingToolCalls });
      thread.startCall(event.call);
      return thread.say(advice, event.name);
    }
    case 'call_ended': {
      resume(run, event.name);
      if (!thread.endCall(event.call)) return undefined;
      const advice = ask(thread, 'post_tool_result');
      if (event.isBatchless !== true || thread.hasOpenCalls === true) return thread.say(advice, event.name);
      thread.endBatch();
      return thread.say([...advice, ...ask(thread, 'pre_tool_selection')], event.name);
    }
    case 'batch_ended': {
      resume(run, event.name);
      const afterRefusals = thread.unreported(event.calls).flatMap((call) => {
        thread.endCall(call);
        return ask(thread, 'post_tool_result');
      });
      thread.endBatch();
      return thread.say([...afterRefusals, ...ask(thread, 'pre_tool_selection')], event.name);
    }
    case 'stopped': {
      const { isSubagent, isForced, lastMessage } = event;
      resume(run, isSubagent ? 'subagent' : 'stop');
      thread.stop(lastMessage);
      const advice = ask(thread, 'pre_response', lastMessage === undefined ? {} : { lastResponse: lastMessage });
      const mayForce = forceTurnAtStop && !isForced && !thread.hasForcedTurn;
      if (!mayForce) settle(advice, forceTurnAtStop ? 'a turn was forced before' : 'forceTurnAtStop is off');
      const text = mayForce ? thread.say(advice, event.name) : undefined;
      if (text !== undefined) thread.forced();
      else if (isSubagent) thread.end();
      return text;
    }
    default:
      return assertNever(event);
  }
}

/** Records why advice did not reach the agent. */
export function settle(advice: readonly AdviceHandle[], reason: string): void {
  for (const piece of advice) piece.undelivered(reason);
}

/** An event after the end makes the run go on. */
function resume(run: Run, trigger: string): void {
  if (run.isEnded) run.emit({ type: 'run_resumed', trigger });
}

/** Two points fall together before the first request of a prompt or a subagent. */
function atStart(thread: HostThread): readonly AdviceHandle[] {
  return [...ask(thread, 'pre_render'), ...ask(thread, 'pre_tool_selection')];
}

function ask(thread: HostThread, point: DecisionPoint, more: AdviseContext = {}): readonly AdviceHandle[] {
  return thread.run.advise(point, { ...thread.known, ...more });
}
