import { present } from '../../base/present.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { RunEnded, TrajectoryPayload } from '../../records/trajectory-record.ts';
import { inferIsError } from '../../calls/answer-rules.ts';
import { resultText } from '../../calls/result-text.ts';
import { SourceCallIds } from '../parts/call-ids.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource, LineImporter } from '../importer.ts';
import { sourceStem } from '../parts/source-name.ts';
import { sourceTimeMs } from '../parts/source-time.ts';

type Members = Readonly<Record<string, unknown>>;

const KINDS: ReadonlySet<unknown> = new Set(['assistant', 'user', 'tool_call', 'tool_result']);

/**
 * Reads the neutral `steps` form: one run per line,
 * `{id?, model?, task?, outcome?: {success?, reward?, labels?}, steps: [{kind, text?, tool?, args?, call_id?,
 * is_error?, result?, msg?, ts?}]}` with the kinds `assistant`, `user`, `tool_call` and `tool_result`.
 *
 * Calls and texts with the same `msg` (the message's index) are one turn; without `msg`, consecutive calls
 * without a result in between. `ts` is ISO 8601 or a number of seconds or milliseconds.
 */
export const stepsLinesImporter: LineImporter = {
  shape: 'lines',
  format: 'steps',
  recognise: (firstLines) => firstLines.reduce<number>((sum, line) => sum + likeness(line), 0) / firstLines.length,
  open: (source: ImportSource) => ({
    line: (value, lineNumber) =>
      runItems(value, { key: String(lineNumber), fallbackId: `${sourceStem(source)}-${lineNumber}`, line: lineNumber }),
    end: () => [],
  }),
};

/** Reads one run of the `steps` form from a single document. */
export const stepsImporter: DocumentImporter = {
  shape: 'document',
  format: 'steps',
  recognise: (document) => likeness(document),
  read: (document, source) => runItems(document, { key: 'run', fallbackId: sourceStem(source) }),
};

function likeness(value: unknown): number {
  if (!isJsonObject(value) || !Array.isArray(value['steps'])) return 0;
  const first: unknown = value['steps'][0];
  if (first === undefined) return typeof value['id'] === 'string' ? 0.4 : 0;
  if (!isJsonObject(first) || !KINDS.has(first['kind'])) return 0;
  return 'i' in first ? 1 : 0.9;
}

interface RunPlace {
  readonly key: string;
  readonly fallbackId: string;
  readonly line?: number;
}

/** Returns a list, because the run is in memory anyway and generators took longer than building the items. */
function runItems(value: unknown, place: RunPlace): readonly ImportItem[] {
  const { key } = place;
  const diagnostic = (severity: 'error' | 'note', message: string): ImportItem => ({
    type: 'diagnostic',
    diagnostic: { severity, message, ...present({ line: place.line }) },
  });
  if (!isJsonObject(value) || !Array.isArray(value['steps'])) {
    return [diagnostic('error', 'not a run: it has no list `steps`')];
  }
  const steps: StepEntry[] = [];
  let unusable = 0;
  for (const step of value['steps'] as readonly unknown[]) {
    if (isJsonObject(step) && KINDS.has(step['kind'])) steps.push({ members: step, atMs: sourceTimeMs(step['ts']) });
    else unusable += 1;
  }
  const items: ImportItem[] = [{ type: 'run', run: runOf(value, { ...place, startedAtMs: steps[0]?.atMs }) }];
  if (unusable > 0) items.push(diagnostic('error', `not usable: ${unusable} steps of no known kind`));

  const orphans = addSteps(items, steps, key);
  if (orphans > 0) items.push(diagnostic('error', `left out: ${orphans} tool results that answer no call`));
  const ended = endOf(value['outcome']);
  if (ended !== undefined) items.push(recordItem(key, ended, steps.at(-1)?.atMs));
  items.push({ type: 'end', runKey: key });
  return items;
}

function runOf(value: Members, place: RunPlace & { readonly startedAtMs: number | undefined }) {
  const { id, task, model } = value;
  return {
    key: place.key,
    id: typeof id === 'string' && id !== '' ? id : place.fallbackId,
    format: 'steps',
    ...(typeof task === 'string' ? { task } : {}),
    ...(typeof model === 'string' ? { modelId: model } : {}),
    ...present({ startedAtMs: place.startedAtMs }),
  } as const;
}

/**
 * Adds the records of the steps.
 *
 * @returns number of results without a call
 */
function addSteps(items: ImportItem[], steps: readonly StepEntry[], key: string): number {
  const ids = new SourceCallIds();
  let orphans = 0;
  for (const group of turnsOfSteps(steps)) {
    if (group.startsTurn) {
      for (const missing of ids.endMissing()) items.push(recordItem(key, missing, group.steps[0]?.atMs));
      items.push(recordItem(key, { kind: 'turn_started' }, group.steps[0]?.atMs));
    }
    for (const { members, atMs } of group.steps) {
      const payload = payloadOf(members, ids);
      if (payload === undefined) orphans += 1;
      else items.push(recordItem(key, payload, atMs));
    }
  }
  for (const missing of ids.endMissing()) items.push(recordItem(key, missing, steps.at(-1)?.atMs));
  return orphans;
}

/** Converts a step to a payload. Undefined for a result without a call. */
function payloadOf(step: Members, ids: SourceCallIds): TrajectoryPayload | undefined {
  switch (step['kind']) {
    case 'tool_call':
      return ids.start({
        sourceId: idOf(step),
        name: typeof step['tool'] === 'string' ? step['tool'] : 'unknown',
        args: asJson(step['args']),
      });
    case 'tool_result': {
      const result = asJson(step['result']);
      const flag = step['is_error'];
      if (typeof flag === 'boolean') return ids.end({ sourceId: idOf(step), result, isError: flag });
      return ids.end({ sourceId: idOf(step), result, isError: inferIsError(resultText(result)), inferred: true });
    }
    default: {
      const role = step['kind'] === 'user' ? 'user' : 'assistant';
      const content = typeof step['text'] === 'string' ? step['text'] : '';
      return { kind: 'message_appended', message: { role, content } };
    }
  }
}

function endOf(outcome: unknown): RunEnded | undefined {
  if (!isJsonObject(outcome)) return undefined;
  const { success, reward } = outcome;
  const labels = labelsOf(outcome['labels']);
  if (typeof success !== 'boolean' && typeof reward !== 'number' && labels === undefined) return undefined;
  return {
    kind: 'run_ended',
    outcome: 'ended',
    new_messages: [],
    ...(typeof success === 'boolean' ? { success } : {}),
    ...(typeof reward === 'number' ? { reward } : {}),
    ...present({ labels }),
  };
}

/** Reads the labels, which are `[{type, value}]` or one object. */
function labelsOf(labels: unknown): JsonObject | undefined {
  // Decoded documents contain only JSON.
  if (isJsonObject(labels)) return labels as JsonObject;
  if (!Array.isArray(labels) || labels.length === 0) return undefined;
  const pairs = (labels as readonly unknown[]).map((label, index): [string, Json] =>
    isJsonObject(label) && typeof label['type'] === 'string'
      ? [label['type'], asJson(label['value'])]
      : [String(index), asJson(label)],
  );
  return Object.fromEntries(pairs);
}

function idOf(step: Members): string | undefined {
  const id = step['call_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function asJson(value: unknown): Json {
  // Decoded documents contain only JSON.
  return (value ?? null) as Json;
}

function recordItem(runKey: string, payload: TrajectoryPayload, atMs: number | undefined): ImportItem {
  return atMs === undefined ? { type: 'record', runKey, payload } : { type: 'record', runKey, payload, atMs };
}

/** A step of the `steps` format, with its time. */
interface StepEntry {
  readonly members: Readonly<Record<string, unknown>>;
  readonly atMs: number | undefined;
}

/** The steps of one turn. */
interface StepGroup {
  /** False for steps before the first turn, and for user messages that no step follows. */
  readonly startsTurn: boolean;
  readonly steps: readonly StepEntry[];
}

/**
 * Splits a run into turns. A turn begins with the first text or call of a model's message. It ends before the next message of
 * the model or the user. Within a turn, text and calls precede the results, because the calls were issued together.
 */
function* turnsOfSteps(steps: readonly StepEntry[]): Generator<StepGroup> {
  let open: TurnDraft | undefined;
  for (const step of steps) {
    const { kind, msg } = step.members;
    if (kind === 'tool_result' && open !== undefined) {
      open.results.push(step);
      continue;
    }
    const isOfModel = kind === 'assistant' || kind === 'tool_call';
    if (isOfModel && open !== undefined && isSameMessage(open, step)) {
      open.issued.push(step);
      continue;
    }
    if (open !== undefined) yield groupOf(open);
    open = isOfModel ? { msg, issued: [step], results: [] } : undefined;
    if (!isOfModel) yield { startsTurn: false, steps: [step] };
  }
  if (open !== undefined) yield groupOf(open);
}

interface TurnDraft {
  readonly msg: unknown;
  readonly issued: StepEntry[];
  readonly results: StepEntry[];
}

function isSameMessage(open: TurnDraft, step: StepEntry): boolean {
  const { kind, msg } = step.members;
  if (msg !== undefined || open.msg !== undefined) return msg === open.msg;
  return kind === 'tool_call' && open.results.length === 0;
}

function groupOf(draft: TurnDraft): StepGroup {
  return { startsTurn: true, steps: [...draft.issued, ...draft.results] };
}
