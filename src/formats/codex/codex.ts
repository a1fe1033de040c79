import { confidence, plainText, ObjectLines } from '../parts/object-lines.ts';
import { isJsonObject, type JsonMembers, membersOf, textOrUndefined } from '../../core/base/json.ts';
import type { LineImporter, ImportSource } from '../importer.ts';
import { codexFailure, CodexRollout } from './codex-rollout.ts';
import type { ImportItem } from '../import-item.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { ToolAnswerShape } from '../parts/run-items.ts';
import { SessionItems } from '../parts/session-items.ts';
import { asJson, sourceResult, sourceStem, sourceUsage } from '../parts/source-content.ts';

/** Reads the output of `codex exec --json`, one run per thread. The output contains neither times nor the prompt. */
class CodexExec extends ObjectLines {
  #session: SessionItems;
  readonly #open = new Set<string>();
  #lastFailure: string | undefined;
  #thread: string | undefined;

  constructor(source: ImportSource) {
    super();
    this.#session = new SessionItems({ id: sourceStem(source), format: 'codex' });
  }

  *entry(value: JsonMembers): Generator<ImportItem> {
    switch (value.type) {
      case 'thread.started': {
        const id = textOrUndefined(value.thread_id);
        if (id === undefined) break;
        if (this.#thread !== undefined && this.#thread !== id) yield* this.#beginThread(id);
        this.#thread = id;
        this.#session.identify({ id, conversationId: id });
        break;
      }
      case 'turn.started':
        this.#session.outcome(undefined, undefined);
        break;
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        yield* this.#itemItems(membersOf(value.item), value.type === 'item.completed');
        break;
      case 'turn.completed':
        this.#session.usage(sourceUsage(value.usage));
        this.#session.outcome('ended', undefined);
        break;
      case 'turn.failed':
        yield* this.#failureItems(membersOf(value.error).message);
        this.#session.outcome(codexFailure(membersOf(value.error)), undefined);
        break;
      case 'error':
        yield* this.#failureItems(value.message);
        break;
      default:
        this.skipped.add(plainText(value.type));
    }
  }

  *finish(): Generator<ImportItem> {
    yield* this.#session.finish();
  }

  /** Several runs may be appended to one file. */
  *#beginThread(id: string): Generator<ImportItem> {
    yield* this.#session.finish();
    this.#session = new SessionItems({ id, format: 'codex' });
    this.#open.clear();
    this.#lastFailure = undefined;
  }

  *#itemItems(item: JsonMembers, isCompleted: boolean): Generator<ImportItem> {
    const { type } = item;
    if (type === 'error') {
      // The error is a warning of Codex itself, which the model does not see.
      if (isCompleted) this.skipped.add('error items');
    } else if (type === 'agent_message' || type === 'reasoning') {
      const text = textOrUndefined(item.text);
      if (!isCompleted || text === undefined) return;
      const part = { type: type === 'reasoning' ? ('reasoning' as const) : ('text' as const), text };
      yield* this.#session.answer({ joins: true, parts: [part] }, undefined);
    } else {
      yield* this.#callItems(item, isCompleted);
    }
  }

  *#callItems(item: JsonMembers, isCompleted: boolean): Generator<ImportItem> {
    const call = callOf(item);
    const sourceId = call.sourceId ?? '';
    // An item may complete without a start event. It may be updated before it completes.
    if (!this.#open.has(sourceId)) {
      yield* this.#session.answer({ joins: true, parts: [{ type: 'call', call }] }, undefined);
      this.#open.add(sourceId);
    }
    if (!isCompleted) return;
    this.#open.delete(sourceId);
    yield* this.#session.result({ sourceId: call.sourceId, ...resultOf(item), atMs: undefined });
  }

  *#failureItems(message: unknown): Generator<ImportItem> {
    const text = plainText(message);
    // The error of a failed turn repeats the previous error.
    if (text === this.#lastFailure) return;
    this.#lastFailure = text;
    yield* this.#session.failure(text, undefined);
  }
}

function callOf(item: JsonMembers): CallShape {
  const sourceId = textOrUndefined(item.id);
  switch (item.type) {
    case 'command_execution':
      return { sourceId, name: 'exec_command', args: { cmd: asJson(item.command) } };
    case 'file_change':
      return { sourceId, name: 'apply_patch', args: { changes: asJson(item.changes) } };
    case 'mcp_tool_call':
      return {
        sourceId,
        name: `mcp__${plainText(item.server)}__${plainText(item.tool)}`,
        args: asJson(item.arguments ?? {}),
      };
    case 'web_search':
      return { sourceId, name: 'web_search', args: { query: asJson(item.query) } };
    case 'todo_list':
      return { sourceId, name: 'update_plan', args: { plan: asJson(item.items) } };
    default:
      return { sourceId, name: textOrUndefined(item.tool) ?? plainText(item.type), args: asJson(item.arguments ?? {}) };
  }
}

function resultOf(item: JsonMembers): Pick<ToolAnswerShape, 'result' | 'isError' | 'outcome'> {
  const isDeclined = item.status === 'declined';
  const hasFailed = item.status === 'failed' || isDeclined;
  const outcome = isDeclined ? 'refused' : undefined;
  if (item.type === 'command_execution') {
    const { exit_code: exitCode } = item;
    const isError = typeof exitCode === 'number' ? exitCode !== 0 : hasFailed;
    return { result: sourceResult(item.aggregated_output), isError, outcome };
  }
  if (isJsonObject(item.error)) return { result: plainText(item.error.message), isError: true, outcome };
  const { result } = item;
  return {
    result: isJsonObject(result)
      ? sourceResult(result.content ?? result)
      : sourceResult(result ?? item.status ?? 'completed'),
    isError: hasFailed,
    outcome,
  };
}

const ROLLOUT_TYPES: ReadonlySet<unknown> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
  'token_usage_record',
]);

/**
 * Reads Codex rollouts (`$CODEX_HOME/sessions/Y/M/D/rollout-*.jsonl`). Each file is a run. The file of a subagent names its
 * parent.
 *
 * Memory: one answer and the ids of the run's calls.
 */
export const codexRolloutImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    return confidence(firstLines, ({ type, payload }) => ROLLOUT_TYPES.has(type) && isJsonObject(payload), {
      all: 0.98,
      some: 0.9,
    });
  },
  open: (source) => new CodexRollout(source),
};

const EXEC_TYPE = /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))$/;

/** Reads the output of `codex exec --json` as one run. */
export const codexExecImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    return confidence(firstLines, ({ type }) => typeof type === 'string' && EXEC_TYPE.test(type), {
      all: 0.95,
      some: 0.7,
    });
  },
  open: (source) => new CodexExec(source),
};
