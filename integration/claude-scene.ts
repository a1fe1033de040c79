import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSdkMcpServer,
  query,
  type Options,
  type Query,
  type SDKMessage,
  type SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { claudeHooks, observed } from '../src/adapters/claude/index.ts';
import { messageOf } from '../src/core/base/error.ts';
import type {
  AdapterOutcome,
  AdapterScene,
  AgentBelow,
  NeutralRequest,
} from '../test/support/adapter-contract/adapter-harness.ts';
import { startFakeAnthropicServer } from '../src/testing/fake-anthropic-server.ts';
import { mapModelCalls, type ModelCall } from '../src/testing/model-script.ts';
import { abortReasonOf } from '../test/support/adapter-contract/contract-scenes.ts';
import { neutralAnthropicRequest } from '../test/support/adapter-contract/neutral-request.ts';
import { scriptedToolbox, type ScriptedToolbox } from '../test/support/adapter-contract/scripted-toolbox.ts';

type Hooks = NonNullable<Options['hooks']>;

/** A scene with options of this adapter. */
export interface ClaudeScene extends AdapterScene {
  /** Options of the SDK on top of the scene's. */
  readonly query?: Options;
  /** The user's own hooks. */
  readonly hooks?: Hooks;
  /** The messages are not observed: hooks alone tell. */
  readonly isUnobserved?: boolean;
  /** The hooks are not given to the SDK: messages alone tell. */
  readonly isUnhooked?: boolean;
  /** More MCP servers. */
  readonly servers?: NonNullable<Options['mcpServers']>;
  /** Prompts after the first one, each given when the one before it is answered. */
  readonly morePrompts?: readonly string[];
  /** Each message as the user sees it. */
  readonly onMessage?: (message: SDKMessage, messages: Query) => void;
}

/** The SDK's name of a tool of a scene. Its own tools keep their names. */
export function claudeToolName(name: string): string {
  return /^[A-Z]|^mcp__/.test(name) ? name : `mcp__scene__${name}`;
}

/** Plays a scene with the real SDK and its own program against the fake model. */
export async function playClaude(scene: ClaudeScene): Promise<AdapterOutcome> {
  const { below } = scene;
  const home = mkdtempSync(join(tmpdir(), 'coxswain-claude-'));
  const abort = new AbortController();
  const toolbox = scriptedToolbox(scene.tools);
  const server = await startFakeAnthropicServer({
    script: mapModelCalls(scene.script, (call) =>
      call.name === below?.name ? delegation(call) : { ...call, name: claudeToolName(call.name) },
    ),
    answerAfterMs: scene.answerAfterMs ?? 0,
    onRequest: ({ mainIndex }) => {
      if (mainIndex !== undefined && mainIndex === scene.abortAtRequest) abort.abort(abortReasonOf(scene));
    },
  });
  const answered = new Answered();
  const seen = { text: '', sessionId: '', ended: 'normally' as AdapterOutcome['ended'] };
  const messages = query({
    prompt: scene.streaming === true || scene.morePrompts !== undefined ? prompts(scene, answered) : scene.prompt,
    options: {
      ...baseOptions(home, server.url),
      mcpServers: { scene: toolServer(toolbox), ...scene.servers },
      abortController: abort,
      hooks: hooksOf(scene),
      ...(below === undefined ? {} : withAgent(below)),
      ...scene.query,
    },
  });
  const { run } = scene;
  const stream = run === undefined || scene.isUnobserved === true ? messages : observed(run, messages, scene.adapter);
  try {
    for await (const message of stream) {
      scene.onMessage?.(message, messages);
      if (message.type === 'system' && message.subtype === 'init') seen.sessionId = message.session_id;
      if (message.type === 'result' && message.subtype === 'success') seen.text = message.result;
      if (message.type === 'result') answered.next();
    }
  } catch (error) {
    seen.ended = { error: messageOf(error) };
  } finally {
    if (run !== undefined) await run.end();
    await server.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
  const address = new URL(server.url).host;
  const plain = (text: string): string =>
    withoutIds(text.replaceAll(home, '/home/agent').replaceAll(address, 'MODEL'), seen.sessionId);
  return {
    requests: server.mainRequests().map(({ raw }) => inOrder(neutralAnthropicRequest(plain(raw)))),
    ended: seen.ended === 'normally' ? 'normally' : { error: plain(seen.ended.error) },
    finalText: plain(seen.text),
    toolRuns: toolbox.runs,
  };
}

function baseOptions(home: string, url: string): Options {
  return {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-ant-dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    model: 'claude-sonnet-4-5',
    settingSources: [],
    tools: [],
    allowedTools: ['mcp__scene'],
    maxTurns: 60,
    // Without it the SDK does not say how many tokens an answer had.
    includePartialMessages: true,
  };
}

/** A subagent of the SDK. */
function withAgent({ instructions, name }: AgentBelow): Options {
  const agent = { description: 'Digs.', prompt: instructions, tools: ['mcp__scene__look'] };
  return { agents: { [name]: agent }, tools: ['Agent'], allowedTools: ['mcp__scene', 'Agent'] };
}

/** The call of the SDK's own tool that starts a subagent. */
function delegation({ name, ...call }: ModelCall): ModelCall {
  const args = { description: 'a task', prompt: 'Dig.', subagent_type: name, run_in_background: false };
  return { ...call, name: 'Agent', args };
}

function hooksOf(scene: ClaudeScene): Hooks {
  const theirs: Hooks = { ...scene.hooks, ...(scene.userHookThrows === true ? throwingHooks() : {}) };
  if (scene.run !== undefined && scene.isUnhooked !== true) {
    return claudeHooks(scene.run, { ...scene.adapter, hooks: theirs, forceTurnAtStop: scene.forceTurn === true });
  }
  return scene.idleHooks === true ? idleHooks() : theirs;
}

function throwingHooks(): Hooks {
  const hooks = [
    async (): Promise<never> => {
      throw new Error('a hook of the user is broken');
    },
  ];
  return { UserPromptSubmit: [{ hooks }], PreToolUse: [{ hooks }], PostToolUse: [{ hooks }], Stop: [{ hooks }] };
}

/** Hooks that do nothing, for the events that coxswain listens to. */
function idleHooks(): Hooks {
  const hooks = [async (): Promise<Record<string, never>> => ({})];
  return {
    SessionStart: [{ hooks }],
    UserPromptSubmit: [{ hooks }],
    PreToolUse: [{ hooks }],
    PostToolUse: [{ hooks }],
    PostToolUseFailure: [{ hooks }],
    PostToolBatch: [{ hooks }],
    Stop: [{ hooks }],
    SubagentStart: [{ hooks }],
    SubagentStop: [{ hooks }],
    PreCompact: [{ hooks }],
  };
}

function toolServer(toolbox: ScriptedToolbox): ReturnType<typeof createSdkMcpServer> {
  return createSdkMcpServer({
    name: 'scene',
    version: '1.0.0',
    alwaysLoad: true,
    tools: toolbox.names.map((name) => ({
      name,
      description: `The tool ${name} of the scene.`,
      inputSchema: { at: z.number().optional(), note: z.string().optional() },
      // Only tools that read are run at the same time.
      annotations: { readOnlyHint: true },
      handler: async (args: unknown) => ({ content: [{ type: 'text', text: await toolbox.run(name, args) }] }),
    })),
  });
}

/** The SDK's streaming input. */
async function* prompts(scene: ClaudeScene, answered: Answered): AsyncGenerator<SDKUserMessage> {
  for (const content of [scene.prompt, ...(scene.morePrompts ?? [])]) {
    yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
    await answered.wait();
  }
}

/** Lets one thing wait until another has happened once more. */
class Answered {
  #happened = Promise.withResolvers<void>();

  next(): void {
    this.#happened.resolve();
  }

  async wait(): Promise<void> {
    await this.#happened.promise;
    this.#happened = Promise.withResolvers<void>();
  }
}

/** Without content that differs in every session. */
function withoutIds(text: string, sessionId: string): string {
  const named = sessionId === '' ? text : text.replaceAll(sessionId, 'SESSION');
  return named.replace(/[0-9a-f]{64}/g, 'DEVICE');
}

/** The CLI's own count of what is left, which stands behind whichever result came last. */
const OWN_COUNT = /\s*<system-reminder>\s*<total_tokens>[^<]*<\/total_tokens>\s*<\/system-reminder>\s*/g;

/** Results of calls that ran at once come in the order in which they finished, which differs from run to run. */
function inOrder({ raw, messages }: NeutralRequest): NeutralRequest {
  const sorted = messages.map((message) => ({ ...message, text: message.text.replace(OWN_COUNT, '') }));
  for (let at = 1; at < sorted.length; at += 1) {
    for (let to = at; to > 0; to -= 1) {
      const [before, here] = [sorted[to - 1], sorted[to]];
      if (before?.role !== 'tool' || here?.role !== 'tool') break;
      if ((before.toolCallId ?? '') <= (here.toolCallId ?? '')) break;
      [sorted[to - 1], sorted[to]] = [here, before];
    }
  }
  return { raw, messages: sorted };
}
