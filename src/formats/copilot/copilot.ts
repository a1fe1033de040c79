import { type JsonMembers, membersOf, textOrUndefined, present, isJsonObject } from '../../core/base/json.ts';
import { confidence, ObjectLines } from '../parts/object-lines.ts';
import type { ImportItem } from '../import-item.ts';
import type { ImportSource, LineImporter } from '../importer.ts';
import { sourceStem, sourceTimeMs } from '../parts/source-content.ts';
import { UniqueNames } from '../parts/skip-counts.ts';
import { CopilotRun } from './copilot-run.ts';

const EVENT_TYPE = /^(?:session|assistant|user|system|tool|hook|subagent|permission|model)\.\w+$|^abort$/;

/**
 * Reads the events of a GitHub Copilot CLI session (`~/.copilot/session-state/<id>/events.jsonl`). The session is a run, and
 * each subagent is a child run.
 *
 * Memory: one answer and the call ids per active agent.
 */
export const copilotImporter: LineImporter = {
  shape: 'lines',
  format: 'copilot',
  recognise(firstLines) {
    const isEvent = ({ type, data }: JsonMembers): boolean =>
      typeof type === 'string' && EVENT_TYPE.test(type) && isJsonObject(data);
    return confidence(firstLines, isEvent, { all: 0.98, some: 0.8 });
  },
  open: (source) => new CopilotImport(source),
};

class CopilotImport extends ObjectLines {
  readonly #agents = new Map<string, CopilotRun>();
  /** Creates a run id for each start of an agent, because an agent may be started again after its end. */
  readonly #runIds = new UniqueNames();
  #sessionId: string;
  #main: CopilotRun | undefined;

  constructor(source: ImportSource) {
    super();
    this.#sessionId = sourceStem(source);
  }

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    if (!isJsonObject(value) || typeof value.type !== 'string' || !isJsonObject(value.data)) {
      this.lost.add('lines that are not events', lineNumber);
      return;
    }
    const { type, data } = value;
    const atMs = sourceTimeMs(value.timestamp);
    const agentId = textOrUndefined(value.agentId) ?? textOrUndefined(data.parentToolCallId);
    switch (type) {
      case 'session.start':
        this.#sessionId = textOrUndefined(data.sessionId) ?? this.#sessionId;
        break;
      case 'session.resume':
        this.#mainRun().outcome(undefined, atMs);
        break;
      case 'session.shutdown': {
        const snapshot = membersOf(data.accountingSnapshot);
        this.#mainRun().totals(membersOf(snapshot.modelMetrics ?? data.modelMetrics));
        this.#mainRun().shutDown(data.shutdownType === 'error', atMs);
        break;
      }
      case 'abort':
        this.#mainRun().outcome({ outcome: 'aborted', reason: 'interrupted' }, atMs);
        break;
      case 'subagent.started':
        this.#agentRun(agentId ?? textOrUndefined(data.toolCallId), data);
        break;
      case 'subagent.completed':
      case 'subagent.failed':
        yield* this.#endItems(
          agentId ?? textOrUndefined(data.toolCallId),
          type === 'subagent.failed' ? 'error' : 'ended',
          atMs,
        );
        break;
      default: {
        const run = agentId === undefined ? this.#mainRun() : this.#agentRun(agentId, {});
        if (!(yield* run.event(type, data, atMs))) this.skipped.add(type);
      }
    }
  }

  *finish(): Generator<ImportItem> {
    yield* this.#mainRun().finish();
    for (const run of this.#agents.values()) yield* run.finish();
  }

  #mainRun(): CopilotRun {
    this.#main ??= new CopilotRun({ id: this.#sessionId, conversationId: this.#sessionId });
    return this.#main;
  }

  #agentRun(agentId: string | undefined, data: JsonMembers): CopilotRun {
    const key = agentId ?? 'unnamed';
    const knownRun = this.#agents.get(key);
    if (knownRun !== undefined) return knownRun;
    const agentName = textOrUndefined(data.agentName);
    const parent = textOrUndefined(data.parentId);
    const run = new CopilotRun({
      id: this.#runIds.take(`${this.#sessionId}/agent-${key}`),
      parentId:
        parent !== undefined && this.#agents.has(parent) ? `${this.#sessionId}/agent-${parent}` : this.#sessionId,
      conversationId: this.#sessionId,
      ...present({ agentName }),
    });
    this.#agents.set(key, run);
    return run;
  }

  *#endItems(agentId: string | undefined, outcome: string, atMs: number | undefined): Generator<ImportItem> {
    const run = this.#agents.get(agentId ?? 'unnamed');
    if (run === undefined) return;
    run.outcome(outcome, atMs);
    yield* run.finish();
    this.#agents.delete(agentId ?? 'unnamed');
  }
}
