import {
  createSdkMcpServer,
  query,
  type McpSdkServerConfigWithInstance,
  type Options,
  type Query,
} from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { claudeHooks, coxswainTools, observed } from '../src/adapters/claude/index.ts';
import { createCoxswain } from '../src/index.ts';

/** Code that must type-check against the real SDK; never run. */
export function typesFit(): void {
  const run = createCoxswain().startRun();
  const hooks: Options['hooks'] = claudeHooks(run);
  const theirs: NonNullable<Options['hooks']> = { Notification: [{ hooks: [async () => ({})] }] };
  const merged: Options['hooks'] = claudeHooks(run, { hooks: theirs, forceTurnAtStop: true });
  const literal: Options['hooks'] = claudeHooks(run, {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [async () => ({ decision: 'approve' as const })] }] },
  });
  const tools: McpSdkServerConfigWithInstance = coxswainTools(run, { createSdkMcpServer, z });
  const messages: Query = query({ prompt: 'go', options: { hooks: merged, mcpServers: { coxswain: tools } } });
  void (async (): Promise<void> => {
    for await (const message of observed(run, messages)) if (message.type === 'result') void message.total_cost_usd;
  });
  // @ts-expect-error a hook of theirs that the SDK would not take
  const wrong: Options['hooks'] = claudeHooks(run, { hooks: { PreToolUse: [{ hooks: [async () => 'no answer'] }] } });
  void [hooks, literal, wrong];
}
