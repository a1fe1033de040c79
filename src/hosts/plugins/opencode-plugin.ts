import { isJsonObject, membersOf } from '../../core/base/json.ts';
import { createBridge, type PluginProgram } from './event-bridge.ts';
import { WaitingText } from './waiting-text.ts';

interface OpencodeHost {
  readonly directory: string;
}

type Members = Readonly<Record<string, unknown>>;

interface OpencodeHooks {
  readonly 'chat.message'?: (input: Members, output: Members) => Promise<void>;
  readonly 'tool.execute.before'?: (input: Members, output: Members) => Promise<void>;
  readonly 'tool.execute.after'?: (input: Members, output: { output?: unknown; metadata?: unknown }) => Promise<void>;
  readonly 'experimental.chat.messages.transform'?: (
    input: unknown,
    output: { readonly messages?: unknown[] },
  ) => Promise<void>;
  readonly event?: (input: { readonly event?: unknown }) => Promise<void>;
  readonly dispose?: () => Promise<void>;
}

/** Failed calls, texts and tokens are only in opencode's database. A plugin cannot make the agent continue at a stop. */
export async function opencodePlugin({ directory }: OpencodeHost, program: PluginProgram): Promise<OpencodeHooks> {
  const bridge = createBridge('opencode', directory, program);
  const waiting = new WaitingText();
  const sessions = new Set<string>();

  const idOf = (value: Members): string | undefined => {
    const id = value['sessionID'];
    return typeof id === 'string' ? id : undefined;
  };

  const begin = async (session_id: string): Promise<void> => {
    if (sessions.has(session_id)) return;
    sessions.add(session_id);
    await bridge.send({ hook_event_name: 'SessionStart', session_id, source: 'startup' });
  };

  return {
    async 'chat.message'(input, output) {
      const session_id = idOf(input);
      if (session_id === undefined) return;
      await begin(session_id);
      const prompt = partsOf(output)
        .flatMap(({ type, text, synthetic }) => (type === 'text' && synthetic !== true ? [String(text)] : []))
        .join('\n');
      waiting.add(session_id, await bridge.send({ hook_event_name: 'UserPromptSubmit', session_id, prompt }));
    },
    async 'tool.execute.before'(input, output) {
      const session_id = idOf(input);
      if (session_id === undefined) return;
      const call = callOf(input['tool'], input['callID'], output['args']);
      waiting.add(session_id, await bridge.send({ hook_event_name: 'PreToolUse', session_id, ...call }));
    },
    async 'tool.execute.after'(input, output) {
      const session_id = idOf(input);
      if (session_id === undefined) return;
      const call = callOf(input['tool'], input['callID'], input['args']);
      const exitCode = isJsonObject(output.metadata) ? output.metadata['exit'] : undefined;
      const isError = input['tool'] === 'invalid' || (typeof exitCode === 'number' && exitCode !== 0);
      const result = { tool_response: output.output, ...(isError ? { is_error: true } : {}) };
      const text = await bridge.send({ hook_event_name: 'PostToolUse', session_id, ...call, ...result });
      if (text === undefined) return;
      if (typeof output.output === 'string') output.output += `\n\n${text}`;
      else waiting.add(session_id, text);
    },
    async 'experimental.chat.messages.transform'(_input, { messages }) {
      const lastMessage = (messages ?? []).findLast(isJsonObject);
      const info = isJsonObject(lastMessage?.['info']) ? lastMessage['info'] : {};
      const session_id = idOf(info);
      if (messages === undefined || session_id === undefined) return;
      waiting.add(session_id, await bridge.send({ hook_event_name: 'PostToolBatch', session_id, tool_calls: [] }));
      const text = waiting.take(session_id);
      if (text === undefined) return;
      const id = `msg_coxswain_${messages.length}`;
      const part = { id: `prt_coxswain_${messages.length}`, sessionID: session_id, messageID: id, type: 'text', text };
      messages.push({ info: { ...info, id, role: 'user' }, parts: [part] });
    },
    async event({ event }) {
      const { type, properties } = isJsonObject(event) ? event : {};
      const members = isJsonObject(properties) ? properties : {};
      const session_id = idOf(members);
      if (session_id === undefined || !sessions.has(session_id)) return;
      if (type === 'session.compacted') {
        await bridge.send({ hook_event_name: 'PreCompact', session_id, trigger: 'auto' });
      }
      if (type === 'session.idle') {
        await bridge.send({ hook_event_name: 'Stop', session_id, stop_hook_active: true });
      }
    },
    async dispose() {
      for (const session_id of sessions)
        await bridge.send({ hook_event_name: 'SessionEnd', session_id, reason: 'exit' });
      await bridge.close();
    },
  };
}

function partsOf(value: Members): readonly Members[] {
  const { parts } = value;
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

/** opencode reports a call of a tool that does not exist as a call of the tool `invalid`. */
function callOf(tool: unknown, id: unknown, args: unknown): Members {
  const requested = tool === 'invalid' ? membersOf(args)['tool'] : undefined;
  return { tool_name: requested ?? tool, tool_use_id: id, tool_input: args };
}
