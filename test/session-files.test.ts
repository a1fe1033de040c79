import { type JsonMembers, listOf, membersOf } from '../src/core/base/json.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { importSource } from '../src/formats/import-source.ts';
import { plainText } from '../src/formats/parts/object-lines.ts';
import { decodeJson } from '../src/formats/reading/json-text.ts';
import { sharedPath } from './support/shared-data.ts';

/** The figures of a session file. */
interface Walk {
  readonly runs: number;
  readonly calls: number;
  readonly failures: number;
}

const WALKS: Readonly<Record<string, (entries: readonly JsonMembers[]) => Walk>> = {
  codex: walkCodex,
  'copilot-cli': walkCopilot,
  'gemini-cli': walkClaude,
  'claude-code-sessions': walkClaude,
};

const FOLDERS = ['raw/codex', 'raw/copilot-cli', 'raw/gemini-cli', 'claude-code-sessions'];

test.skipIf(sharedPath('trajectories') === undefined).each(FOLDERS)(
  'runs, calls and failures of every session in %s are those of a direct walk (needs ../shared)',
  async (folder) => {
    const path = sharedPath('trajectories', folder) ?? '';
    const walk = WALKS[folder.replace('raw/', '')];
    const files = readdirSync(path).filter((file) => /\.jsonl(?:\.gz)?$/.test(file));
    const read: Record<string, Walk> = {};
    const walked: Record<string, Walk | undefined> = {};
    for (const file of files) {
      read[file] = await importedFrom(join(path, file));
      walked[file] = walk?.(entriesOf(join(path, file)));
    }
    expect(files.length).toBeGreaterThan(0);
    expect(read).toEqual(walked);
  },
);

async function importedFrom(path: string): Promise<Walk> {
  const walk = { runs: 0, calls: 0, failures: 0 };
  for await (const item of importSource(path)) {
    if (item.type === 'run') walk.runs += 1;
    else if (item.type === 'record' && item.payload.kind === 'tool_started') walk.calls += 1;
    else if (item.type === 'record' && item.payload.kind === 'tool_ended' && item.payload.is_error) walk.failures += 1;
  }
  return walk;
}

function entriesOf(path: string): readonly JsonMembers[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').flatMap((line) => {
    // Two lines of the sessions are damaged. A walk reads members that may be missing.
    const decoded = decodeJson(line);
    return decoded.ok ? [membersOf(decoded.value)] : [];
  });
}

function walkCodex(entries: readonly JsonMembers[]): Walk {
  const payloads = entries.flatMap(({ type, payload }) => (type === 'response_item' ? [membersOf(payload)] : []));
  const asked = new Map(
    payloads.flatMap(({ arguments: args, call_id: id }) => (typeof args === 'string' ? [[id, args]] : [])),
  );
  const outputs = payloads.flatMap(({ call_id: id, output }) => {
    if (typeof output !== 'string') return [];
    // A search that found nothing answers by its exit code.
    const line = asked.get(id) ?? '';
    const isEmpty = /\nOutput:\n?\s*$/.test(output) && /\b(?:rg|command -v|git config) /.test(line);
    const saysNo = isEmpty || (/&& rg (?:\\"[^"]*"|[^&|;])*$/.test(line) && /exited with code 1\n/.test(output));
    return saysNo ? [] : [output];
  });
  const failed = outputs.filter((text) => {
    const code = /^(?:Chunk ID: .*\n)?(?:Exit code: (\d+)|Wall time: .*\nProcess exited with code (\d+))\n/.exec(text);
    if (code !== null) return (code[1] ?? code[2]) !== '0';
    return /^(?:apply_patch verification failed|write_stdin failed|aborted by user)/.test(text);
  });
  // The text of an MCP server's answer does not say whether it failed; an event beside it does.
  const failedAtServer = entries.filter(({ payload }) => {
    const { type, result } = membersOf(payload);
    const { Ok: answer, Err: fault } = membersOf(result);
    return type === 'mcp_tool_call_end' && (fault !== undefined || membersOf(answer).isError === true);
  });
  return {
    runs: 1,
    calls: payloads.filter(({ type }) => typeof type === 'string' && type.endsWith('_call')).length,
    failures: failed.length + failedAtServer.length,
  };
}

function walkCopilot(entries: readonly JsonMembers[]): Walk {
  const ended = entries.filter(({ type }) => type === 'tool.execution_complete');
  return {
    runs: 1,
    calls: entries.reduce((sum, { data }) => sum + listOf(membersOf(data).toolRequests).length, 0),
    failures: ended.filter(({ data }) => membersOf(data).success === false).length,
  };
}

/** Entries that stand twice, in a session that was opened again, count once. */
function walkClaude(entries: readonly JsonMembers[]): Walk {
  const seen = new Set<unknown>();
  const sessions = new Set<unknown>();
  const calls = new Map<unknown, boolean>();
  for (const { type, uuid, sessionId, agentId, message } of entries.map(entryOrProgress)) {
    if ((type !== 'user' && type !== 'assistant') || seen.has(uuid)) continue;
    if (uuid !== undefined) seen.add(uuid);
    sessions.add(`${plainText(sessionId)}/${plainText(agentId)}`);
    for (const item of listOf(membersOf(message).content)) {
      const block = membersOf(item);
      if (block.type === 'tool_use') calls.set(block.id, false);
      else if (block.type === 'tool_result' && calls.has(block.tool_use_id)) {
        // The tool LSP has no flag.
        const hasFailed = plainText(block.content).startsWith('Error performing ');
        calls.set(block.tool_use_id, hasFailed || block.is_error === true);
      }
    }
  }
  return { runs: sessions.size, calls: calls.size, failures: [...calls.values()].filter(Boolean).length };
}

/** Claude Code of early 2026 reports the messages of a subagent in entries of its session. */
function entryOrProgress(entry: JsonMembers): JsonMembers {
  const { agentId, message, type } = membersOf(entry.data);
  return type === 'agent_progress' ? { sessionId: entry.sessionId, agentId, ...membersOf(message) } : entry;
}
