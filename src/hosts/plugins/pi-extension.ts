import { membersOf, textOrUndefined, isJsonObject, present } from '../../core/base/json.ts';
import { piUsage } from '../../formats/pi/pi.ts';
import { createBridge, type PluginProgram } from './event-bridge.ts';
import { RecentUsages, WaitingText } from './waiting-text.ts';

type Members = Readonly<Record<string, unknown>>;

interface PiContext {
  readonly cwd?: string;
  readonly model?: { readonly id?: string };
  readonly sessionManager: { getSessionId(): string };
}

interface PiHost {
  on(name: string, handler: (event: Members, context: PiContext) => Promise<object | undefined>): void;
}

/** A call of an unknown tool has an end event but no result event. An extension cannot make the agent continue at a stop. */
export function piExtension(pi: PiHost, program: PluginProgram): void {
  const bridge = createBridge('pi', process.cwd(), program);
  const waiting = new WaitingText();
  const argsByCall = new Map<string, unknown>();
  const endedCalls = new Set<string>();
  /** Calls whose tool is known and whose arguments are valid. If such a call does not run, an extension blocked it. */
  const expectedCalls = new Set<string>();
  const usages = new RecentUsages();
  let lastText: string | undefined;

  const idOf = ({ sessionManager }: PiContext): string => sessionManager.getSessionId();

  pi.on('session_start', async ({ reason }, context) => {
    const more = { source: reason, model: context.model?.id };
    await bridge.send({ hook_event_name: 'SessionStart', session_id: idOf(context), ...more });
    return undefined;
  });
  pi.on('before_agent_start', async ({ prompt }, context) => {
    const session_id = idOf(context);
    waiting.add(session_id, await bridge.send({ hook_event_name: 'UserPromptSubmit', session_id, prompt }));
    return undefined;
  });
  pi.on('tool_execution_start', async ({ args, toolCallId }) => {
    argsByCall.set(String(toolCallId), args);
    return undefined;
  });
  pi.on('tool_call', async (event, context) => {
    expectedCalls.add(String(event['toolCallId']));
    const session_id = idOf(context);
    waiting.add(session_id, await bridge.send({ hook_event_name: 'PreToolUse', session_id, ...callOf(event) }));
    return undefined;
  });
  pi.on('tool_result', async (event, context) => {
    const { content, isError } = event;
    endedCalls.add(String(event['toolCallId']));
    const result = { tool_response: content, ...(isError === true ? { is_error: true } : {}) };
    const body = { hook_event_name: 'PostToolUse', session_id: idOf(context), ...callOf(event), ...result };
    const text = await bridge.send(body);
    if (text === undefined) return undefined;
    const items: readonly unknown[] = Array.isArray(content) ? content : [];
    return { content: [...items, { type: 'text', text }] };
  });
  pi.on('tool_execution_end', async (event, context) => {
    const id = String(event['toolCallId']);
    if (event['isError'] === true && !endedCalls.has(id)) {
      const result = isJsonObject(event['result']) ? event['result'] : {};
      const call = { tool_name: event['toolName'], tool_use_id: id, tool_input: argsByCall.get(id) ?? {} };
      const outcome = expectedCalls.has(id) ? { outcome: 'refused' } : {};
      const failure = { tool_response: result['content'], is_error: true, is_mute: true, ...outcome };
      await bridge.send({ hook_event_name: 'PostToolUse', session_id: idOf(context), ...call, ...failure });
    }
    endedCalls.delete(id);
    expectedCalls.delete(id);
    argsByCall.delete(id);
    return undefined;
  });
  pi.on('context', async ({ messages }, context) => {
    const session_id = idOf(context);
    waiting.add(
      session_id,
      await bridge.send({ hook_event_name: 'PostToolBatch', session_id, tool_calls: [], ...usages.of(session_id) }),
    );
    const text = waiting.take(session_id);
    if (text === undefined || !Array.isArray(messages)) return undefined;
    const addedMessage = { role: 'user', content: [{ type: 'text', text }], timestamp: Date.now() };
    return { messages: [...(messages as readonly unknown[]), addedMessage] };
  });
  pi.on('turn_end', async ({ message }, context) => {
    lastText = textOf(message);
    const { model: modelId, usage: counts } = membersOf(message);
    const model = textOrUndefined(modelId);
    const usage = piUsage(membersOf(counts), model);
    const at_ms = Date.now();
    if (usage !== undefined) usages.note(idOf(context), String(at_ms), { at_ms, usage, ...present({ model }) });
    return undefined;
  });
  pi.on('session_compact', async (_event, context) => {
    await bridge.send({ hook_event_name: 'PreCompact', session_id: idOf(context), trigger: 'auto' });
    return undefined;
  });
  pi.on('agent_end', async (_event, context) => {
    const session_id = idOf(context);
    const more = { stop_hook_active: true, last_assistant_message: lastText, ...usages.of(session_id) };
    await bridge.send({ hook_event_name: 'Stop', session_id, ...more });
    return undefined;
  });
  pi.on('session_shutdown', async ({ reason }, context) => {
    const session_id = idOf(context);
    await bridge.send({ hook_event_name: 'SessionEnd', session_id, reason, ...usages.of(session_id) });
    await bridge.close();
    return undefined;
  });
}

function callOf({ input, toolCallId, toolName }: Members): Members {
  return { tool_name: toolName, tool_use_id: toolCallId, tool_input: input };
}

function textOf(message: unknown): string | undefined {
  const content: unknown = isJsonObject(message) ? message['content'] : undefined;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.flatMap((part) => (isJsonObject(part) && part['type'] === 'text' ? [String(part['text'])] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}
