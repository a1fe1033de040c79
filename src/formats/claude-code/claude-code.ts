import { isJsonObject } from '../../core/base/json.ts';
import { ClaudeCodeImport } from './claude-code-import.ts';
import type { LineImporter } from '../importer.ts';

const SPEAKERS: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);
/** Types of entries that are not part of the conversation. A file may begin with many of them. */
const COMPANIONS: ReadonlySet<unknown> = new Set([
  'summary',
  'file-history-snapshot',
  'progress',
  'queue-operation',
  'attachment',
  'ai-title',
  'custom-title',
  'last-prompt',
  'mode',
  'permission-mode',
  'agent-name',
  'result',
  'stream_event',
]);

/**
 * Reads Claude Code transcripts (`<sessionId>.jsonl`, `<sessionId>/subagents/agent-<id>.jsonl`) and the output of `claude -p
 * --output-format stream-json`. Every session in a file is a run, and subagents are child runs. A tool result without
 * `is_error` succeeded, because the format omits the flag on success.
 *
 * Memory: for each active run one answer, the open calls and the call ids; also the last 8,192 entry ids.
 */
export const claudeCodeImporter: LineImporter = {
  shape: 'lines',
  format: 'claude-code',
  recognise(firstLines) {
    const objects = firstLines.filter((line) => isJsonObject(line));
    const messageCount = objects.filter((line) => isMessage(line)).length;
    const companionCount = objects.filter((line) => isCompanion(line)).length;
    if (messageCount > 0) return messageCount + companionCount === firstLines.length ? 0.98 : 0.9;
    return companionCount > 0 && companionCount === firstLines.length ? 0.6 : 0;
  },
  open: (source) => new ClaudeCodeImport(source),
};

function isMessage(line: Readonly<Record<string, unknown>>): boolean {
  if (!SPEAKERS.has(line.type)) return false;
  return typeof line.sessionId === 'string' ? typeof line.uuid === 'string' : typeof line.session_id === 'string';
}

function isCompanion(line: Readonly<Record<string, unknown>>): boolean {
  return (
    COMPANIONS.has(line.type) &&
    ['sessionId', 'session_id', 'leafUuid', 'messageId', 'uuid'].some((member) => typeof line[member] === 'string')
  );
}
