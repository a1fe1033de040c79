import {
  type JsonMembers,
  listOf,
  membersOf,
  numberOrUndefined,
  textOrUndefined,
  isJsonObject,
  type Json,
} from '../../core/base/json.ts';
import {
  diagnosticItem,
  type ImportItem,
  type DocumentImporter,
  type ImportSource,
  type LineImport,
  type LineImporter,
} from '../importer.ts';
import { eventsLikeness, isSdkEvent, isStreamEvent, OpenHandsRun } from './openhands-run.ts';
import { totalsOf } from './openhands-usage.ts';
import { dirname, join } from 'node:path';
import { textOfContent } from '../../core/records/agent-message.ts';
import { documentsIn, plainText } from '../parts/object-lines.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import { SkipCounts, UniqueNames } from '../parts/skip-counts.ts';
import { sourceStem, sourceBlocks } from '../parts/source-content.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';

const LOOKED_AT = 8;

/** A list of events or `[action, observation]` pairs, also under `history`, `trajectory` or `events`, or a list of those. */
export const openhandsDocumentImporter: DocumentImporter = {
  shape: 'document',
  format: 'openhands',
  recognise(document) {
    if (!Array.isArray(document)) return recordLikeness(document);
    const entries = document as readonly unknown[];
    return Math.max(eventsLikeness(entries, false), lowestPositive(entries.slice(0, LOOKED_AT).map(recordLikeness)));
  },
  *read(document, source) {
    const ids = new UniqueNames();
    const stem = sourceStem(source.name);
    if (!Array.isArray(document)) {
      const record = membersOf(document);
      yield* openHandsRecordItems(record, ids.take(recordId(record) ?? stem));
      return;
    }
    const entries = document as readonly unknown[];
    if (!entries.some((entry) => recordLikeness(entry) > 0)) {
      yield* openHandsRecordItems({ history: entries }, ids.take(stem));
      return;
    }
    const skipCounts = new SkipCounts();
    for (const [index, entry] of entries.entries()) {
      if (isJsonObject(entry) && recordEvents(entry) !== undefined) {
        yield* openHandsRecordItems(entry, ids.take(recordId(entry) ?? `${stem}-${index + 1}`));
      } else skipCounts.add('entries without events');
    }
    yield* skipCounts.report('error');
  },
};

/** One evaluation record `{instance_id, history, …}` per line (one run each), or one event per line (one run). */
export const openhandsLineImporter: LineImporter = {
  shape: 'lines',
  format: 'openhands',
  recognise(firstLines) {
    if (firstLines.length === 0) return 0;
    return Math.max(
      lowestPositive(firstLines.slice(0, LOOKED_AT).map(recordLikeness)),
      eventsLikeness(firstLines, false),
    );
  },
  open: (source) => new OpenHandsLines(source),
};

class OpenHandsLines implements LineImport {
  readonly #stem: string;
  readonly #ids = new UniqueNames();
  #singleRun: { readonly items: RunItems; readonly events: OpenHandsRun } | undefined;

  constructor(source: ImportSource) {
    this.#stem = sourceStem(source.name);
  }

  *line(value: unknown, lineNumber: number): Generator<ImportItem> {
    if (isJsonObject(value) && recordEvents(value) !== undefined) {
      yield* openHandsRecordItems(value, this.#ids.take(recordId(value) ?? `${this.#stem}-${lineNumber}`));
      return;
    }
    if (this.#singleRun === undefined) {
      if (!isSdkEvent(value) && !isStreamEvent(value)) {
        yield diagnosticItem('error', 'not a record with events and not an event', { line: lineNumber });
        return;
      }
      const items = new RunItems(this.#ids.take(this.#stem));
      this.#singleRun = { items, events: new OpenHandsRun(items) };
      yield items.begin('openhands');
    }
    yield* this.#singleRun.events.event(value);
  }

  *end(): Generator<ImportItem> {
    if (this.#singleRun === undefined) return;
    const { items, events } = this.#singleRun;
    yield* events.end();
    yield* items.finish(openHandsOutcome({}, events.endedAs), events.lastMs);
  }
}

function recordLikeness(value: unknown): number {
  const events = recordEvents(value);
  if (events === undefined || !isJsonObject(value)) return 0;
  if (events.length > 0) return eventsLikeness(events, true);
  // The run failed before its first event.
  return 'history' in value && ('instance_id' in value || 'issue' in value) && 'metrics' in value ? 0.6 : 0;
}

/** Zero scores are tolerated up to a half, because some runs fail at once. */
function lowestPositive(scores: readonly number[]): number {
  const positive = scores.filter((score) => score > 0);
  return positive.length * 2 < scores.length || positive.length === 0 ? 0 : Math.min(...positive);
}

const MAX_ERROR_CHARS = 500;

/** Returns the events of a record under any of their field names. Undefined if the value is not a record. */
function recordEvents(value: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const events = value.history ?? value.trajectory ?? value.events;
  return Array.isArray(events) ? (events as readonly unknown[]) : undefined;
}

function recordId(record: JsonMembers): string | undefined {
  const issue = membersOf(record.issue);
  const number = numberOrUndefined(issue.number);
  const issueId = number === undefined ? undefined : `${plainText(issue.owner)}/${plainText(issue.repo)}#${number}`;
  return (
    textOrUndefined(record.instance_id) ??
    issueId ??
    textOrUndefined(record.conversation_id) ??
    textOrUndefined(record.session_id)
  );
}

/** Yields the items of one record `{history, instruction?, metadata?, error?, …}` of an evaluation, or of a trajectory export. */
function* openHandsRecordItems(record: JsonMembers, id: string): Generator<ImportItem> {
  const { agent_class: agentClass, llm_config: config, llm } = membersOf(record.metadata);
  const items = new RunItems(id);
  yield items.begin('openhands', {
    task: textOrUndefined(record.instruction) ?? firstRequest(listOf(recordEvents(record))),
    agentName: textOrUndefined(agentClass),
    modelId: textOrUndefined(membersOf(config).model) ?? textOrUndefined(membersOf(llm).model),
  });
  const events = new OpenHandsRun(items);
  for (const event of listOf(recordEvents(record))) yield* events.event(event);
  yield* events.end();
  const usage = events.usage ?? totalsOf(record.metrics);
  yield* items.finish(withUsage(openHandsOutcome(record, events.endedAs), usage), events.lastMs);
}

function withUsage(ended: RunEnded | undefined, usage: RunEnded['usage']): RunEnded | undefined {
  return ended === undefined || usage === undefined ? ended : { ...ended, usage };
}

function firstRequest(events: readonly unknown[]): string | undefined {
  for (const value of events) {
    const {
      action,
      args,
      llm_message: message,
      message: stated,
      source,
    } = membersOf(Array.isArray(value) ? value[0] : value);
    if (source !== 'user' || (action !== 'message' && message === undefined)) continue;
    const text =
      message === undefined
        ? (membersOf(args).content ?? stated)
        : textOfContent(sourceBlocks(membersOf(message).content));
    if (textOrUndefined(text) !== undefined) return textOrUndefined(text);
  }
  return undefined;
}

export const openhandsFolderImporter: DocumentImporter = {
  shape: 'document',
  format: 'openhands',
  recognise(document, { name }) {
    const { agent, execution_status: status, id } = membersOf(document);
    return name === 'base_state.json' && isJsonObject(agent) && typeof status === 'string' && typeof id === 'string'
      ? 0.97
      : 0;
  },
  *read(document, source) {
    const { agent, execution_status: status, id, stats } = membersOf(document);
    const history = [...documentsIn(join(dirname(source.path), 'events'))];
    const totals = Object.values(membersOf(membersOf(stats).usage_to_metrics)).flatMap((one) => totalsOf(one) ?? []);
    const usage = totals.reduce<RunEnded['usage']>(
      (sum, { cost_usd: cost = 0, tokens = 0 }) => ({
        cost_usd: (sum?.cost_usd ?? 0) + cost,
        tokens: (sum?.tokens ?? 0) + tokens,
      }),
      undefined,
    );
    for (const item of openHandsRecordItems({ history, metadata: agent }, plainText(id))) {
      const isEnd = item.type === 'record' && item.payload.kind === 'run_ended';
      yield isEnd && usage !== undefined ? { ...item, payload: { ...item.payload, usage } as RunEnded } : item;
    }
    if (history.length === 0)
      yield diagnosticItem('error', `no event in the folder events beside it; the state is ${plainText(status)}`);
  },
};

function openHandsOutcome(record: JsonMembers, endedAs: string | undefined): RunEnded | undefined {
  const error = textOrUndefined(record.error);
  const success = successOf(record);
  if (error === undefined && success === undefined && endedAs === undefined) return undefined;
  const cost = numberOrUndefined(membersOf(record.metrics).accumulated_cost);
  const labels: Record<string, Json> = {};
  if (error !== undefined) labels.error = error.slice(0, MAX_ERROR_CHARS);
  if (cost !== undefined) labels.cost_usd = cost;
  const isLimit = error !== undefined && /maximum (?:iteration|budget)/i.test(error);
  return runEnded(error === undefined ? (endedAs ?? 'ended') : isLimit ? 'limit' : 'error', {
    success,
    reward: success === undefined ? undefined : Number(success),
    labels: Object.keys(labels).length === 0 ? undefined : labels,
  });
}

function successOf(record: JsonMembers): boolean | undefined {
  const test = membersOf(record.test_result);
  const candidates = [
    record.success,
    membersOf(record.report).resolved,
    membersOf(test.report).resolved,
    test.resolved,
    record.resolved,
  ];
  return candidates.find((value) => typeof value === 'boolean');
}
