import { isJsonObject } from '../../core/base/json.ts';
import {
  ACKNOWLEDGEMENT_RESPONSES,
  acknowledgeToolDefinition,
  MAX_NOTE_CHARS,
} from '../../core/steering/feedback/acknowledge.ts';
import type { AdapterOptions } from '../host/adapter-options.ts';
import { answerAcknowledgement } from '../host/answer-acknowledgement.ts';
import { guarded } from '../host/guarded.ts';
import type { Run } from '../../core/run/run.ts';
import { claudeSessionOf } from './claude-session.ts';

/** Functions of the SDK and of zod. Pass the imported `createSdkMcpServer` and `z`. */
export interface ClaudeToolHandles<Server> {
  readonly createSdkMcpServer: (options: {
    name: string;
    version: string;
    alwaysLoad: boolean;
    tools: ClaudeTool[];
  }) => Server;
  readonly z: ZodHandle;
}

export interface ZodHandle {
  string(): ZodText;
  enum(values: string[]): { describe(text: string): unknown };
}

export interface ZodText {
  max(length: number): ZodText;
  describe(text: string): { optional(): unknown };
}

/** A tool in the format that the SDK's `tool()` returns. */
export interface ClaudeTool {
  name: string;
  description: string;
  // The SDK uses zod's own type for a shape. The shape is created with `z`.
  inputSchema: Record<string, never>;
  handler: (args: unknown, extra: unknown) => Promise<{ content: { type: 'text'; text: string }[] }>;
}

export type ClaudeToolOptions = Pick<AdapterOptions, 'onError'>;

const CALL_ID = 'claudecode/toolUseId';

/**
 * Creates an in-process MCP server with the tool `acknowledge_advice`, with which the agent accepts or rejects advice. Pass
 * the server to the SDK as `mcpServers: { coxswain: … }` and allow `mcp__coxswain__acknowledge_advice`. With `claudeHooks`,
 * the answer of a subagent is recorded in the subagent's run.
 *
 * @param handles  `createSdkMcpServer` of the SDK and `z` of zod, because coxswain imports neither
 */
export function coxswainTools<Server>(
  run: Run,
  handles: ClaudeToolHandles<Server>,
  options: ClaudeToolOptions = {},
): Server {
  const { z } = handles;
  const session = claudeSessionOf(run);
  const guard = guarded(run, options);
  const { name, description } = acknowledgeToolDefinition;
  const shape = {
    adviceId: z.string().max(MAX_NOTE_CHARS).describe('Id of the advice, if one was shown.').optional(),
    provider: z.string().max(MAX_NOTE_CHARS).describe('Name in the head line of the advice.').optional(),
    response: z.enum([...ACKNOWLEDGEMENT_RESPONSES]).describe('Whether you follow it.'),
    note: z.string().max(MAX_NOTE_CHARS).describe('Why, in one sentence.').optional(),
  };
  const acknowledge: ClaudeTool = {
    name,
    description,
    // The caller's zod created the shape, so only the caller knows its type.
    inputSchema: shape as unknown as Record<string, never>,
    handler: async (args, extra) => {
      const text = guard(
        'the acknowledge tool',
        () => answerAcknowledgement(session.runOfCall(callIdOf(extra)), args),
        'The answer could not be recorded.',
      );
      return { content: [{ type: 'text', text }] };
    },
  };
  // The tool is always listed, so that the agent does not have to search for it.
  return handles.createSdkMcpServer({ name: 'coxswain', version: '1.0.0', alwaysLoad: true, tools: [acknowledge] });
}

function callIdOf(extra: unknown): string | undefined {
  const meta = isJsonObject(extra) ? extra['_meta'] : undefined;
  const id = isJsonObject(meta) ? meta[CALL_ID] : undefined;
  return typeof id === 'string' ? id : undefined;
}
