import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonMembers,
  listOf,
  textOrUndefined,
} from '../../core/base/json.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';
import { diagnosticItem, type ImportItem, type DocumentImporter, type LineImporter } from '../importer.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import { asJson, sourceTimeMs } from '../parts/source-content.ts';
import { neutralImporters, type NeutralPlace } from './neutral-form.ts';

const KINDS: ReadonlySet<unknown> = new Set(['assistant', 'user', 'tool_call', 'tool_result']);

const importers = neutralImporters('steps', confidenceOf, runItems);

/**
 * One run per line: `{id?, model?, task?, outcome?: {success?, reward?, labels?}, steps: [{kind, text?, tool?, args?,
 * call_id?, is_error?, result?, msg?, ts?}]}` with the kinds `assistant`, `user`, `tool_call`, `tool_result`. Steps
 * with the same `msg` are one turn; without it, consecutive calls. `ts` is ISO 8601, seconds or milliseconds.
 */
export const stepsLinesImporter: LineImporter = importers.lines;

/** Reads one run of the `steps` form from a single document. */
export const stepsImporter: DocumentImporter = importers.document;

function confidenceOf(value: unknown): number {
  if (!isJsonObject(value) || !Array.isArray(value['steps'])) return 0;
  const first: unknown = value['steps'][0];
  if (first === undefined) return typeof value['id'] === 'string' ? 0.4 : 0;
  if (!isJsonObject(first) || !KINDS.has(first['kind'])) return 0;
  return 'i' in first ? 1 : 0.9;
}

function runItems(value: unknown, { key, fallbackId, line }: NeutralPlace): readonly ImportItem[] {
  if (!isJsonObject(value) || !Array.isArray(value['steps'])) {
    return [diagnosticItem('error', 'not a run: it has no list `steps`', { line })];
  }
  const run = new RunItems(key);
  const steps: StepEntry[] = [];
  for (const step of listOf(value['steps'])) {
    if (isJsonObject(step) && KINDS.has(step['kind'])) steps.push({ members: step, atMs: sourceTimeMs(step['ts']) });
    else run.lost.add('steps of no known kind', line);
  }
  const items = [
    run.begin('steps', {
      id: textOrUndefined(value['id']) ?? fallbackId,
      task: typeof value['task'] === 'string' ? value['task'] : undefined,
      modelId: typeof value['model'] === 'string' ? value['model'] : undefined,
      startedAtMs: steps[0]?.atMs,
    }),
  ];
  for (const group of turnsOfSteps(steps)) {
    if (group.startsTurn) items.push(...run.turn(group.steps[0]?.atMs));
    for (const { members, atMs } of group.steps) items.push(...stepItems(run, members, atMs));
  }
  return [...items, ...run.finish(endOf(value['outcome']), steps.at(-1)?.atMs)];
}

function stepItems(run: RunItems, step: JsonMembers, atMs: number | undefined): readonly ImportItem[] {
  const sourceId = textOrUndefined(step['call_id']);
  switch (step['kind']) {
    case 'tool_call': {
      const name = typeof step['tool'] === 'string' ? step['tool'] : 'unknown';
      return [run.record(run.calls.start({ sourceId, name, args: asJson(step['args']) }), atMs)];
    }
    case 'tool_result': {
      const isError = typeof step['is_error'] === 'boolean' ? step['is_error'] : undefined;
      return run.result({ sourceId, result: asJson(step['result']), isError }, atMs);
    }
    default: {
      const content = typeof step['text'] === 'string' ? step['text'] : '';
      const message = { role: step['kind'] === 'user' ? 'user' : 'assistant', content } as const;
      return [run.record({ kind: 'message_appended', message }, atMs)];
    }
  }
}

function endOf(outcome: unknown): RunEnded | undefined {
  if (!isJsonObject(outcome)) return undefined;
  const success = typeof outcome['success'] === 'boolean' ? outcome['success'] : undefined;
  const reward = typeof outcome['reward'] === 'number' ? outcome['reward'] : undefined;
  const labels = labelsOf(outcome['labels']);
  if (success === undefined && reward === undefined && labels === undefined) return undefined;
  return runEnded('ended', { success, reward, labels });
}

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

interface StepEntry {
  readonly members: JsonMembers;
  readonly atMs: number | undefined;
}

interface StepGroup {
  /** False for steps before the first turn, and for user messages that no step follows. */
  readonly startsTurn: boolean;
  readonly steps: readonly StepEntry[];
}

/** From the first text or call of a message to the next message of the model or the user. Texts and calls precede the results. */
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
