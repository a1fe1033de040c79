import {
  textOrUndefined,
  type Json,
  type JsonMembers,
  isJsonObject,
  membersOf,
  present,
} from '../../core/base/json.ts';
import { HOST_NOTE } from '../../core/facts/last-act.ts';
import { isOwnCommand, slashCommand } from '../../core/facts/task-title.ts';
import { answerCost } from '../../core/records/answer-cost.ts';
import type { StoredUsage } from '../../core/records/agent-message.ts';
import { MODEL_PRICES } from '../../core/records/model-prices.ts';
import { sourceResult, sourceUsage } from '../parts/source-content.ts';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

interface ClaudeToolResult {
  readonly sourceId: string | undefined;
  readonly result: Json;
  readonly isError: boolean;
  readonly durationMs?: number;
  readonly atMs: number | undefined;
}

/** What the host writes as a user message besides the notes that give the agent no work. */
const HOST_TEXT = /^(?:<(?:system-reminder|task-notification|user-memory-input)|Caveat: )/;

/** The message that a person or the host wrote while the agent worked, which stands beside results only. Undefined without one. */
export function queuedMessage(entry: JsonMembers): JsonMembers | undefined {
  if (entry.type !== 'attachment') return undefined;
  const { commandMode, prompt: content, type } = membersOf(entry.attachment);
  if (type !== 'queued_command' || (typeof content !== 'string' && !Array.isArray(content))) return undefined;
  return { ...entry, type: 'user', message: { content }, isMeta: true, isOfHost: commandMode !== 'prompt' };
}

/** Claude Code writes it when a session goes on after its process was killed; no model was asked. */
export function isFiller({ isApiErrorMessage, message, type }: JsonMembers): boolean {
  if (type !== 'assistant' || isApiErrorMessage === true || !isJsonObject(message)) return false;
  return (
    message['model'] === '<synthetic>' && JSON.stringify(message['content'] ?? '').includes('No response requested.')
  );
}

export function blocksOf(entry: Readonly<Record<string, unknown>>): readonly unknown[] {
  const content = isJsonObject(entry.message) ? entry.message.content : undefined;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}

/** The tool LSP, and a subagent whose request failed, report failures without the flag. */
const UNFLAGGED_ERROR = /^(?:Error performing \w+: |API Error: [^]*\nagentId: )/;

/** As the model saw it. Without `is_error` it succeeded: only failures have the flag. `ranMs`: how long the call ran. */
export function resultInBlock(
  block: unknown,
  atMs: number | undefined,
  ranMs?: (callId: string | undefined) => number | undefined,
): ClaudeToolResult | undefined {
  if (!isJsonObject(block) || block.type !== 'tool_result') return undefined;
  const sourceId = textOrUndefined(block.tool_use_id);
  const result = sourceResult(block.content);
  return {
    sourceId,
    result,
    isError: block.is_error === true || (typeof result === 'string' && UNFLAGGED_ERROR.test(result)),
    ...present({ durationMs: ranMs?.(sourceId) }),
    atMs,
  };
}

/** Types of calls that the host runs, and of calls that the model's provider runs. The results of the latter are in the same answer. */
const CALL_TYPES: ReadonlySet<unknown> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);

export function isCall(block: unknown): block is Readonly<Record<string, unknown>> {
  return isJsonObject(block) && CALL_TYPES.has(block.type);
}

/** Most of these results have no `is_error`: a failed call has content whose type ends in `_error`. */
export function providerResultOf(block: unknown, atMs: number | undefined): ClaudeToolResult | undefined {
  if (!isJsonObject(block) || typeof block.type !== 'string' || !block.type.endsWith('_tool_result')) return undefined;
  const { content } = block;
  const hasFailed = isJsonObject(content) && typeof content.type === 'string' && content.type.endsWith('_error');
  return {
    sourceId: textOrUndefined(block.tool_use_id),
    result: sourceResult(content),
    isError: hasFailed || block.is_error === true,
    atMs,
  };
}

/** What the user asked in the texts of one message, without what the host put around it. Undefined if nothing is left. */
export function taskIn(texts: readonly string[]): string | undefined {
  const command = texts.map((text) => commandIn(text)).find((found) => found !== undefined);
  if (command !== undefined) return command;
  const own = texts.filter((text) => {
    const begin = text.trimStart();
    return begin !== '' && !HOST_NOTE.test(begin) && !HOST_TEXT.test(begin);
  });
  return own.length === 0 ? undefined : own.join('\n');
}

/** A slash command as the user typed it: `/fix-issue 4711 with tests`. Undefined for the commands of the program itself. */
function commandIn(text: string): string | undefined {
  const { args = '', name } = slashCommand(text) ?? {};
  if (name === undefined || !/^\/[\w:.-]{1,80}$/.test(name) || isOwnCommand(name)) return undefined;
  return `${name} ${args.slice(0, 4_000)}`.trim();
}

/** An entry in which Claude Code of early 2026 reports a message of a subagent, as the subagent's own entry; undefined for any other. */
export function entryOfSubagent(entry: JsonMembers): (JsonMembers & { readonly agentId: string }) | undefined {
  const { data, ...common } = entry;
  const { agentId, message, type } = membersOf(data);
  if (type !== 'agent_progress' || typeof agentId !== 'string' || !isJsonObject(message)) return undefined;
  return { ...common, parentUuid: undefined, ...message, agentId, isSidechain: true };
}

/** Folder of the files of a session's subagents: `X/subagents` beside `X.jsonl`. */
export function subagentFolder(sessionFile: string): string {
  return join(dirname(sessionFile), basename(sessionFile, '.jsonl'), 'subagents');
}

/** The file of a subagent, or the place where it would be. Subagents of a workflow are in `workflows/wf_…`. */
export function subagentFile(sessionFile: string, agentId: string): string {
  const folder = subagentFolder(sessionFile);
  const workflows = join(folder, 'workflows');
  const name = `agent-${basename(agentId)}.jsonl`;
  const file = join(folder, name);
  if (existsSync(file) || !existsSync(workflows)) return file;
  const files = readdirSync(workflows).map((workflow) => join(workflows, workflow, name));
  return files.find((one) => existsSync(one)) ?? file;
}

/** Returns true for an answer of another session: a fork begins with them. */
export function isCopiedAnswer({ requestSessionId: originalId, sessionId, type }: JsonMembers): boolean {
  return type === 'assistant' && typeof originalId === 'string' && originalId !== sessionId;
}

/** The usage of an answer, with that of the model that it asked for advice: Claude Code counts this one apart. */
export function usageOf({ model, usage }: JsonMembers): StoredUsage | undefined {
  const own = sourceUsage(usage);
  const iterations = membersOf(usage)['iterations'];
  const asked = (Array.isArray(iterations) ? iterations.map(membersOf) : []).filter(
    ({ type }) => type === 'advisor_message',
  );
  if (own === undefined || asked.length === 0) return own;
  const total: Record<string, number> = {};
  for (const [counts = {}, name] of [
    [own, model] as const,
    ...asked.map((one) => [sourceUsage(one), one['model']] as const),
  ]) {
    const costUsd = answerCost(counts, textOrUndefined(name), MODEL_PRICES);
    // Without a price of each model, the cost is unknown.
    if (costUsd === undefined) return own;
    for (const [field, count] of Object.entries(counts)) total[field] = (total[field] ?? 0) + count;
    total['cost_usd'] = (total['cost_usd'] ?? 0) + costUsd;
  }
  return total;
}
