import { textOrUndefined, type JsonMembers, listOf, membersOf } from '../../core/base/json-member.ts';
import { type Json, isJsonObject } from '../../core/base/json.ts';
import type { ImportItem } from '../import-item.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { AnswerPart, RunItems } from '../parts/run-items.ts';
import { sourceCall } from '../parts/source-call.ts';
import { asJson, sourceBlocks, sourceContent, sourceResult } from '../parts/source-content.ts';
import { sourceTimeMs } from '../parts/source-time.ts';
import { sourceUsage } from '../parts/source-usage.ts';

/** Yields the items of one ATIF trajectory. Each agent step is a turn. */
export function* atifStepItems(writer: RunItems, steps: readonly unknown[]): Generator<ImportItem> {
  for (const step of steps) {
    if (!isJsonObject(step)) {
      writer.lost.add('steps that are not objects');
      continue;
    }
    if (step.is_copied_context === true) writer.skipped.add('marks of steps copied from an earlier trajectory');
    yield* stepItems(writer, step);
  }
}

function* stepItems(writer: RunItems, step: JsonMembers): Generator<ImportItem> {
  const atMs = sourceTimeMs(step.timestamp);
  const trigger = compactionOf(step);
  if (trigger !== undefined) yield writer.record({ kind: 'compaction', trigger }, atMs);
  if (step.source === 'agent') yield* agentStepItems(writer, step, atMs);
  else if (step.source === 'user' || step.source === 'system') {
    yield writer.message(step.source, sourceContent(step.message), atMs);
    for (const result of resultsOf(step)) yield* resultItems(writer, result, atMs);
  } else writer.lost.add('steps of unknown source');
}

function* agentStepItems(writer: RunItems, step: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
  const reasoning = textOrUndefined(step.reasoning_content);
  const calls = listOf(step.tool_calls).map(callOf);
  const parts: readonly AnswerPart[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...sourceBlocks(step.message),
    ...calls.map((call) => ({ type: 'call', call }) as const),
  ];
  // Some converters put a result on the step after its call. Such results are read first, because the next turn ends open calls.
  const ownIds = new Set(calls.map((call) => call.sourceId));
  const isLate = (result: unknown): boolean => {
    const sourceId = textOrUndefined(membersOf(result).source_call_id);
    return sourceId !== undefined && !ownIds.has(sourceId) && writer.calls.isOpen(sourceId);
  };
  const ownResults: unknown[] = [];
  for (const result of resultsOf(step)) {
    if (isLate(result)) yield* resultItems(writer, result, atMs);
    else ownResults.push(result);
  }
  yield* writer.answer({ parts, modelId: textOrUndefined(step.model_name), usage: sourceUsage(step.metrics) }, atMs);
  for (const result of ownResults) yield* resultItems(writer, result, atMs);
}

function resultsOf(step: JsonMembers): readonly unknown[] {
  return listOf(membersOf(step.observation).results);
}

function* resultItems(writer: RunItems, result: unknown, atMs: number | undefined): Generator<ImportItem> {
  if (!isJsonObject(result)) {
    writer.lost.add('observations that are not objects');
    return;
  }
  const sourceId = textOrUndefined(result.source_call_id);
  if (sourceId !== undefined || writer.calls.openCount > 0) {
    yield* writer.result({ sourceId, result: contentOf(result), isError: errorFlag(result) }, atMs);
    return;
  }
  // Agents that write actions as text have observations without calls. The agent reads those observations as messages.
  const content = sourceContent(result.content);
  if (content.length > 0) yield writer.message('user', content, atMs);
  writer.skipped.add(
    content.length > 0 ? 'observations without a call, kept as user messages' : 'observations without content',
  );
}

/** Reads a call. ATIF arguments must be objects, so other arguments are in `extra.coxswain`. */
function callOf(value: unknown): CallShape {
  const coxswainFields = coxswainExtra(membersOf(value));
  return 'arguments' in coxswainFields
    ? { ...sourceCall(value), args: asJson(coxswainFields.arguments) }
    : sourceCall(value);
}

/** Returns the content. If it is empty, returns the references to subagent trajectories. */
function contentOf(result: JsonMembers): Json {
  const coxswainFields = coxswainExtra(result);
  if ('result' in coxswainFields) return asJson(coxswainFields.result);
  const { content } = result;
  return content === undefined || content === null
    ? asJson(result.subagent_trajectory_ref ?? '')
    : sourceResult(content);
}

function errorFlag(result: JsonMembers): boolean | undefined {
  const flags = [coxswainExtra(result).is_error, membersOf(result.extra).is_error];
  return flags.find((flag) => typeof flag === 'boolean');
}

/** Returns the fields that a coxswain export adds to a part of ATIF. */
function coxswainExtra({ extra }: JsonMembers): JsonMembers {
  return membersOf(membersOf(extra).coxswain);
}

function compactionOf(step: JsonMembers): string | undefined {
  const management = membersOf(membersOf(step.extra).context_management);
  if (management.type !== 'compaction') return undefined;
  return textOrUndefined(management.trigger) ?? textOrUndefined(management.boundary) ?? 'unspecified';
}
