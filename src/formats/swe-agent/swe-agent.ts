import { type JsonMembers, listOf, membersOf, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource } from '../importer.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sweAgentRunItems } from './swe-agent-run.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { RunItems } from '../parts/run-items.ts';
import { sourceCall } from '../parts/source-call.ts';
import { sourceBlocks, sourceContent, sourceResult } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { sourceUsage } from '../parts/source-usage.ts';
import { sweAgentOutcome } from './swe-agent-outcome.ts';

/** Matches a command in an answer of the text-based agents. */
const FENCED = /```(?:bash|sh|mswea_bash_command)[^\S\n]*\n([^]*?)\n?```/g;
const RETURN_CODE = /^\s*<returncode>(-?\d+)<\/returncode>/;

/** Returns true for a mini-SWE-agent file, which marks its format. */
function isMiniTrajectory(document: JsonMembers): boolean {
  if (!Array.isArray(document.messages)) return false;
  const format = document.trajectory_format;
  return (
    (typeof format === 'string' && format.startsWith('mini-swe-agent')) || 'mini_version' in membersOf(document.info)
  );
}

/**
 * Yields the items of one mini-SWE-agent run. It consists of chat messages in which an answer runs shell commands.
 *
 * Counting rule: the calls of an answer are its `tool_calls`; else its `extra.actions` (tool `bash`); else its fenced `bash`
 * block, if there is exactly one (the agent refuses other counts). Their results follow in order. A non-zero return code is
 * the error flag; without one the text decides.
 */
function* miniSweAgentItems(document: JsonMembers, id: string): Generator<ImportItem> {
  const messages = listOf(document.messages).map((message) => membersOf(message));
  const info = membersOf(document.info);
  const items = new RunItems(id);
  yield items.begin('swe-agent', {
    task: textOrUndefined(sourceResult(messages.find((message) => message.role === 'user')?.content)),
    modelId: textOrUndefined(membersOf(membersOf(info.config).model).model_name),
  });
  for (const message of messages) yield* messageItems(items, message);
  yield* items.finish(sweAgentOutcome(info));
}

function* messageItems(items: RunItems, message: JsonMembers): Generator<ImportItem> {
  const extra = membersOf(message.extra);
  const atMs = sourceTimeMs(extra.timestamp) ?? sourceTimeMs(message.timestamp);
  switch (message.role) {
    case 'system':
      yield items.message('system', sourceContent(message.content), atMs);
      break;
    case 'assistant': {
      const calls = callsOf(message, extra).map((call) => ({ type: 'call' as const, call }));
      const usage = sourceUsage(membersOf(extra.response).usage);
      yield* items.answer({ parts: [...sourceBlocks(message.content), ...calls], usage }, atMs);
      break;
    }
    case 'tool':
    case 'user':
      if (message.role === 'tool' || items.calls.openCount > 0) yield* resultItems(items, message, extra);
      else yield items.message('user', sourceContent(message.content), atMs);
      break;
    case 'exit':
      items.skipped.add('exit messages of the harness');
      break;
    default:
      items.lost.add('messages of unknown role');
  }
}

function resultItems(items: RunItems, message: JsonMembers, extra: JsonMembers): readonly ImportItem[] {
  const result = sourceResult(message.content);
  const code = extra.returncode ?? (typeof result === 'string' ? RETURN_CODE.exec(result)?.[1] : undefined);
  const isError = code === undefined || code === null ? undefined : Number(code) !== 0;
  const sourceId = textOrUndefined(message.tool_call_id);
  return items.result({ sourceId, result, isError }, sourceTimeMs(extra.timestamp) ?? sourceTimeMs(message.timestamp));
}

function callsOf(message: JsonMembers, extra: JsonMembers): readonly CallShape[] {
  const calls = listOf(message.tool_calls);
  if (calls.length > 0) return calls.map((call) => sourceCall(call));
  const actions = listOf(extra.actions).map((action) => membersOf(action));
  if (actions.length > 0) {
    return actions.map((action) => ({
      sourceId: textOrUndefined(action.tool_call_id),
      name: 'bash',
      args: { command: textOrUndefined(action.command) ?? '' },
    }));
  }
  const text = sourceResult(message.content);
  const blocks = typeof text === 'string' ? [...text.matchAll(FENCED)] : [];
  const [, command] = blocks[0] ?? [];
  return blocks.length === 1 && command !== undefined ? [{ name: 'bash', args: { command } }] : [];
}

const LOOKED_AT = 16;

/**
 * Reads SWE-agent `.traj` files and mini-SWE-agent `.traj.json` files. A `.traj` file contains `{trajectory, history, info}`,
 * only a `history` (demonstrations), or the retry agent's `{attempts}` with one run per attempt. A run is named after its
 * file, because the batch runner names files after instances. For the counting rules see the functions that read each form.
 */
export const sweAgentImporter: DocumentImporter = {
  shape: 'document',
  format: 'swe-agent',
  recognise(document) {
    if (!isJsonObject(document)) return 0;
    if (isMiniTrajectory(document)) return 1;
    const attempts = listOf(document.attempts);
    return Math.max(confidenceOf(document), confidenceOf(membersOf(attempts[0])));
  },
  *read(document, source) {
    const root = membersOf(document);
    const id = textOrUndefined(root.instance_id) ?? sourceStem(source.name);
    if (isMiniTrajectory(root)) yield* miniSweAgentItems(root, id);
    else yield* runsOf(root, id, source);
  },
};

function* runsOf(root: JsonMembers, id: string, source: ImportSource): Generator<ImportItem> {
  const attempts = listOf(root.attempts).filter((attempt) => confidenceOf(membersOf(attempt)) > 0);
  if (attempts.length === 0) {
    yield* sweAgentRunItems(root, id);
    return;
  }
  for (const [index, attempt] of attempts.entries()) {
    yield* sweAgentRunItems(membersOf(attempt), `${id}/attempt-${index + 1}`);
  }
  if (confidenceOf(root) > 0) {
    const message = `left out: the chosen attempt that ${source.name} repeats beside its ${attempts.length} attempts`;
    yield diagnosticItem('note', message);
  }
}

function confidenceOf(document: JsonMembers): number {
  const steps = listOf(document.trajectory).slice(0, LOOKED_AT);
  if (steps.length > 0 && steps.every((step) => isStep(step))) return 0.97;
  const history = listOf(document.history).slice(0, LOOKED_AT);
  if (history.length > 0 && history.every((entry) => isHistoryEntry(entry))) return 0.93;
  const hasEnded = textOrUndefined(membersOf(document.info).exit_status) !== undefined;
  // The run failed before its first step.
  return hasEnded && Array.isArray(document.trajectory) && Array.isArray(document.history) ? 0.8 : 0;
}

function isStep(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.action !== 'string') return false;
  return 'observation' in value && ('response' in value || 'thought' in value || 'state' in value);
}

/** Returns true for chat messages with fields that only this format has. */
function isHistoryEntry(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.role !== 'string') return false;
  return 'agent' in value || 'message_type' in value || 'action' in value || 'is_demo' in value;
}
