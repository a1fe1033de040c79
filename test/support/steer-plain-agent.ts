import { deliverAdvice } from '../../src/core/run/advice-handle.ts';
import type { AdapterCapabilities } from '../../src/adapters/host/adapter-capabilities.ts';
import type { AdapterOptions } from '../../src/adapters/host/adapter-options.ts';
import { guarded } from '../../src/adapters/host/guarded.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { PlainAgentHooks } from './plain-agent.ts';

/** Delivery of advice to a plain agent. */
export const PLAIN_AGENT_CAPABILITIES: AdapterCapabilities = {
  pre_render: { persistence: 'ephemeral', timing: 'before', channel: 'request' },
  pre_tool_selection: { persistence: 'ephemeral', timing: 'before', channel: 'request' },
  pre_tool_execution: { persistence: 'unsupported', timing: 'before' },
  post_tool_result: { persistence: 'persistent', timing: 'after', channel: 'tool-result' },
  pre_response: { persistence: 'persistent', timing: 'forces-turn', channel: 'user-message' },
};

export interface SteerPlainAgentOptions extends AdapterOptions {
  /** Guidance before the answer sends the agent back once; default false. */
  readonly forceTurn?: boolean;
}

/**
 * The adapter of the plain agent: hooks that tell a run what happens, and say what it advises. An example of how an
 * adapter is written.
 */
export function steerPlainAgent(run: Run, options: SteerPlainAgentOptions = {}): PlainAgentHooks {
  const { maxChars = 9_000 } = options;
  const guard = guarded(run, options);
  const uses = new Map<string, number>();
  let isFirst = true;
  let mayForce = options.forceTurn === true;
  /** Some models give the same id to several calls; in a run each has its own. */
  const uniqueId = (id: string): string => ((uses.get(id) ?? 1) === 1 ? id : `${id}#${uses.get(id)}`);
  return {
    onRequest: (messages) =>
      guard(
        'onRequest',
        () => {
          const advice = [...(isFirst ? run.advise('pre_render') : []), ...run.advise('pre_tool_selection')];
          isFirst = false;
          const content = deliverAdvice(advice, { channel: 'request', maxChars });
          return content === undefined ? messages : [...messages, { role: 'user', content }];
        },
        messages,
      ),
    onAnswer: ({ text, model, inputTokens, outputTokens, cacheReadTokens }) =>
      guard(
        'onAnswer',
        () => {
          const usage = { inputTokens, outputTokens, cacheReadTokens };
          run.emit({ type: 'turn_start' });
          run.emit({ type: 'message_end', message: { role: 'assistant', content: text, modelId: model, usage } });
        },
        undefined,
      ),
    onToolStart: ({ id, function: { name } }, args) =>
      guard(
        'onToolStart',
        () => {
          uses.set(id, (uses.get(id) ?? 0) + 1);
          const call = { toolCallId: uniqueId(id), toolName: name, args };
          run.emit({ type: 'tool_execution_start', ...call });
          for (const advice of run.advise('pre_tool_execution', { pendingToolCalls: [call] })) {
            advice.undelivered('a plain agent has no channel before a tool runs');
          }
        },
        undefined,
      ),
    onToolEnd: ({ id, function: { name } }, result, isError) =>
      guard(
        'onToolEnd',
        () => {
          run.emit({ type: 'tool_execution_end', toolCallId: uniqueId(id), toolName: name, result, isError });
          const text = deliverAdvice(run.advise('post_tool_result'), { channel: 'tool-result', maxChars });
          return text === undefined ? result : `${result}\n\n${text}`;
        },
        result,
      ),
    onFinal: () =>
      guard(
        'onFinal',
        () => {
          const advice = run.advise('pre_response');
          if (mayForce) {
            const text = deliverAdvice(advice, { channel: 'user-message', maxChars });
            mayForce = text === undefined;
            return text;
          }
          for (const handle of advice) handle.undelivered('it would force another turn');
          return undefined;
        },
        undefined,
      ),
    onEnd: (error) => guard('onEnd', () => void run.emit({ type: 'agent_end', outcome: outcomeOf(error) }), undefined),
  };
}

function outcomeOf(error: unknown): string {
  if (error === undefined) return 'ended';
  return error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name) ? 'aborted' : 'error';
}
