import { basename, dirname } from 'node:path';

import { type JsonMembers, membersOf, numberOrUndefined, present, textOrUndefined } from '../../core/base/json.ts';
import { type StoredContentBlock, type StoredUsage, textOfContent } from '../../core/records/agent-message.ts';
import type { ImportItem, ImportSource, LineImporter } from '../importer.ts';
import { confidence, ObjectLines, plainText } from '../parts/object-lines.ts';
import { SessionItems, type SessionIdentity } from '../parts/session-items.ts';
import {
  sourceBlock,
  sourceBlocks,
  sourceCall,
  sourceResult,
  sourceStem,
  sourceTimeMs,
  namedUsage,
} from '../parts/source-content.ts';

/** Events without content for a run. */
const SILENT = /^(?:Hook\w+|MCP\w+|CompactionEnd|PlanDisplay|ToolCallRequest|Question\w+|Notification)$/;

/** `~/.kimi/sessions/<folder>/<id>/wire.jsonl` of Kimi CLI: the events of a session, and of its subagents in wrappers. */
export const kimiImporter: LineImporter = {
  shape: 'lines',
  format: 'kimi',
  recognise(firstLines) {
    // Kimi Code's file has the same first line.
    const events = firstLines.filter((line) => membersOf(line).type !== 'metadata');
    return confidence(events.length === 0 ? firstLines : events, isEvent, { all: 0.97, some: 0.9 });
  },
  open: (source) => new KimiImport(source),
};

function isEvent({ message, protocol_version: version, type }: JsonMembers): boolean {
  if (type === 'metadata') return typeof version === 'string';
  const { payload, type: name } = membersOf(message);
  return typeof name === 'string' && /^[A-Z]/.test(name) && typeof payload === 'object' && payload !== null;
}

class KimiImport extends ObjectLines {
  readonly #main: KimiRun;
  readonly #agents = new Map<string, KimiRun>();
  readonly #id: string;

  constructor(source: ImportSource) {
    super();
    const folder = basename(dirname(source.path));
    this.#id = source.name.startsWith('wire.') && folder !== '.' && folder !== '' ? folder : sourceStem(source);
    this.#main = new KimiRun({ id: this.#id, conversationId: this.#id });
  }

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    if (value.type === 'metadata') return;
    const { payload, type } = membersOf(value.message);
    if (typeof type !== 'string') this.lost.add('lines of an unknown form', lineNumber);
    else yield* this.#event(this.#main, type, membersOf(payload), sourceTimeMs(value.timestamp));
  }

  *finish(): Generator<ImportItem> {
    for (const run of [this.#main, ...this.#agents.values()]) yield* run.session.finish();
  }

  *#event(run: KimiRun, type: string, payload: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    if (type !== 'SubagentEvent') {
      if (!(yield* run.event(type, payload, atMs))) this.skipped.add(`${type} events`);
      return;
    }
    const id = textOrUndefined(payload.agent_id) ?? plainText(payload.parent_tool_call_id ?? payload.task_tool_call_id);
    const agent = this.#agents.get(id) ?? this.#newAgent(id, payload.subagent_type);
    const event = membersOf(payload.event);
    // A wrapper in a wrapper would be of a subagent of this subagent.
    if (event.type === 'SubagentEvent') this.skipped.add('events of deeper subagents');
    else yield* this.#event(agent, plainText(event.type), membersOf(event.payload), atMs);
  }

  #newAgent(id: string, type: unknown): KimiRun {
    const about = { parentId: this.#id, conversationId: this.#id, ...present({ agentName: textOrUndefined(type) }) };
    const agent = new KimiRun({ id: `${this.#id}/agent-${id}`, ...about });
    this.#agents.set(id, agent);
    return agent;
  }
}

class KimiRun {
  readonly session: SessionItems;
  /** Calls that wait for the approval of the user, by the id of the request. */
  readonly #requests = new Map<unknown, string>();
  readonly #refused = new Set<string>();

  constructor(identity: Omit<SessionIdentity, 'format'>) {
    this.session = new SessionItems({ ...identity, format: 'kimi' });
  }

  /** @returns false for a type that is not read */
  *event(type: string, payload: JsonMembers, atMs: number | undefined): Generator<ImportItem, boolean> {
    const { session } = this;
    switch (type) {
      case 'TurnBegin':
      case 'SteerInput': {
        const blocks = sourceBlocks(payload.user_input);
        session.outcome(undefined, atMs);
        yield* session.user(blocks, atMs, textOfContent(blocks));
        return true;
      }
      case 'StepBegin':
        session.closeAnswer();
        return true;
      case 'ContentPart':
        yield* session.answer({ joins: true, parts: [contentBlock(payload)] }, atMs);
        return true;
      case 'ToolCall':
        yield* session.answer({ joins: true, parts: [{ type: 'call', call: sourceCall(payload) }] }, atMs);
        return true;
      case 'ToolResult':
        yield* this.#resultItems(payload, atMs);
        return true;
      case 'StatusUpdate':
        session.usage(usageOf(payload));
        return true;
      case 'ApprovalRequest':
        this.#requests.set(payload.id, plainText(payload.tool_call_id));
        return true;
      case 'ApprovalResponse':
      case 'ApprovalRequestResolved': {
        const call = this.#requests.get(payload.request_id);
        this.#requests.delete(payload.request_id);
        if (call !== undefined && payload.response === 'reject') this.#refused.add(call);
        return true;
      }
      case 'CompactionBegin':
        yield* session.compaction('unspecified', atMs);
        return true;
      case 'TurnEnd':
        session.outcome('ended', atMs);
        return true;
      case 'StepInterrupted':
        session.outcome({ outcome: 'aborted', reason: 'interrupted' }, atMs);
        return true;
      default:
        return SILENT.test(type);
    }
  }

  *#resultItems(payload: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const { is_error: isError, message, output } = membersOf(payload.return_value);
    const sourceId = textOrUndefined(payload.tool_call_id);
    const text = sourceResult(output);
    // The model reads the message after the output of a failed call.
    const isFailure = isError === true && typeof message === 'string' && typeof text === 'string';
    const result = isFailure ? [text, message].filter((part) => part !== '').join('\n') : text;
    const outcome = sourceId !== undefined && this.#refused.delete(sourceId) ? 'refused' : undefined;
    yield* this.session.result({ sourceId, result, isError: isError === true, outcome, atMs });
  }
}

export function contentBlock(part: JsonMembers): StoredContentBlock {
  return part.type === 'think' && typeof part.think === 'string'
    ? { type: 'reasoning', text: part.think }
    : sourceBlock(part);
}

function usageOf({ max_context_tokens: window, token_usage: usage }: JsonMembers): StoredUsage | undefined {
  const { input_cache_creation: write, input_cache_read: read, input_other: other, output } = membersOf(usage);
  return kimiUsage({ other, read, write, output, window });
}

/** The counts of the input exclude each other. */
export function kimiUsage({ other, output, read, window, write }: JsonMembers): StoredUsage | undefined {
  const [ofOther, ofRead = 0, ofWrite = 0] = [other, read, write].map((count) => numberOrUndefined(count));
  return namedUsage({
    input_tokens: ofOther === undefined ? undefined : ofOther + ofRead + ofWrite,
    output_tokens: output,
    cache_read_tokens: ofRead,
    cache_write_tokens: ofWrite,
    context_window_tokens: window,
  });
}
