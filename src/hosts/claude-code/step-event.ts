import { channelOf } from '../../adapters/claude/to-output.ts';
import type { BatchCall, HookCall, HookInput } from '../../adapters/claude/read-hook-input.ts';
import { answerEvent, callEnded, callRefused, callStarted, promptEvent } from '../../adapters/claude/to-events.ts';
import { deliverAdvice, type AdviceHandle } from '../../run/advice-handle.ts';
import type { TimeSpan } from '../../base/deadline.ts';
import type { DecisionPoint } from '../../records/guidance.ts';
import { isTaskText } from '../../formats/claude-code/claude-code-entry.ts';
import type { AdviseContext } from '../../run/evaluation-payload.ts';
import type { Run } from '../../run/run.ts';
import type { ClaudeState } from './claude-state.ts';

/** What an event is taken with. */
export interface StepContext {
  readonly run: Run;
  /** As the run's records tell it now. */
  readonly state: () => ClaudeState;
  /** From the prompt on; undefined: none is set. */
  readonly deadline: TimeSpan | undefined;
  readonly deadlineFrom: 'session' | 'prompt';
  /** Whether advice may make the agent go on when it wants to stop. */
  readonly forceTurnAtStop: boolean;
  /** A call's id as it is stored. */
  readonly storedId: (id: string) => string;
  /** Why nothing can reach the agent, such as an event that is taken late; undefined: it can. */
  readonly undeliverable?: string | undefined;
}

/** Most characters of one answer; Claude Code moves a longer one into a file. */
const MAX_CHARS = 9_000;

/** Tells the run what a hook says. @returns what the agent should read, if anything */
export function stepEvent(input: HookInput, context: StepContext): string | undefined {
  const { run } = context;
  switch (input.event) {
    case 'SessionStart':
      wake(run, input.source);
      // After a compaction the agent has forgotten what it was told, and no prompt follows.
      return input.source === 'compact' ? say(input.event, atStart(run), context) : undefined;
    case 'SessionEnd':
      if (run.isEnded) return undefined;
      closeCalls(context);
      run.emit({ type: 'agent_end', outcome: 'ended', labels: { reason: input.reason } });
      return undefined;
    case 'PreCompact':
      wake(run, 'compaction');
      run.emit({ type: 'compaction', trigger: input.trigger });
      return undefined;
    case 'UserPromptSubmit':
      wake(run, 'prompt');
      setDeadline(input.prompt, context);
      run.emit(promptEvent(input.prompt));
      return say(input.event, atStart(run), context);
    case 'SubagentStart':
      wake(run, 'subagent');
      return say(input.event, atStart(run), context);
    case 'Stop':
    case 'SubagentStop':
      return stop(input, context);
    default:
      wake(run, input.event);
      return stepCall(input, context);
  }
}

/** What happens after the end makes the run go on. */
function wake(run: Run, trigger: string): void {
  if (run.isEnded) run.emit({ type: 'run_resumed', trigger });
}

function setDeadline(prompt: string, { run, state, deadline, deadlineFrom }: StepContext): void {
  if (deadline === undefined || !isTaskText(prompt)) return;
  if (deadlineFrom === 'prompt' || !state().deadlineSet) run.setDeadline(deadline);
}

type StopInput = Extract<HookInput, { readonly event: 'Stop' | 'SubagentStop' }>;

function stop(input: StopInput, context: StepContext): string | undefined {
  const { run, state, forceTurnAtStop } = context;
  const isSubagent = input.event === 'SubagentStop';
  wake(run, isSubagent ? 'subagent' : 'stop');
  closeCalls(context);
  const text = input.lastMessage;
  if (text !== undefined) {
    if (!state().turnOpen) run.emit({ type: 'turn_start' });
    run.emit(answerEvent(text));
  }
  const advice = ask(run, 'pre_response', text === undefined ? {} : { lastResponse: text });
  const mayForce = forceTurnAtStop && !isSubagent && !input.isForced && !state().forcedTurn;
  const answer = mayForce ? say(input.event, advice, context) : undefined;
  if (!mayForce) settle(advice, forceTurnAtStop ? 'a turn was forced before' : 'forceTurnAtStop is off');
  if (isSubagent) run.emit({ type: 'agent_end', outcome: 'ended' });
  return answer;
}

type CallInput = Extract<
  HookInput,
  { readonly event: 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'PostToolBatch' }
>;

function stepCall(input: CallInput, context: StepContext): string | undefined {
  const { run } = context;
  if (input.event === 'PostToolBatch') return endBatch(input, context);
  const known = lookUp(input.call, context);
  if (input.event === 'PreToolUse') {
    // The same hook may stand in two settings, or in settings and in a plugin.
    if (known !== 'new') return undefined;
    const { id, name, args } = input.call;
    openTurn(context);
    const advice = ask(run, 'pre_tool_execution', {
      pendingToolCalls: [{ toolCallId: id, toolName: name, args }],
    });
    run.emit(callStarted(input.call));
    return say(input.event, advice, context);
  }
  if (known === 'closed') return undefined;
  if (known === 'new') beginCall(input.call, context);
  run.emit(callEnded(input));
  return say(input.event, ask(run, 'post_tool_result'), context);
}

/** All calls of an answer are through. What no hook told the end of was refused. */
function endBatch(
  input: Extract<HookInput, { readonly event: 'PostToolBatch' }>,
  context: StepContext,
): string | undefined {
  const { run } = context;
  const advice: AdviceHandle[] = [];
  for (const call of input.calls) {
    const known = lookUp(call, context);
    if (known === 'closed') continue;
    if (known === 'new') beginCall(call, context);
    run.emit(callRefused(call));
    advice.push(...ask(run, 'post_tool_result'));
  }
  closeCalls(context);
  advice.push(...ask(run, 'pre_tool_selection'));
  return say(input.event, advice, context);
}

function lookUp({ id }: HookCall | BatchCall, { state, storedId }: StepContext): 'new' | 'open' | 'closed' {
  const stored = storedId(id);
  const { openCalls, closedCalls } = state();
  if (openCalls.some(([open]) => open === stored)) return 'open';
  return closedCalls.includes(stored) ? 'closed' : 'new';
}

function openTurn({ run, state }: StepContext): void {
  if (!state().turnOpen) run.emit({ type: 'turn_start' });
}

function beginCall(call: HookCall, context: StepContext): void {
  openTurn(context);
  context.run.emit(callStarted(call));
}

/** Calls that nothing will be told of any more, such as one that the user interrupted. */
function closeCalls({ run, state }: StepContext): void {
  for (const [toolCallId, toolName] of state().openCalls) {
    const result = 'no result was reported';
    run.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError: false, resultMissing: true });
  }
}

/** Before the first request of a prompt or a subagent two points fall together. */
function atStart(run: Run): readonly AdviceHandle[] {
  return [...ask(run, 'pre_render'), ...ask(run, 'pre_tool_selection')];
}

function ask(run: Run, point: DecisionPoint, more: AdviseContext = {}): readonly AdviceHandle[] {
  return run.advise(point, more);
}

function say(
  event: Parameters<typeof channelOf>[0] | 'SessionStart',
  advice: readonly AdviceHandle[],
  { undeliverable }: StepContext,
): string | undefined {
  if (undeliverable !== undefined) {
    settle(advice, undeliverable);
    return undefined;
  }
  const channel = event === 'SessionStart' ? 'SessionStart additionalContext' : channelOf(event);
  return deliverAdvice(advice, { channel, maxChars: MAX_CHARS });
}

function settle(advice: readonly AdviceHandle[], reason: string): void {
  for (const piece of advice) piece.undelivered(reason);
}
